import { StoreError } from '../database/errors.ts';
import type { NumericFilter } from './selection.ts';
import { anyTalk, mostTenths } from './wire-values.ts';

/** Widths of the time buckets as powers of two in seconds: 388 days, 24.3 days, 36.4 hours. */
export const levels = [25, 21, 17] as const;

/** Seconds that a bucket of a level spans. */
export const width = (level: number): number => 2 ** level;

/** A change of one count. */
export interface Cell {
  readonly level: number;
  readonly bucket: number;
  readonly extension: number;
  readonly talk: number;
  readonly n: number;
}

/** What a call is counted by. */
export interface TallyKey {
  readonly at: number;
  readonly talk: number;
  readonly extension: number;
}

/** The changes that a batch makes, one per cell, in key order so that concurrent writers lock in the same order. */
export function differences(added: Iterable<TallyKey>, removed: Iterable<TallyKey>): Cell[] {
  // By talk value within a bucket: neither of the two keys needs a string, which would be most of the work.
  const buckets = new Map<number, Map<number, number>>();
  const count = ({ at, talk, extension }: TallyKey, sign: 1 | -1) => {
    for (const [depth, level] of levels.entries()) {
      const key = (Math.floor(at / width(level)) * 2 + extension) * levels.length + depth;
      let cells = buckets.get(key);
      if (cells === undefined) {
        cells = new Map();
        buckets.set(key, cells);
      }
      cells.set(talk, (cells.get(talk) ?? 0) + sign);
      cells.set(anyTalk, (cells.get(anyTalk) ?? 0) + sign);
    }
  };
  for (const place of added) count(place, 1);
  for (const place of removed) count(place, -1);
  const found: Cell[] = [];
  for (const [key, cells] of buckets) {
    const rest = Math.floor(key / levels.length);
    const level = levels[key - rest * levels.length] as number;
    const bucket = Math.floor(rest / 2);
    for (const [talk, n] of cells)
      if (n !== 0) found.push({ level, bucket, extension: rest - bucket * 2, talk, n });
  }
  return found.sort(
    (a, b) => a.level - b.level || a.extension - b.extension || a.talk - b.talk || a.bucket - b.bucket,
  );
}

/** Talk values up to here (an hour) are listed one by one. Longer calls are so few that a range of them is read quickly. */
const mostNamed = 600;

/** Does the selection match most calls, so that few are skipped between two that match? */
export function isWide({ talk }: NumericFilter): boolean {
  return talk === null || (talk.to >= mostTenths && talk.from <= 100);
}

/**
 * Which cells of a bucket to add up, as conditions of which no cell meets two. A few talk values are listed; for many, those outside
 * are subtracted from all calls. The key is then read at exactly the cells that matter, however many buckets there are: also by a
 * PostgreSQL that has not analyzed the table yet, for which a list of two flags would be a reason to read all cells of a level.
 */
export function cellsOf({ talk, extensions }: NumericFilter): { sum: string; only: readonly string[] } {
  const { sum, only } = talkCells(talk);
  return { sum, only: (extensions ? [0, 1] : [0]).map((flag) => `extension = ${flag} AND ${only}`) };
}

function talkCells(talk: NumericFilter['talk']): { sum: string; only: string } {
  if (talk === null) return { sum: 'sum(n)', only: `talk = ${anyTalk}` };
  const { from, to } = talk;
  // These numbers are part of the statement's text, so that the database can plan with them.
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0) {
    throw new StoreError('unfit_filter', 'A talk range must be in whole tenths of a minute, 0 or more.');
  }
  if (from > mostNamed) return { sum: 'sum(n)', only: `talk >= ${from} AND talk <= ${to}` };
  if (to <= mostNamed) return { sum: 'sum(n)', only: `talk IN (${named(from, to)})` };
  const shorter = `talk IN (${named(anyTalk, from - 1)})`;
  const outside = to >= mostTenths ? shorter : `(${shorter} OR talk > ${to})`;
  return { sum: `sum(CASE WHEN talk = ${anyTalk} THEN n ELSE -n END)`, only: outside };
}

function named(first: number, last: number): string {
  // Not every database accepts an empty list. Nothing equals null.
  if (first > last) return 'NULL';
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).join(', ');
}
