import type pg from 'pg';
import type { JobCard, WorkerCard } from './engine.ts';

// What is known of jobs and workers, beside the accounts that pg-boss hands out: two tables in its
// schema, whose rows are changed in one transaction with the tickets where that matters.

/** The schema of PostgreSQL with the tables of pg-boss and these. */
export const engineSchema = 'calls_fleet';

/** Runs statements: a connection, or any of a pool. */
type Connection = Pick<pg.ClientBase, 'query'>;

/** What is known of a job, and of those who work on it. */
export interface Cards {
  /** Null: nobody has worked on it yet. */
  readonly card: JobCard | null;
  readonly workers: readonly WorkerCard[];
}

/** Makes the tables when they are missing. Within a transaction. */
export async function makeCardTables(db: Connection): Promise<void> {
  const { rows } = await db.query<{ isThere: boolean }>(
    `SELECT to_regclass('${engineSchema}.worker_card') IS NOT NULL AS "isThere"`,
  );
  if (rows[0]?.isThere) return;

  // Of two transactions that make a table at once one would fail.
  await db.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`${engineSchema} cards`]);
  await db.query(`CREATE TABLE IF NOT EXISTS ${engineSchema}.job_card (
    job text PRIMARY KEY,
    card jsonb NOT NULL
  )`);
  await db.query(`CREATE TABLE IF NOT EXISTS ${engineSchema}.worker_card (
    job text NOT NULL,
    worker text NOT NULL,
    card jsonb NOT NULL,
    PRIMARY KEY (job, worker)
  )`);
}

/** The card of a job; null when there is no such job. */
export async function jobCard(db: Connection, job: string): Promise<JobCard | null> {
  const { rows } = await db.query<{ card: JobCard }>(
    `SELECT card FROM ${engineSchema}.job_card WHERE job = $1`,
    [job],
  );
  return rows[0]?.card ?? null;
}

/** The cards of a job and of its workers. */
export async function cardsOf(db: Connection, job: string): Promise<Cards> {
  const { rows } = await db.query<{ card: WorkerCard }>(
    `SELECT card FROM ${engineSchema}.worker_card WHERE job = $1 ORDER BY worker`,
    [job],
  );
  return { card: await jobCard(db, job), workers: rows.map(({ card }) => card) };
}

/** Writes the card of a job, or writes it again. */
export async function putJob(db: Connection, job: string, card: JobCard): Promise<void> {
  await db.query(
    `INSERT INTO ${engineSchema}.job_card (job, card) VALUES ($1, $2)
      ON CONFLICT (job) DO UPDATE SET card = excluded.card`,
    [job, card],
  );
}

/** Writes the card of a worker, or writes it again. */
export async function putWorker(db: Connection, job: string, card: WorkerCard): Promise<void> {
  await db.query(
    `INSERT INTO ${engineSchema}.worker_card (job, worker, card) VALUES ($1, $2, $3)
      ON CONFLICT (job, worker) DO UPDATE SET card = excluded.card`,
    [job, card.name, card],
  );
}

/** Removes the cards of workers. */
export async function removeWorkers(
  db: Connection,
  job: string,
  workers: readonly string[],
): Promise<void> {
  await db.query(`DELETE FROM ${engineSchema}.worker_card WHERE job = $1 AND worker = ANY ($2)`, [
    job,
    workers,
  ]);
}
