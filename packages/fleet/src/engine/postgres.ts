import { ConfigurationError, codeOf } from '@call-attribution/core/errors';
import { storeKind } from '@call-attribution/store/url';
import type pg from 'pg';
import { FleetError } from '../errors.ts';
import {
  blankNote,
  type Engine,
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

// A queue of pg-boss for each job. A ticket is a job of the queue under the key of its account; the
// card of the job and those of its workers are jobs of it that never become due. Who ends a turn
// deletes its ticket and sends it again in one transaction; a fault fails the ticket, so that
// pg-boss gives it out again after a while; one that failed for good stays until it is sent again.

/** The schema of PostgreSQL in which pg-boss keeps its tables. */
export const engineSchema = 'calls_fleet';

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

  // A name that is not written here is not looked for when this package is built: not everybody has
  // it.
  const library: string = 'pg-boss';
  const { PgBoss: Boss }: BossLibrary = await loaded(library, () => import(library));
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
  const engine = new PostgresEngine(place, `fleet/${job}`, pool, boss);
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
    const sql = `SELECT name FROM ${engineSchema}.job WHERE name LIKE 'fleet/%' AND singleton_key = 'job' ORDER BY name`;
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
  readonly #queue: string;
  readonly #pool: pg.Pool;
  readonly #boss: PgBoss;
  /** Tells tickets of this job file from those of another one. */
  #digest = '';
  #isClosed = false;

  constructor(name: string, queue: string, pool: pg.Pool, boss: PgBoss) {
    this.name = name;
    this.#queue = queue;
    this.#pool = pool;
    this.#boss = boss;
  }

  async open(): Promise<void> {
    await this.#run(async () => {
      await this.#boss.start();
      await this.#boss.createQueue(this.#queue, queueOptions);
    });
  }

  join(job: Parameters<Engine['join']>[0], worker: WorkerCard): Promise<void> {
    return this.#locked(async (db) => {
      const rows = await this.#rows(db);
      const { card, removed, sent } = joining(factsOf(rows), job, worker);
      this.#digest = card.digest;

      const isOver = ({ singletonKey: key, data }: BossJob): boolean =>
        (key.startsWith('account/') && removed.includes(key.slice('account/'.length))) ||
        (key.startsWith('worker/') && worker.at - (data as WorkerCard).at > 20 * livingMs);

      await this.#remove(rows.filter(isOver), db);
      await this.#send(sent, db);
      await this.#document('job', card, db);
      await this.#document(`worker/${worker.name}`, worker, db);
    });
  }

  take(most: number): Promise<Turn[]> {
    return this.#run(async () => {
      const jobs = await this.#boss.fetch(this.#queue, { batchSize: most, includeMetadata: true });
      return jobs.map((job) => {
        this.#checkJob(job);
        return { ...ticketOf(job), id: job.id, attempt: job.retryCount };
      });
    });
  }

  keep(turns: readonly Turn[], worker: WorkerCard): Promise<ReadonlySet<string>> {
    return this.#run(async () => {
      const [card] = await this.#boss.findJobs(this.#queue, { key: 'job' });
      this.#checkJob(card);
      await this.#document(`worker/${worker.name}`, worker);
      if (turns.length === 0) return new Set();
      return new Set((await this.#boss.touch(this.#queue, turns.map(attemptOf))).settled);
    });
  }

  /** Somebody who was stopped for long may come back to a job that was edited since. */
  #checkJob(of: BossJob | undefined): void {
    if ((of?.data as TicketData | JobCard | undefined)?.digest === this.#digest) return;
    throw new FleetError(
      'job_invalid',
      'Other workers go by another job file by now. Start this one again.',
    );
  }

  end(turn: Turn, note: TicketNote, dueAt: number | null): Promise<boolean> {
    return this.#inTransaction(async (db) => {
      const { affected } = await this.#boss.deleteJob(this.#queue, attemptOf(turn), { db });
      if (affected === 0) return false;
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
    return this.#inTransaction(async (db) => {
      const { affected } = await this.#boss.fail(this.#queue, attemptOf(turn), trouble, { db });
      if (affected === 0) return 'lost';
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
      const rows = await this.#rows(db);
      const { card, tickets } = factsOf(rows);

      // One that was set aside may be older than the job file.
      this.#digest = card?.digest ?? '';
      const keys = accounts.map((account) => `account/${account}`);
      await this.#remove(
        rows.filter(({ singletonKey }) => keys.includes(singletonKey)),
        db,
      );
      await this.#send(
        tickets.filter(({ account }) => accounts.includes(account)),
        db,
      );
    });
  }

  gone(worker: string): Promise<void> {
    return this.#run(async () => {
      const key = `worker/${worker}`;
      await this.#remove(await this.#boss.findJobs(this.#queue, { key }));
    });
  }

  look() {
    return this.#run(async () => factsOf(await this.#rows()));
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

  #rows(db = sqlOf(this.#pool)): Promise<BossJob[]> {
    return this.#boss.findJobs(this.#queue, { limit: 100_000, db });
  }

  async #remove(rows: readonly BossJob[], db = sqlOf(this.#pool)): Promise<void> {
    if (rows.length > 0)
      await this.#boss.deleteJob(
        this.#queue,
        rows.map(({ id }) => id),
        { db },
      );
  }

  async #send(
    tickets: readonly Pick<Ticket, 'account' | 'note'>[],
    db: Sql,
    startAfter = new Date(),
  ): Promise<void> {
    const jobs = tickets.map(({ account, note }) => ({
      data: { digest: this.#digest, note },
      singletonKey: `account/${account}`,
      startAfter,
    }));
    await this.#boss.insert(this.#queue, jobs, { db });
  }

  async #document(singletonKey: string, data: object, db = sqlOf(this.#pool)): Promise<void> {
    await this.#boss.upsert(this.#queue, data, { singletonKey, startAfter: never, db });
  }

  /** One at a time changes which tickets there are. */
  #locked<T>(work: (db: Sql) => Promise<T>): Promise<T> {
    return this.#inTransaction(async (db) => {
      await db.executeSql('SELECT pg_advisory_xact_lock(hashtext($1))', [
        `${engineSchema} ${this.#queue}`,
      ]);
      return work(db);
    });
  }

  #inTransaction<T>(work: (db: Sql) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('BEGIN');
        const result = await work(sqlOf(client));
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

