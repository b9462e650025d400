import { join } from 'node:path';
import type { Call, Clock } from '@call-attribution/core';
import type { SyncBatch, SyncOutcome, SyncState, UpsertSink } from '@call-attribution/node-stream';
import type { Removals } from '@call-attribution/node-stream/copies';
import { FileLockedError, lockFile } from '@call-attribution/node-stream/files';
import { readState } from '../ask/status.ts';
import { isMemoryLimit, WarehouseError } from '../errors.ts';
import { checkBlocks } from '../file/blocks.ts';
import { failureOf } from '../file/failure.ts';
import { makeStagingFolder, type Reach } from '../file/reach.ts';
import type { Session } from '../file/session.ts';
import { bothMerged, type Merged, merge, nothingMerged, stagedSource } from './merge.ts';
import { readRemovals } from './removed.ts';
import { checkRecords, type Staged, Staging } from './staging.ts';

/** How the database is opened to write. */
export interface WriteOptions {
  /** Milliseconds to wait for other processes at most. Default: as the warehouse does. */
  readonly wait?: number | undefined;
  /** Memory that DuckDB may use. Default: the first of `memories`. */
  readonly memory?: string | undefined;
  /** Files that are read besides those that are staged. */
  readonly reach?: Reach | undefined;
}

/** What a sink needs of its warehouse. */
export interface SinkHost {
  readonly path: string;
  /** Opens the database to write, runs `body` and closes it. */
  write<T>(body: (session: Session) => Promise<T>, options?: WriteOptions): Promise<T>;
  readonly clock: Pick<Clock, 'now'>;
  /** Calls staged before they are stored. */
  readonly batch: number;
  /** Memory to store with, and what to take when that is not enough. */
  readonly memories: readonly string[];
}

/** Calls staged at once when they come one by one. */
const pageSize = 1000;

/**
 * Milliseconds after which staged calls are stored even when they are few: soon at first, so that the first ones can be asked, and later
 * an eighth of the time that the load has taken.
 */
const storeEvery = { least: 2000, most: 60_000 };

/** The folder of staged files next to a database file. */
export const stagingFolder = (path: string): string => `${path}.staged`;

/**
 * Takes the calls of a sync into one account of a warehouse. A commit is safe on the disk when it returns; the database
 * takes what is staged in large transactions, and all of it when a run of the sync has finished.
 */
export class WarehouseSink implements UpsertSink {
  readonly #host: SinkHost;
  readonly #account: string;
  readonly #staging: Staging;
  #unlock: (() => Promise<void>) | null = null;
  #storedAt: number;
  readonly #begunAt: number;
  #merged = nothingMerged;
  #removals: Removals | null = null;

  constructor(host: SinkHost, account: string) {
    this.#host = host;
    this.#account = account;
    this.#staging = new Staging(stagingFolder(host.path), account);
    this.#begunAt = host.clock.now();
    this.#storedAt = this.#begunAt;
  }

