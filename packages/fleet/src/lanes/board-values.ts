import type { Board } from '../board/board.ts';
import { jobKey } from './keys.ts';
import type { AccountValue, JobValue, LaneValue, RateValue, WorkerValue } from './values.ts';

/** A value of the board with when it was written, in board time. */
export interface Seen<T> {
  readonly value: T;
  readonly at: number;
}

/** What lies on the board under the keys of one kind, by what follows the prefix. Keys that were given up are left out. */
function* seen<T>(board: Board, prefix: string): Iterable<readonly [string, Seen<T>]> {
  for (const { key, value, at } of board.entries(prefix)) {
    if (value === null || typeof value !== 'object' || 'gone' in value) continue;
    yield [key.slice(prefix.length), { value: value as unknown as T, at }];
  }
}

/** The job, or null when the board has none. */
export function jobOn(board: Board): Seen<JobValue> | null {
  const entry = board.get(jobKey);
  if (entry === undefined || entry.value === null || typeof entry.value !== 'object' || 'gone' in entry.value)
    return null;
  return { value: entry.value as unknown as JobValue, at: entry.at };
}

/** The accounts by the token in their key. */
export const accountsOn = (board: Board): Iterable<readonly [string, Seen<AccountValue>]> =>
  seen(board, 'account.');

/** The lanes by the token of their account and their number: `101.0`. */
export const lanesOn = (board: Board): Iterable<readonly [string, Seen<LaneValue>]> => seen(board, 'lane.');

/** The workers by the token in their key. */
export const workersOn = (board: Board): Iterable<readonly [string, Seen<WorkerValue>]> =>
  seen(board, 'worker.');

/** The shares of credentials. */
export const ratesOn = (board: Board): Iterable<readonly [string, Seen<RateValue>]> => seen(board, 'rate.');

/** The word that a token of a key stands for: `.` is written `=2E`. */
export const plainOf = (token: string): string =>
  token.replace(/=([0-9A-F]{2,4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
