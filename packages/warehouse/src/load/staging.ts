import { type FileHandle, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Call, isTooDeep } from '@call-attribution/core';
import type { SyncState } from '@call-attribution/node-stream';
import { createFile, openOwnFile } from '@call-attribution/node-stream/files';
import { isWellFormed } from '@call-attribution/questions';
import { WarehouseError } from '../errors.ts';
import { failureOf } from '../file/failure.ts';
import { RowWriter } from '../tables/row-writer.ts';

/** What lies in the staged files of an account. */
export interface Staged {
  /** The file of lines, and how much of it counts. */
  readonly file: string;
  /** The file of short lines that decide about the calls; null where it is not there. */
  readonly keys: string | null;
  readonly bytes: number;
  readonly records: number;
  /** Bytes of the longest line. */
  readonly longest: number;
  /** The latest state that was saved with the records; undefined when none was. */
  readonly commit: Commit | undefined;
}

/** The state of a sync. */
export interface Commit {
  readonly state: SyncState;
  /** A run of the sync ended with it. */
  readonly isLast: boolean;
  /** When it was committed, in milliseconds since 1970. */
  readonly at: number;
}

/** Bytes from which a line is long. DuckDB takes 2,048 lines at once into memory: shorter ones are 64 MB at most. */
const longLine = 32_768;

/** Bytes of long lines after which what is staged has to be stored, so that they fit into the memory of a merge. */
const mostOfLong = 64_000_000;

/** One line of the journal. */
interface Entry {
  readonly bytes: number;
  readonly records: number;
  readonly longest: number;
  readonly commit?: Commit;
}

const nothing: Entry = { bytes: 0, records: 0, longest: 0 };

/**
 * Calls of one account on their way into the database. They are appended to a file, and a journal says how much of it
 * counts and where the sync is; both are on the disk before `add` returns. So each page is safe at once, while the
 * database, which prefers few large transactions, takes them by the hundred thousand.
 *
 * The journal never leads the records: after a crash a sync may read some calls again, but skips none.
 */
export class Staging {
  readonly #lines: string;
  readonly #journal: string;
  readonly #keys: string;
  readonly #writer = new RowWriter();
  #files: { lines: FileHandle; journal: FileHandle } | null = null;
  #at: Entry = nothing;
  #commit: Commit | undefined;
  /** Bytes of the long lines. */
  #long = 0;
  #journalEnd = 0;
  #sids = new Set<string>();
  // Short lines of the calls that are staged. They reach the disk only to be read: after a crash the whole lines serve.
  #keyLines: Buffer[] = [];

  constructor(folder: string, account: string) {
    this.#lines = join(folder, `${account}.lines`);
    this.#journal = join(folder, `${account}.journal`);
    this.#keys = join(folder, `${account}.keys`);
  }