  /** Where the sync is. Takes the account for this process; what an earlier process left staged is stored first. */
  async load(): Promise<SyncState | null> {
    await this.#lock();
    await this.flush();
    await this.#storeLeftovers();
    this.#merged = nothingMerged;
    return this.#host.write(async (session) => {
      await checkBlocks(session, this.#host.path);
      this.#removals = await readRemovals(session, this.#account);
      const [row] = await session.all('SELECT state FROM sync_state WHERE account = $1', [this.#account]);
      return row === undefined ? null : readState(String(row.state), this.#account);
    });
  }

  /** Was this call removed on purpose? Asked after `load`: then nothing of it is even staged. */
  leavesOut = (call: Call): boolean => this.#removals?.isRemoved(call) ?? false;

  /**
   * Changes what is stored of the account while nothing is staged, also no rest of what was. An account that another process fills is left
   * to it: that one would save what it remembers.
   */
  async change<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const wasFree = this.#unlock === null;
    await this.#lock();
    try {
      await this.flush();
      await this.#storeLeftovers();
      await this.#staging.clear();
      return await this.#host.write(async (session) => {
        await checkBlocks(session, this.#host.path);
        const result = await body(session);
        if (this.#removals !== null) this.#removals = await readRemovals(session, this.#account);
        return result;
      });
    } finally {
      if (wasFree) await this.close();
    }
  }

  /**
   * Stages calls and state; a call with the `sid` of another replaces it. Says what was new and what has changed among the calls
   * that were stored since the last commit, which with the last one of a run are all.
   */
  async commit({ calls, state, isLast }: SyncBatch): Promise<SyncOutcome> {
    await this.#lock();
    await this.#stage(calls, { state, isLast });
    if (isLast) await this.flush();
    const { added, changed } = this.#merged;
    this.#merged = nothingMerged;
    return { added, changed };
  }

  /** Loads calls that come from elsewhere, such as a file. Says how many were stored, and how many left out because their caller was erased. */
  async addAll(calls: AsyncIterable<Call> | Iterable<Call>): Promise<Merged> {
    await this.#lock();
    await this.#storeLeftovers();
    this.#merged = nothingMerged;
    let batch: Call[] = [];
    for await (const call of calls) {
      if (batch.push(call) < pageSize) continue;
      await this.#stage(batch);
      batch = [];
    }
    await this.#stage(batch);
    await this.flush();
    return this.#merged;
  }

  async #stage(calls: readonly Call[], saved?: Pick<SyncBatch, 'state' | 'isLast'>): Promise<void> {
    checkRecords(calls);
    const latest = [...new Map(calls.map((call) => [String(call?.sid), call])).values()];
    if (this.#staging.hasAny(latest)) await this.flush({ more: true });
    const { batch } = this.#host;
    const commit = saved === undefined ? undefined : { ...saved, at: this.#host.clock.now() };
    let rest = latest;
    do {
      // DuckDB keeps rows in groups, and later rewrites those that are not full: a batch that fills whole groups is written once.
      const most = batch - (this.#staging.staged.records % batch);
      rest = rest.slice(await this.#staging.add(rest, most, commit));
      if (rest.length > 0 || saved?.isLast !== true) await this.#storeWhenDue();
    } while (rest.length > 0);
  }

  async #storeWhenDue(): Promise<void> {
    const { isHeavy } = this.#staging;
    const { records } = this.#staging.staged;
    const { batch } = this.#host;
    const now = this.#host.clock.now();
    const pause = Math.min(Math.max((now - this.#begunAt) / 8, storeEvery.least), storeEvery.most);
    const isDue = isHeavy || records >= batch || now - this.#storedAt >= pause;
    if (isDue) await this.#tryFlush(isHeavy || records >= 4 * batch);
  }

  /** Stores all that is staged. `more`: further calls follow soon. */
  async flush({ wait, more = false }: { wait?: number | undefined; more?: boolean } = {}): Promise<void> {
    const { staged } = this.#staging;
    if (staged.records === 0 && staged.commit === undefined) {
      if (!more) await this.#staging.removeWritten();
      return;
    }
    const now = this.#host.clock.now();
    await this.#staging.finish();
    const merged = await this.#merge(staged, now, wait);
    await this.#staging.clear({ more });
    this.#storedAt = now;
    this.#merged = bothMerged(this.#merged, merged);
  }

  /** Readers come first while there is time: what is staged is safe. */
  async #tryFlush(isPressing: boolean): Promise<void> {
    try {
      await this.flush({ wait: isPressing ? undefined : 0, more: true });
    } catch (error) {
      if (isPressing || !(error instanceof WarehouseError) || error.code !== 'in_use') throw error;
    }
  }

  async #storeLeftovers(): Promise<void> {
    const staged = await this.#staging.leftBehind();
    if (staged === null) return;
    try {
      await this.#merge(staged, this.#host.clock.now());
    } catch (error) {
      throw error instanceof WarehouseError && error.code === 'database' ? damaged(staged, error) : error;
    }
    await this.#staging.clear();
  }

  async #merge(staged: Staged, now: number, wait?: number): Promise<Merged> {
    const store = async (session: Session) => {
      await checkBlocks(session, this.#host.path);
      return merge(session, this.#account, stagedSource(staged), staged.commit, now);
    };
    let cause: unknown;
    // Hundreds of megabytes of long strings, which are rare, have to be stored all the same.
    for (const memory of this.#host.memories) {
      try {
        return await this.#host.write(store, { wait, memory });
      } catch (error) {
        if (!isMemoryLimit(error)) throw error;
        cause = error;
      }
    }
    throw new WarehouseError(
      'memory_limit',
      `Storing calls in ${this.#host.path} needs more memory than the warehouse may use. They are kept in ${stagingFolder(this.#host.path)}, and stored when the warehouse is opened with more \`memory\`.`,
      { cause },
    );
  }

  async #lock(): Promise<void> {
    if (this.#unlock !== null) return;
    const folder = stagingFolder(this.#host.path);
    try {
      await makeStagingFolder(folder);
      this.#unlock = await lockFile(join(folder, `${this.#account}.lock`));
    } catch (error) {
      if (error instanceof FileLockedError) throw accountInUse(this.#account, error);
      throw failureOf(error, folder);
    }
  }

  /** Stores what is staged and gives the account free for other processes. */
  async close(): Promise<void> {
    if (this.#unlock === null) return;
    try {
      await this.flush();
    } finally {
      await this.#staging.close();
      await this.#unlock();
      this.#unlock = null;
    }
  }
}

/** What to do about staged calls that DuckDB refuses. Where a sync is goes into the database with them, so they are read again. */
function damaged({ file }: Staged, { message, code }: WarehouseError): WarehouseError {
  const journal = file.replace(/lines$/, 'journal');
  return new WarehouseError(
    code,
    `The calls that an earlier process left in ${file} cannot be stored. ${message}`,
    {
      hint: `Move ${file} and ${journal} elsewhere and run the same command again: a sync reads these calls again.`,
    },
  );
}

function accountInUse(account: string, { owner, path }: FileLockedError): WarehouseError {
  return new WarehouseError(
    'in_use',
    owner === null
      ? `Another process begins to fill the account ${account} at the same moment. Try again.`
      : `Process ${owner} fills the account ${account}. Wait until it ends; remove ${path} if that process is something else.`,
  );
}
