import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import { storeKind } from '@call-attribution/store/url';
import type pg from 'pg';
import type { Db, JobWithMetadata, PgBoss } from 'pg-boss';
import { FleetError } from '../errors.ts';
import {
  cardsOf,
  engineSchema,
  jobCard,
  makeCardTables,
  putJob,
  putWorker,
  removeWorkers,
} from './cards.ts';
import {
  blankNote,
  type Engine,
  type FleetFacts,
  type JobCard,
  joining,
  livingMs,
  type NotedTrouble,
  type SeenTicket,
  silenceMs,
  type Ticket,
  type TicketNote,
  type Turn,
  troubleAfter,
  type WorkerCard,
} from './engine.ts';

// A queue of pg-boss for each job. A ticket is a job of the queue under the key of its account. Who
// ends a turn deletes its ticket and sends it again in one transaction; a fault fails the ticket, so
// that pg-boss gives it out again after a while; one that failed for good stays until it is sent
// again. What is known of the job and its workers is in tables of ours.

const decades = 60 * 365 * 86_400;
const never = new Date('9999-01-01T00:00:00Z');
const queueOptions = {
  policy: 'exclusive',
  heartbeatSeconds: silenceMs / 1000,
  // The server may be away for long, and the death of a worker is no fault of the account.
  retryLimit: 2_000_000_000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 120,
  expireInSeconds: 86_400,
  retentionSeconds: decades,
  deleteAfterSeconds: 0,
} as const;

/** Turns in a row with trouble of an account, after which it is set aside. */
const mostTries = 5;

/** How an engine in PostgreSQL is opened. */
export interface PostgresEngineOptions {
  /** Name of the job. */
  readonly job: string;
}

/**
 * Opens the engine of a job in a PostgreSQL database. The tables of pg-boss are made when they are
 * missing.
 */