const attemptOf = ({ id, attempt }: Turn) => ({ id, retryCount: attempt });

interface TicketData {
  /** Of the job file whose workers may take it. */
  readonly digest: string;
  readonly note: TicketNote;
}

/**
 * A ticket as the queue has it: whatever is in it, it says nothing about where requests go, and
 * which credentials are used.
 */
function ticketOf({ singletonKey, data, output }: BossJob): Ticket {
  const trouble = output !== null && 'code' in output ? (output as NotedTrouble) : null;
  return {
    account: singletonKey.slice('account/'.length),
    note: { ...blankNote, ...(data as TicketData).note },
    trouble,
  };
}

function factsOf(rows: readonly BossJob[]) {
  const [card] = rows.filter(({ singletonKey: key }) => key === 'job');
  const workers = rows.filter(({ singletonKey: key }) => key.startsWith('worker/'));
  const tickets = rows.filter(({ singletonKey: key }) => key.startsWith('account/'));
  return {
    card: card === undefined ? null : (card.data as JobCard),
    workers: workers.map(({ data }) => data as WorkerCard),
    tickets: tickets.map((row): SeenTicket => {
      let state: SeenTicket['state'] =
        row.startAfter.getTime() >= never.getTime() ? 'done' : 'open';
      if (row.state === 'active') state = 'active';
      if (row.state === 'failed') state = 'aside';
      return { ...ticketOf(row), state, dueAt: row.startAfter.getTime() };
    }),
  };
}

// What is used of pg-boss 12.38, as its documentation has it. The package is not installed here: it
// asks for Node.js 22.12, and the oldest Node.js of this repository would print a warning with each
// install.

/** Runs statements. */
interface Sql {
  executeSql(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ rows: Record<string, unknown>[] }>;
}

const sqlOf = (client: pg.Pool | pg.PoolClient): Sql => ({
  executeSql: (text, values) => client.query(text, values && [...values]),
});

interface BossJob {
  readonly id: string;
  readonly data: object;
  readonly output: object | null;
  readonly state: string;
  readonly singletonKey: string;
  readonly startAfter: Date;
  readonly retryCount: number;
}

/** A job, or an attempt at it as it was fetched: nothing is done to a later attempt. */
type Which = string | readonly string[] | Pick<BossJob, 'id' | 'retryCount'>;

interface PgBoss {
  on(event: 'error' | 'warning', listener: () => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: readonly object[], options: object): Promise<unknown>;
  update(name: string, data: object, options: object): Promise<unknown>;
  upsert(name: string, data: object, options: object): Promise<unknown>;
  fetch(name: string, options: object): Promise<BossJob[]>;
  touch(name: string, jobs: readonly Which[]): Promise<{ readonly settled: readonly string[] }>;
  deleteJob(name: string, which: Which, options: object): Promise<{ readonly affected: number }>;
  fail(
    name: string,
    which: Which,
    output: object,
    options: object,
  ): Promise<{ readonly affected: number }>;
  findJobs(name: string, options: object): Promise<BossJob[]>;
}

interface BossLibrary {
  readonly PgBoss: new (options: object) => PgBoss;
}

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
