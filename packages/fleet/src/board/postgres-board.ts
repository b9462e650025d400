import { setTimeout } from 'node:timers/promises';
import { ConfigurationError } from '@call-attribution/core/errors';
import type pg from 'pg';
import { FleetError } from '../errors.ts';
import type { Board, BoardEntry } from './board.ts';
import { BoardClock } from './board-clock.ts';
import type { BoardOptions, BoardTls } from './board-options.ts';
import { LiveCopy } from './live-copy.ts';
import { type BoardServer, type Stored, servedBoard, type WriteReply } from './served-board.ts';

const pollMs = 500;
/** After so many polls everything is read. */
const pollsToAll = 60;
/** Revisions come from a sequence, and transactions may commit in another order. */
const overlap = 200;

/** Opens the board of a job in a table of a PostgreSQL database, which is created when there is none. */
export async function postgresBoard(url: string, job: string, options: BoardOptions): Promise<Board> {
  const place = placeOf(url);
  const library = await loadPg();
  const [copy, clock] = [new LiveCopy(), new BoardClock()];
  const server = new PostgresServer(library, url, place, job, options, copy, clock);
  await server.open();
  return servedBoard(place, server, copy, clock);
}

/** The URL without user, password and settings. */
function placeOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.pathname.length < 2)
    throw new FleetError(
      'board_unfit',
      'The URL of a board in PostgreSQL must be postgres://user@host/database.',
    );
  const { protocol, host, pathname, username } = url;
  return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`;
}

async function loadPg(): Promise<typeof pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ConfigurationError(
      'missing_package',
      { message: 'A board in PostgreSQL needs the package pg.', hint: 'Install it with: npm install pg' },
      { cause },
    );
  }
}

interface Row {
  readonly key: string;
  readonly value: string;
  readonly revision: string;
  readonly at: string;
  readonly nonce: string;
}

const columns = 'key, value, revision, (extract(epoch FROM at) * 1000)::bigint AS at, nonce';
const created = `
CREATE SEQUENCE IF NOT EXISTS fleet_board_revision;
CREATE TABLE IF NOT EXISTS fleet_board (
  bucket text COLLATE "C", key text COLLATE "C", value text NOT NULL, revision bigint NOT NULL,
  at timestamptz NOT NULL, nonce text NOT NULL, PRIMARY KEY (bucket, key));