export async function openPostgresEngine(
  url: string,
  { job }: PostgresEngineOptions,
): Promise<Engine> {
  const place = placeOf(url);
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 12))
    throw new FleetError(
      'unfit_place',
      `A job for several machines needs Node.js 22.12 or later, and this is ${process.versions.node}.`,
      { hint: 'Without CALLS_FLEET one process does the whole job, on any Node.js from 20.19 on.' },
    );

  const { PgBoss: Boss } = await loaded('pg-boss', () => import('pg-boss'));
  const pool = await openPool(url);
  const boss = new Boss({
    db: sqlOf(pool),
    schema: engineSchema,
    schedule: false,
    // A worker that gives no sign of life loses its turns within these seconds and the silence.
    superviseIntervalSeconds: 3,
    monitorIntervalSeconds: 3,
    warningSlowQuerySeconds: 3600,
    openTelemetry: { enabled: false },
    reindex: false,
    monitorVacuum: false,
  });

  // What fails is tried again by whoever needs it.
  boss.on('error', () => {});
  boss.on('warning', () => {});
  const engine = new PostgresEngine(place, job, pool, boss);
  try {
    await engine.open();
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** The names of the jobs that an engine in PostgreSQL has. */
export async function jobsIn(url: string): Promise<string[]> {
  const place = placeOf(url);
  const pool = await openPool(url);
  try {
    // Also those of an earlier release, which had no table of jobs.
    const sql = `SELECT DISTINCT name FROM ${engineSchema}.job WHERE name LIKE 'fleet/%' ORDER BY name`;
    const { rows } = await pool.query<{ name: string }>(sql);
    return rows.map(({ name }) => name.slice('fleet/'.length));
  } catch (error) {
    // Nobody has worked there yet.
    if (codeOf(error) === '42P01') return [];
    throw trouble(error, place);
  } finally {
    await pool.end();
  }
}

class PostgresEngine implements Engine {
  readonly name: string;
  readonly isShared = true;
  readonly #job: string;
  readonly #queue: string;
  readonly #pool: pg.Pool;
  readonly #boss: PgBoss;
  /** Tells tickets of this job file from those of another one. */
  #digest = '';
  #isClosed = false;

  constructor(name: string, job: string, pool: pg.Pool, boss: PgBoss) {
    this.name = name;
    this.#job = job;
    this.#queue = `fleet/${job}`;
    this.#pool = pool;
    this.#boss = boss;
  }

  async open(): Promise<void> {
    await this.#run(async () => {
      await this.#boss.start();
      await this.#boss.createQueue(this.#queue, queueOptions);
    });
    await this.#locked(async (db) => {
      await makeCardTables(db);
      await this.#moveCards(db);
    });
  }

  /**
   * An earlier release kept the cards in the queue, as jobs that never become due. They are moved
   * once none of its workers is at work: those would not find them any more.
   */
  async #moveCards(db: pg.PoolClient): Promise<void> {
    const [job] = await this.#boss.findJobs<JobCard>(this.#queue, { key: 'job', db: sqlOf(db) });
    if (job === undefined) return;

    const rows = await this.#boss.findJobs<WorkerCard>(this.#queue, { ...all, db: sqlOf(db) });
    const workers = rows.filter(({ singletonKey }) => singletonKey?.startsWith('worker/'));
    const living = workers.filter(({ data: { at } }) => Date.now() - at < livingMs);
    if (living.length > 0) {
      const names = living.map(({ data: { name } }) => name).join(', ');
      throw new FleetError(
        'job_invalid',
        `Workers of an earlier release are at work on ${this.#job}: ${names}.`,
        { hint: 'Stop all of them, then start this release; it continues where they stopped.' },
      );
    }

    await putJob(db, this.#job, job.data);
    for (const { data } of workers) await putWorker(db, this.#job, data);
    await this.#remove([job, ...workers], db);
  }

  join(job: Parameters<Engine['join']>[0], worker: WorkerCard): Promise<void> {
    return this.#locked(async (db) => {
      const rows = await this.#tickets(db);
      const { workers, ...known } = await cardsOf(db, this.#job);
      const facts = { ...known, workers, tickets: rows.map(seenTicket) };
      const { card, removed, sent } = joining(facts, job, worker);
      this.#digest = card.digest;

      await this.#remove(
        rows.filter((row) => removed.includes(accountOf(row))),
        db,
      );
      await this.#send(sent, db);
      await putJob(db, this.#job, card);

      const silent = workers.filter(({ at }) => worker.at - at > 20 * livingMs);
      await removeWorkers(
        db,
        this.#job,
        silent.map(({ name }) => name),
      );
      await putWorker(db, this.#job, worker);
    });
  }

  take(most: number): Promise<Turn[]> {
    return this.#run(async () => {
      const rows = await this.#boss.fetch<TicketData>(this.#queue, {
        batchSize: most,
        includeMetadata: true,
      });
      return rows.map((row) => {
        this.#checkDigest(row.data.digest);
        return { ...ticketOf(row), id: row.id, attempt: row.retryCount };
      });
    });
  }

  keep(turns: readonly Turn[], worker: WorkerCard): Promise<ReadonlySet<string>> {
    return this.#run(async () => {
      const card = await jobCard(this.#pool, this.#job);
      this.#checkDigest(card?.digest);
      await putWorker(this.#pool, this.#job, worker);
      if (turns.length === 0) return new Set();

      const touched = await this.#boss.touch(this.#queue, turns.map(attemptOf));
      return new Set((touched as CommandAnswer).settled);
    });
  }

  /** Somebody who was stopped for long may come back to a job that was edited since. */
  #checkDigest(digest: string | undefined): void {
    if (digest === this.#digest) return;
    throw new FleetError(
      'job_invalid',
      'Other workers go by another job file by now. Start this one again.',
    );
  }

  end(turn: Turn, note: TicketNote, dueAt: number | null): Promise<boolean> {
    return this.#inTransaction(async (db) => {
      const options = { db: sqlOf(db) };
      const deleted = await this.#boss.deleteJob(this.#queue, attemptOf(turn), options);
      if ((deleted as CommandAnswer).affected === 0) return false;
      await this.#send(
        [{ account: turn.account, note }],
        db,
        dueAt === null ? never : new Date(dueAt),
      );
      return true;
    });
  }

  fail(turn: Turn, given: Parameters<Engine['fail']>[1]): ReturnType<Engine['fail']> {
    const trouble = troubleAfter(turn, given, Date.now());
    const isAside =
      trouble.kind === 'credential' || (trouble.kind === 'account' && trouble.tries >= mostTries);
    return this.#inTransaction(async (client) => {
      const db = sqlOf(client);
      const failed = await this.#boss.fail(this.#queue, attemptOf(turn), trouble, { db });
      if ((failed as CommandAnswer).affected === 0) return 'lost';
      const data = { digest: this.#digest, note: turn.note };
      await this.#boss.update(this.#queue, data, {
        id: turn.id,
        db,
        ...(isAside ? { retryLimit: 0 } : {}),
      });
      if (!isAside) return 'later';

      // Without a retry left it has failed for good.
      await this.#boss.fail(this.#queue, turn.id, trouble, { db });
      return 'aside';
    });
  }

  again(accounts: readonly string[]): Promise<void> {
    return this.#locked(async (db) => {
      const rows = (await this.#tickets(db)).filter((row) => accounts.includes(accountOf(row)));

      // One that was set aside may be older than the job file.
      this.#digest = (await jobCard(db, this.#job))?.digest ?? '';
      await this.#remove(rows, db);
      await this.#send(rows.map(ticketOf), db);
    });
  }

  gone(worker: string): Promise<void> {
    return this.#run(() => removeWorkers(this.#pool, this.#job, [worker]));
  }

  look(): Promise<FleetFacts> {
    return this.#run(async () => {
      const cards = await cardsOf(this.#pool, this.#job);
      return { ...cards, tickets: (await this.#tickets(this.#pool)).map(seenTicket) };
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#boss.stop({ graceful: false }).catch(() => {});
    await this.#pool.end().catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #tickets(db: pg.Pool | pg.PoolClient): Promise<TicketRow[]> {
    const rows = await this.#boss.findJobs<TicketData>(this.#queue, { ...all, db: sqlOf(db) });

    // Whoever starts a worker of an earlier release beside this one puts its cards here.
    return rows.filter(({ singletonKey }) => singletonKey?.startsWith(accountKey));
  }

  async #remove(rows: readonly { readonly id: string }[], db: pg.PoolClient): Promise<void> {
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await this.#boss.deleteJob(this.#queue, ids, { db: sqlOf(db) });
  }

  async #send(
    tickets: readonly Pick<Ticket, 'account' | 'note'>[],
    db: pg.PoolClient,
    startAfter = new Date(),
  ): Promise<void> {
    const jobs = tickets.map(({ account, note }) => ({
      data: { digest: this.#digest, note },
      singletonKey: `${accountKey}${account}`,
      startAfter,
    }));
    await this.#boss.insert(this.#queue, jobs, { db: sqlOf(db) });
  }

  /** One at a time changes which tickets there are. */
  #locked<T>(work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#inTransaction(async (db) => {
      await db.query('SELECT pg_advisory_xact_lock(hashtext($1))', [
        `${engineSchema} ${this.#queue}`,
      ]);
      return work(db);
    });
  }

  #inTransaction<T>(work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        broken = await client.query('ROLLBACK').then(
          () => undefined,
          () => new Error('the connection is gone'),
        );
        throw error;
      } finally {
        client.release(broken);
      }
    });
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw trouble(error, this.name);
    }
  }
}

