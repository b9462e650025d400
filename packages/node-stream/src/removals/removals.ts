import { createHmac, randomBytes } from 'node:crypto';
import { propertyOf } from '@call-attribution/core/errors';
import { type Call, phoneKey } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';

// What was removed on purpose, in the one form in which it is kept, travels with copies and keeps later syncs from bringing it back.

/** Callers who were erased: hashes of their numbers, and the key that these were made with. */
export interface ErasedCallers {
  /** The key. It travels with the hashes: without it no copy could tell whose call a sync brings. */
  readonly key: string;
  /** HMAC-SHA256 of each number in its shortest spelling, in base64url. */
  readonly callers: readonly string[];
}

/** What was removed from an account on purpose. */
export interface RemovalNote {
  /** One item for each copy in which callers were erased first. */
  readonly erased: readonly ErasedCallers[];
  /** Calls from before this time (`YYYY-MM-DD HH:MM:SS`) were purged; null when none were. */
  readonly purgedBefore: string | null;
}

/** What was removed from an account, ready to be asked. */
export interface Removals {
  /** How many callers were erased. One who was erased in two copies before these met counts twice. */
  readonly erasedCallers: number;
  /** Calls from before this time were purged; null when none were. */
  readonly purgedBefore: string | null;
  /** What a copy of the calls has to take with it. */
  readonly note: RemovalNote;
  /** Was this caller's number erased? It may be written in any way. */
  isErased(caller: unknown): boolean;
  /** Is this a call of an erased caller, or one from before a purge? */
  isRemoved(call: Pick<Call, 'ani' | 'date_added'>): boolean;
}

/** What an erasure did. */
export interface Erasure {
  /** How many calls were deleted for each number, in the order in which they were given. */
  readonly deleted: readonly number[];
  /** The ids of these calls, by which other files can be searched. */
  readonly sids: readonly string[];
  /**
   * Why bytes of them may still be in the database: `vacuum`, PostgreSQL keeps them until VACUUM FULL; `in_use`, another process had the
   * file open. Empty when no byte is left.
   */
  readonly remains: readonly ('vacuum' | 'in_use')[];
}

/** Nothing was removed. */
export const nothingRemoved: RemovalNote = { erased: [], purgedBefore: null };

/** Makes a key for hashes of numbers. */
export const newRemovalKey = (): string => randomBytes(16).toString('base64url');

/** What is remembered of an erased caller. */
export function callerHash(caller: unknown, key: string): string {
  return createHmac('sha256', key).update(phoneKey(caller)).digest('base64url');
}

/** Makes a note ready to be asked. */
export function openRemovals(note: RemovalNote): Removals {
  const { erased, purgedBefore } = note;
  const sets = erased.map(({ key, callers }) => ({ key, callers: new Set(callers) }));
  const border = purgedBefore === null ? Number.NEGATIVE_INFINITY : parseNaive(purgedBefore);
  const isErased = (caller: unknown): boolean =>
    sets.some(({ key, callers }) => callers.has(callerHash(caller, key)));
  return {
    erasedCallers: sets.reduce((sum, { callers }) => sum + callers.size, 0),
    purgedBefore,
    note,
    isErased,
    isRemoved: ({ ani, date_added }) => parseNaive(date_added) < border || isErased(ani),
  };
}

/** Was nothing removed? Then there is nothing to take along. */
export const isNothing = ({ erased, purgedBefore }: RemovalNote): boolean =>
  erased.length === 0 && purgedBefore === null;

/** The time before which a purge removes calls, as a note has it; null when a text is no time. */
export function purgeBorder(before: unknown): string | null {
  const millis = typeof before === 'string' && before.length === 19 ? parseNaive(before) : Number.NaN;
  return Number.isNaN(millis) ? null : formatNaive(millis);
}

/** The name of the file in a folder of Parquet files that says what was removed. */
export const removalsFile = '_calls.removals.json';
/** What the same file is called next to a single file, after its name. */
export const removalsEnding = '.removals.json';

/** What was removed, by account, as JSON, for a file next to Parquet files. */
export function printRemovals(accounts: Readonly<Record<string, RemovalNote>>): string {
  return JSON.stringify({ removals: 1, accounts });
}

/**
 * A line of a ledger without what it says about some calls: lists of JSON lose the items with their `sid` and `account`, which is null
 * where an item has none. Any other line stays as it is.
 */
export function withoutCalls(line: string, isGone: (sid: string, account: string | null) => boolean): string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return line;
  }
  let isChanged = false;
  const isKept = (item: unknown): boolean => {
    const sid = propertyOf(item, 'sid');
    if (sid === undefined) return true;
    const account = propertyOf(item, 'account');
    const isWanted = !isGone(String(sid), account === undefined ? null : String(account));
    isChanged ||= !isWanted;
    return isWanted;
  };
  const text = JSON.stringify(value, (_, inner: unknown) =>
    Array.isArray(inner) ? inner.filter(isKept) : inner,
  );
  return isChanged ? text : line;
}