CREATE INDEX IF NOT EXISTS fleet_board_changes ON fleet_board (bucket, revision);`;

class PostgresServer implements BoardServer {
  readonly #pool: pg.Pool;
  readonly #errors: typeof pg.DatabaseError;
  readonly #name: string;
  readonly #job: string;
  readonly #options: BoardOptions;
  readonly #copy: LiveCopy;
  readonly #clock: BoardClock;
  readonly #ending = new AbortController();
  #polling: Promise<void> | undefined;

  constructor(
    library: typeof pg,
    url: string,
    name: string,
    job: string,
    options: BoardOptions,
    copy: LiveCopy,
    clock: BoardClock,
  ) {
    this.#name = name;
    this.#job = job;
    this.#options = options;
    this.#copy = copy;
    this.#clock = clock;
    this.#errors = library.DatabaseError;
    this.#pool = new library.Pool({
      connectionString: url,
      max: 2,
      connectionTimeoutMillis: 5_000,
      statement_timeout: 4_000,
      query_timeout: 5_000,
      lock_timeout: 2_000,
      idle_in_transaction_session_timeout: 5_000,
      keepAlive: true,
      application_name: 'call-attribution-fleet',
      ...(options.tls === undefined ? {} : { ssl: certificates(options.tls) }),
    });
    // A connection can break at any time. Without a listener that would end the process; the next statement fails instead.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Resolves once the live copy is whole. */
  async open(): Promise<void> {
    const { signal, onWaiting } = this.#options;
    let why = 'it does not answer';
    const waiting = globalThis.setTimeout(() => onWaiting?.(this.#name, why), 2_000);
    try {
      for (;;) {
        signal?.throwIfAborted();
        try {
          await this.#create();
          await this.#readAll();
          break;
        } catch (error) {
          const refusal = this.#refusal(error);
          if (refusal !== null) throw refusal;
          if (error instanceof this.#errors) why = `it answers ${error.code}`;
        }
        await setTimeout(pollMs, undefined, signal && { signal }).catch(() => undefined);
      }
      this.#polling = this.#poll();
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(waiting);
    }
  }

  async put(key: string, text: string, revision: number, nonce: string): Promise<WriteReply> {
    const sql =
      revision === 0
        ? `INSERT INTO fleet_board (bucket, key, value, revision, at, nonce)
           VALUES ($1, $2, $3, nextval('fleet_board_revision'), clock_timestamp(), $4)
           ON CONFLICT (bucket, key) DO NOTHING RETURNING ${columns}`
        : `UPDATE fleet_board SET value = $3, revision = nextval('fleet_board_revision'), at = clock_timestamp(), nonce = $4
           WHERE bucket = $1 AND key = $2 AND revision = $5 RETURNING ${columns}`;
    const values = [this.#job, key, text, nonce, ...(revision === 0 ? [] : [revision])];
    try {
      const [row] = await this.#query(sql, values);
      if (row === undefined) return { kind: 'lost' };
      const { at, ...entry } = entryOf(row);
      this.#clock.sample(at);
      return { kind: 'won', revision: entry.revision, at };
    } catch (cause) {
      const error = this.#refusal(cause);
      return error === null ? { kind: 'unknown', cause: codeOnly(cause) } : { kind: 'refused', error };
    }
  }

  async read(key: string): Promise<Stored | null> {
    try {
      const [row] = await this.#query(`SELECT ${columns} FROM fleet_board WHERE bucket = $1 AND key = $2`, [
        this.#job,
        key,
      ]);
      if (row === undefined) return { revision: 0, entry: null, nonce: null };
      const entry = entryOf(row);
      return { revision: entry.revision, entry, nonce: row.nonce };
    } catch {
      return null;
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#polling;
    await this.#pool.end();
  }

  /** Creates the table. Two who do that at once may collide. */
  async #create(): Promise<void> {
    const [found] = (await this.#pool.query("SELECT to_regclass('fleet_board_changes') AS name")).rows;
    if (found.name !== null) return;
    await this.#pool.query(created).catch(async (error) => {
      if (error.code !== '23505' && error.code !== '42P07') throw error;
    });
  }

  async #poll(): Promise<void> {
    const { signal } = this.#ending;
    for (let polls = 1; ; polls += 1) {
      await setTimeout(pollMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (polls % pollsToAll === 0) await this.#readAll();
        else await this.#readChanges();
      } catch {
        // The table may be gone, with all of the database.
        await this.#create().catch(() => undefined);
        polls = pollsToAll - 1;
      }
    }
  }

  async #readChanges(): Promise<void> {
    const rows = await this.#query(`SELECT ${columns} FROM fleet_board WHERE bucket = $1 AND revision > $2`, [
      this.#job,
      this.#copy.highest() - overlap,
    ]);
    for (const row of rows) this.#copy.take(entryOf(row));
  }

  /** Reads everything; what was known before and is no longer there, or older there, was lost with data of the server. */
  async #readAll(): Promise<void> {
    const before = [...this.#copy.entries('')];
    const rows = await this.#query(`SELECT ${columns} FROM fleet_board WHERE bucket = $1`, [this.#job]);
    const found = new Map(rows.map((row) => [row.key, entryOf(row)]));
    for (const { key, revision } of before) {
      if (this.#copy.get(key)?.revision !== revision) continue;
      const entry = found.get(key);
      if (entry === undefined) this.#copy.forget(key);
      else if (entry.revision < revision) this.#copy.correct(entry);
    }
    for (const entry of found.values()) this.#copy.take(entry);
    const [{ now }] = (
      await this.#pool.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now')
    ).rows;
    this.#clock.sample(Number(now));
  }

  async #query(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#pool.query<Row>(sql, [...values])).rows;
  }

  /** The error of a server or table that cannot be used; null for trouble that may pass. */
  #refusal(error: unknown): FleetError | null {
    if (!(error instanceof this.#errors)) return null;
    const code = error.code ?? '';
    const refusal = Object.entries(refusals).find(([start]) => code.startsWith(start))?.[1];
    if (refusal === undefined) return null;
    const [what, hint] = refusal;
    return new FleetError('board_unfit', `${this.#name} ${what} (${code}).`, {
      hint,
      cause: codeOnly(error),
    });
  }
}

/** By SQLSTATE or the beginning of one. */
const refusals: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  '28': [
    'refuses the connection',
    'Check the user, the password (PGPASSWORD) and how the server lets users in.',
  ],
  '3D000': ['has no such database', 'Create it, or correct the URL of the board.'],
  '42501': [
    'does not let this user use the table fleet_board',
    'Grant CREATE on the schema for the first time, then all rights on fleet_board and fleet_board_revision.',
  ],
  '3F000': ['has no schema for the table fleet_board', 'Set the search_path of the user.'],
  '42703': ['has a table fleet_board of something else', 'Use another database or schema for the board.'],
  '25006': ['is read-only', 'Use the primary server, not a standby.'],
};

/** The server may quote values in its messages. */
const codeOnly = (cause: unknown): Error => {
  const { code, name } = cause as { code?: string; name?: string };
  return Object.assign(new Error(code ?? name ?? 'no answer'), { code });
};

const entryOf = ({ key, value, revision, at }: Row): BoardEntry => ({
  key,
  value: JSON.parse(value),
  revision: Number(revision),
  at: Number(at),
});

const certificates = ({ ca, cert, key }: BoardTls) => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined ? {} : { cert }),
  ...(key === undefined ? {} : { key }),
});
