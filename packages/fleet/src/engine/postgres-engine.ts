import { createHash } from 'node:crypto';
import { codeOf } from '@call-attribution/core/errors';
import type pg from 'pg';
import { type Engine, type SeenTicket, silenceMs, type Turn } from './engine.ts';
import type { BossJob, PgBoss, Sql } from './pg-boss.ts';
import { engineSchema, loadBoss, openPool, placeOf, trouble } from './postgres.ts';
import { type JobCard, readCard, readTicket, readWorker, type Ticket, type WorkerCard } from './ticket.ts';

// The one file that calls pg-boss. A ticket is a job of its queue, and the queue lets a key have one that is not ended; a job and
// a worker are jobs of a second queue that never become due, which makes them documents.

const documents = 'fleet';
const decades = 60 * 365 * 86_400;
const never = new Date('9999-01-01T00:00:00Z');
/** Documents of workers are removed after so many seconds without a sign of life. */
const forgotten = 600;

/** How an engine in PostgreSQL is opened. */
export interface PostgresEngineOptions {
  /** Name of the job. */
  readonly job: string;
}

/** Opens the engine of a job in a PostgreSQL database. The tables of pg-boss are made when they are missing. */
export async function openPostgresEngine(url: string, { job }: PostgresEngineOptions): Promise<Engine> {
  const name = placeOf(url);
  const { PgBoss: Boss } = await loadBoss();
  const pool = await openPool(url);
  const db = sqlOf(pool);
  const boss = new Boss({
    db,
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
  const engine = new PostgresEngine(name, job, pool, boss);
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
  const pool = await openPool(url);
  try {
    const sql = `SELECT singleton_key AS key FROM ${engineSchema}.job WHERE name = $1 AND singleton_key LIKE 'job/%'`;
    const { rows } = await pool.query<{ key: string }>(sql, [documents]);
    return rows.map(({ key }) => key.slice('job/'.length)).sort();
  } catch (error) {
    // Nobody has worked there yet.
    if (codeOf(error) === '42P01') return [];
    throw trouble(error, placeOf(url));
  } finally {
    await pool.end();
  }
}

const queueOptions = {
  policy: 'exclusive',
  heartbeatSeconds: silenceMs / 1000,
  // A death of a worker is no fault of the ticket.
  retryLimit: 2_000_000_000,
  retryDelay: 0,
  expireInSeconds: 86_400,
  retentionSeconds: decades,
  deleteAfterSeconds: 60,
} as const;

class PostgresEngine implements Engine {
  readonly name: string;
  readonly isShared = true;
  readonly #job: string;
  readonly #queue: string;
  readonly #pool: pg.Pool;
  readonly #boss: PgBoss;
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
      await this.#boss.createQueue(documents, { policy: 'exclusive', retentionSeconds: decades });
      await this.#boss.createQueue(this.#queue, queueOptions);
    });
  }

  put(tickets: readonly Ticket[]): Promise<void> {
    return this.#run(async () => {
      for (let at = 0; at < tickets.length; at += 500) {
        const some = tickets.slice(at, at + 500);
        await this.#boss.insert(
          this.#queue,
          some.map((ticket) => ({ data: ticket, ...placed(ticket) })),
        );
      }
    });
  }

  take(most: number): Promise<Turn[]> {
    return this.#run(async () => {
      const jobs = await this.#boss.fetch(this.#queue, { batchSize: most, includeMetadata: true });
      const turns: Turn[] = [];
      for (const job of jobs) {
        const ticket = ticketOf(job);
        if (ticket !== null) turns.push({ ...ticket, id: job.id, attempt: job.retryCount });
        // Not a ticket: it would come again and again.
        else await this.#boss.deleteJob(this.#queue, job.id);
      }
      return turns;
    });
  }

  keep(turns: readonly Turn[]) {
    return this.#run(async () => {
      const { settled = [] } =
        turns.length === 0 ? {} : await this.#boss.touch(this.#queue, turns.map(attemptOf));
      return new Set(settled);
    });
  }

  end(turn: Turn, next: Ticket | null): Promise<boolean> {
    return this.#inTransaction(async (db) => {
      const { affected } = await this.#boss.deleteJob(this.#queue, attemptOf(turn), { db });
      if (affected === 0) return false;
      if (next !== null) await this.#boss.send(this.#queue, next, { ...placed(next), db });
      return true;
    });
  }

  edit(key: string, change: (ticket: Ticket) => Ticket | null): Promise<boolean> {
    return this.#inTransaction(async (db) => {
      const sql = `SELECT id, data FROM ${engineSchema}.job
        WHERE name = $1 AND singleton_key = $2 AND state < 'active' FOR UPDATE`;
      const [row] = (await db.executeSql(sql, [this.#queue, key])).rows;
      if (row === undefined) return false;
      const ticket = readTicket(row.data);
      const next = ticket === null ? null : change(ticket);
      if (next === null) await this.#boss.deleteJob(this.#queue, String(row.id), { db });
      else
        await this.#boss.update(this.#queue, next, {
          id: String(row.id),
          startAfter: placed(next).startAfter,
          db,
        });
      return true;
    });
  }

  card(): Promise<JobCard | null> {
    return this.#run(() => this.#cardIn(sqlOf(this.#pool)));
  }

  async #cardIn(db: Sql): Promise<JobCard | null> {
    const [document] = await this.#boss.findJobs(documents, { key: `job/${this.#job}`, db });
    return document === undefined ? null : readCard(document.data);
  }

  setCard(change: (card: JobCard | null) => JobCard | null): Promise<JobCard | null> {
    return this.#inTransaction(async (db) => {
      await db.executeSql('SELECT pg_advisory_xact_lock($1)', [lockNumber(`card ${this.#job}`)]);
      const before = await this.#cardIn(db);
      const card = change(before);
      if (card !== null)
        await this.#boss.upsert(documents, card, {
          singletonKey: `job/${this.#job}`,
          startAfter: never,
          db,
        });
      return card ?? before;
    });
  }

  beat(worker: WorkerCard): Promise<void> {
    return this.#run(async () => {
      await this.#boss.upsert(documents, worker, {
        singletonKey: this.#workerKey(worker.name),
        startAfter: never,
      });
    });
  }

  gone(worker: string): Promise<void> {
    return this.#run(async () => {
      const sql = `DELETE FROM ${engineSchema}.job WHERE name = $1 AND (singleton_key = $2
        OR (singleton_key LIKE 'worker/%' AND (data->>'at')::float8 < extract(epoch FROM now()) * 1000 - ${forgotten * 1000}))`;
      await this.#pool.query(sql, [documents, this.#workerKey(worker)]);
    });
  }

  look() {
    return this.#run(async () => {
      const sql = `SELECT name, state::text AS state, data, singleton_key AS key FROM ${engineSchema}.job
        WHERE state <= 'active' AND (name = $1 OR (name = $2 AND (singleton_key = $3 OR singleton_key LIKE $4)))`;
      const prefix = `${this.#workerKey('').replaceAll('_', '\\_')}%`;
      const values = [this.#queue, documents, `job/${this.#job}`, prefix];
      const { rows } = await this.#pool.query<{ name: string; state: string; data: unknown; key: string }>(
        sql,
        values,
      );
      const tickets = rows.flatMap(({ name, state, data }): SeenTicket[] => {
        const ticket = name === this.#queue ? readTicket(data) : null;
        return ticket === null ? [] : [{ ...ticket, isActive: state === 'active' }];
      });
      const others = rows.filter(({ name }) => name === documents);
      const card = others.find(({ key }) => key === `job/${this.#job}`);
      const workers = others.flatMap(({ key, data }) =>
        key.startsWith('worker/') ? (readWorker(data) ?? []) : [],
      );
      return { card: card === undefined ? null : readCard(card.data), tickets, workers };
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

  #workerKey(worker: string): string {
    return `worker/${this.#job}/${worker.replace(/[^\w.-]/g, '-')}`;
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw trouble(error, this.name);
    }
  }

  #inTransaction<T>(work: (db: Sql) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      const client = await this.#pool.connect();
      const db = sqlOf(client);
      let broken: Error | undefined;
      try {
        await client.query('BEGIN');
        const result = await work(db);
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
}

const sqlOf = (client: pg.Pool | pg.PoolClient): Sql => ({
  executeSql: (text, values) => client.query(text, values && [...values]),
});

const attemptOf = ({ id, attempt }: Turn) => ({ id, retryCount: attempt });

/** Where a ticket waits. */
const placed = ({ key, dueAt }: Ticket) => ({
  singletonKey: key,
  startAfter: dueAt === null ? never : new Date(dueAt),
});

/** A ticket as the queue has it: its key is that of the queue, whatever its contents say. */
function ticketOf({ data, singletonKey }: BossJob): Ticket | null {
  const ticket = readTicket(data);
  return ticket === null || ticket.key !== singletonKey ? null : ticket;
}

const lockNumber = (text: string): string =>
  createHash('sha256').update(`call-attribution ${text}`).digest().readBigInt64BE(0).toString();