/** All jobs of a queue. */
const all = { limit: 100_000 } as const;

const accountKey = 'account/';

const attemptOf = ({ id, attempt }: Turn) => ({ id, retryCount: attempt });

/** What commands of pg-boss answer, as its documentation has it: its types leave it open. */
interface CommandAnswer {
  readonly affected: number;
  /** Ids of the jobs that it was done to. */
  readonly settled: readonly string[];
}

interface TicketData {
  /** Of the job file whose workers may take it. */
  readonly digest: string;
  readonly note: TicketNote;
}

type TicketRow = JobWithMetadata<TicketData>;

const accountOf = ({ singletonKey }: TicketRow): string =>
  singletonKey?.slice(accountKey.length) ?? '';

/**
 * A ticket as the queue has it: whatever is in it, it says nothing about where requests go, and
 * which credentials are used.
 */
function ticketOf(row: TicketRow): Ticket {
  const output: object | null = row.output;
  const trouble = output !== null && 'code' in output ? (output as NotedTrouble) : null;
  return { account: accountOf(row), note: { ...blankNote, ...row.data.note }, trouble };
}

function seenTicket(row: TicketRow): SeenTicket {
  const dueAt = row.startAfter.getTime();
  let state: SeenTicket['state'] = dueAt >= never.getTime() ? 'done' : 'open';
  if (row.state === 'active') state = 'active';
  if (row.state === 'failed') state = 'aside';
  return { ...ticketOf(row), state, dueAt };
}

const sqlOf = (client: pg.Pool | pg.PoolClient): Db => ({
  executeSql: (text, values) => client.query(text, values),
});

/** The URL without password and settings. */
function placeOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || storeKind(text) !== 'postgres' || url.pathname.length < 2)
    throw new FleetError(
      'unfit_place',
      'The address of an engine must be postgres://user@host/database.',
    );

  const { protocol, host, pathname, username } = url;
  return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`;
}

/** Opens connections. */
async function openPool(url: string): Promise<pg.Pool> {
  const { default: library } = await loaded('pg', () => import('pg'));
  const pool = new library.Pool({
    connectionString: url,
    max: 4,
    keepAlive: true,
    application_name: 'call-attribution-fleet',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 20_000,
    query_timeout: 25_000,
    idle_in_transaction_session_timeout: 5_000,
  });

  // A connection can break at any time. Without a listener that would end the process; the next
  // statement fails instead.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function loaded<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ConfigurationError(
      'missing_package',
      {
        message: `A job for several machines needs the package ${name}.`,
        hint: 'Install both with: npm install pg pg-boss@12.38.0',
      },
      { cause },
    );
  }
}

/** An error of the engine. The server may quote values in its messages, so they are left out. */
function trouble(error: unknown, name: string): unknown {
  if (error instanceof FleetError || error instanceof ConfigurationError) return error;
  const code = codeOf(error) ?? 'no answer';
  const [, refusal] = Object.entries(refusals).find(([start]) => code.startsWith(start)) ?? [];
  if (refusal === undefined)
    return new FleetError('engine_unavailable', `The engine ${name} does not answer (${code}).`);
  const [what, hint] = refusal;
  return new FleetError('unfit_place', `The engine ${name} ${what} (${code}).`, { hint });
}

/** By SQLSTATE or the beginning of one. */
const refusals: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  '28': [
    'refuses the connection',
    'Check the user, the password (PGPASSWORD) and how the server lets users in.',
  ],
  '3D000': ['has no such database', 'Create it, or correct CALLS_FLEET.'],
  '42501': [
    `does not let this user use the schema ${engineSchema}`,
    'Grant CREATE on the database for the first time, then all rights on the schema.',
  ],
  '25006': ['is read-only', 'Use the primary server, not a standby.'],
};