  get staged(): Staged {
    return { file: this.#lines, keys: this.#keys, ...this.#at, commit: this.#commit };
  }

  /** Are there as many long lines as fit into the memory of a merge? */
  get isHeavy(): boolean {
    return this.#long >= mostOfLong;
  }

  /** Makes the files ready to be read: what is left of calls that were stored before is cut off. */
  async finish(): Promise<void> {
    try {
      await this.#files?.lines.truncate(this.#at.bytes);
      const keys = await createFile(this.#keys, 0o600);
      await keys.writeFile(Buffer.concat(this.#keyLines)).finally(() => keys.close());
    } catch (error) {
      throw failureOf(error, this.#lines);
    }
  }

  /** Is one of these calls staged already? Then what is staged has to be stored first: a file never holds a sid twice. */
  hasAny(calls: Iterable<Call>): boolean {
    for (const call of calls) if (this.#sids.has(String(call?.sid))) return true;
    return false;
  }

  /**
   * Appends calls, each `sid` at most once, `most` of them or until the long ones are too many. Says how many; with the last
   * of them, the state of the sync is staged that is true with all.
   */
  async add(calls: readonly Call[], most: number, committed?: Commit): Promise<number> {
    const { count, longest, long } = this.#print(calls, most);
    const commit = count === calls.length ? committed : undefined;
    const { lines: bytes, keys } = this.#writer;
    const mustSave = commit !== undefined;
    try {
      this.#files ??= await this.#open();
      const { lines, journal } = this.#files;
      if (count > 0) {
        await writeAll(lines, bytes, this.#at.bytes);
        await lines.datasync();
      }
      this.#at = {
        bytes: this.#at.bytes + bytes.length,
        records: this.#at.records + count,
        longest: Math.max(this.#at.longest, longest),
      };
      this.#long += long;
      const entry: Entry = mustSave ? { ...this.#at, commit } : this.#at;
      // At its place and not at the end of the file: what a failed write left there is written over.
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      await writeAll(journal, line, this.#journalEnd);
      await journal.datasync();
      this.#journalEnd += line.length;
      // As bytes: strings of a quarter of a million calls would be copied by the garbage collector.
      this.#keyLines.push(Buffer.from(keys));
      // Only now: a state must never be stored without the calls that are true with it.
      this.#commit = commit ?? this.#commit;
      return count;
    } catch (error) {
      // What a failed write left after the last whole batch is not a part of the file.
      await this.#files?.lines.truncate(this.#at.bytes).catch(() => {});
      throw failureOf(error, this.#lines);
    }
  }

  #print(calls: readonly Call[], most: number): { count: number; longest: number; long: number } {
    this.#writer.clear();
    let count = 0;
    let longest = 0;
    let long = 0;
    for (const call of calls) {
      if (count >= most || this.#long + long >= mostOfLong) break;
      const length = this.#writer.add(call);
      this.#sids.add(String(call.sid));
      longest = Math.max(longest, length);
      if (length >= longLine) long += length;
      count += 1;
    }
    return { count, longest, long };
  }

  async #open(): Promise<{ lines: FileHandle; journal: FileHandle }> {
    const lines = await createFile(this.#lines, 0o600);
    try {
      return { lines, journal: await createFile(this.#journal, 0o600) };
    } catch (error) {
      await lines.close();
      throw error;
    }
  }

  /** Removes the files that this process has kept for more calls, which did not come. Nothing in them counts any more. */
  async removeWritten(): Promise<void> {
    if (this.#files !== null) await this.clear();
  }

  /**
   * Everything staged is stored: the files go. With `more` they stay for what comes next: writing over the blocks of a
   * file takes less work than giving them back and getting new ones.
   */
  async clear({ more = false }: { more?: boolean } = {}): Promise<void> {
    try {
      // The journal goes first: lines without a journal count for nothing.
      if (more && this.#files !== null) {
        await this.#files.journal.truncate(0);
        await this.#files.journal.datasync();
      } else {
        await this.close();
        for (const path of [this.#keys, this.#journal, this.#lines]) await rm(path, { force: true });
      }
    } catch (error) {
      throw failureOf(error, this.#lines);
    }
    this.#at = nothing;
    this.#commit = undefined;
    this.#long = 0;
    this.#journalEnd = 0;
    this.#sids = new Set();
    this.#keyLines = [];
  }

  async close(): Promise<void> {
    const files = this.#files;
    this.#files = null;
    try {
      await files?.lines.close();
    } finally {
      await files?.journal.close();
    }
  }

  /** What an earlier process left, or null. What was written after the last entry of the journal is cut off. */
  async leftBehind(): Promise<Staged | null> {
    const text = await leftIn(this.#journal, (file) => file.readFile('utf8'));
    const entries = readEntries(text ?? '');
    const last = entries.at(-1);
    if (last === undefined) return null;
    if (last.bytes > 0) await leftIn(this.#lines, (file) => file.truncate(last.bytes), 'required');
    return {
      file: this.#lines,
      keys: null,
      ...last,
      commit: entries.findLast(({ commit }) => commit !== undefined)?.commit,
    };
  }
}

/** Does something with a file that an earlier process of this user has left; null when there is none. */
async function leftIn<T>(
  path: string,
  work: (file: FileHandle) => Promise<T>,
  isThere: 'required' | 'perhaps' = 'perhaps',
): Promise<T | null> {
  const refuse = (what: string) =>
    new WarehouseError(
      'not_writable',
      `${path} ${what}, so it is not what an earlier process has staged. Remove it and run the same command again.`,
    );
  try {
    const file = await openOwnFile(path, refuse);
    return await work(file).finally(() => file.close());
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing && isThere === 'perhaps') return null;
    throw failureOf(error, path);
  }
}

/** The entries of a journal, up to the first that was not written to its end. */
function readEntries(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    try {
      entries.push(JSON.parse(line));
    } catch {
      break;
    }
  }
  return entries;
}

/** Throws when calls are among these that cannot be stored, and says which. Nothing of them was staged then. */
export function checkRecords(calls: readonly Call[]): void {
  const reasons = calls.map(whyNot);
  const refused = [...reasons.keys()].filter((index) => reasons[index] !== null);
  const [first] = refused;
  if (first !== undefined) throw new WarehouseError('invalid_record', `${reasons[first]}`, { refused });
}

/** Why a call cannot be stored; null when it can. */
function whyNot(call: Call): string | null {
  if (!isUsable(call?.sid))
    return 'A call has no usable sid: expected text that is not empty, in whole characters.';
  for (const value of Object.values(call))
    if (isTooDeep(value))
      return 'A call has a value nested more than 1,000 levels deep, so it cannot be stored.';
  return null;
}

/** Is a `sid` still different from all others once it is a string in the database? */
const isUsable = (sid: unknown): boolean =>
  typeof sid === 'string' ? sid !== '' && isWellFormed(sid) : Number.isFinite(sid);

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, from, bytes.length - from, position + from);
    from += bytesWritten;
  }
}
