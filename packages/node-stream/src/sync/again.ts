import { formatNaive, parseNaive, second } from '@call-attribution/core/time';
import { endOf, type Stretch, type Stretches } from './stretches.ts';
import type { SyncSettings } from './sync-options.ts';

/**
 * How far back a run begins. In v2 no record says whether it is final (`ppc_status` is a field of v3), so all of them are
 * read again until they are old enough: by range, which takes far fewer requests than one by one.
 */
export function lookbackOf(version: 'v2' | 'v3', { lookback, settle, isFinal }: SyncSettings): number {
  return version === 'v2' && isFinal === undefined ? Math.max(lookback, settle) : lookback;
}

/** A time so many milliseconds before another; null when there is none. */
export const earlier = (time: string | null, millis: number): string | null =>
  time === null ? null : formatNaive(parseNaive(time) - millis);

/** Parts of a lookback at whose ends stretches are cut. */
const cells = 8;

const cellOf = (lookback: number): number => Math.max(second, Math.floor(lookback / cells / second) * second);

/** The times at which what was read is cut, so that a later run begins near to its lookback. */
export function cutsBefore(latest: string | null, lookback: number): string[] {
  if (latest === null) return [];
  const cell = cellOf(lookback);
  const at = parseNaive(latest);
  const first = Math.floor(at / cell) * cell;
  const grid = Array.from({ length: cells + 2 }, (_, i) => formatNaive(first - i * cell));
  return [formatNaive(at - lookback), ...grid];
}

/** Whether a time is one of those. */
export const isCut = (time: string, lookback: number): boolean => parseNaive(time) % cellOf(lookback) === 0;

/** Where a state keeps what was read apart, so that it can be cut there. */
export const keptFrom = (latest: string | null, lookback: number): string =>
  earlier(latest, lookback + 2 * cellOf(lookback)) ?? '';

/**
 * Marks what was read and may still change: all that lies within a lookback of the latest call. What was read some time before
 * the rest could see late calls for so much longer, and begins so much earlier.
 */
export function markAgain(list: Stretches, latest: string | null, lookback: number): Stretch[] {
  const last = Math.max(0, ...list.map(({ is, at }) => (is === 'read' ? (at ?? 0) : 0)));
  return list.map((stretch) => {
    if (stretch.is !== 'read') return stretch;
    const from = earlier(latest, lookback + last - (stretch.at ?? last)) ?? '';
    const { again: _, ...rest } = stretch;
    return endOf(stretch) > from ? { ...rest, again: true } : rest;
  });
}

/** Ends a read: what is too young to be counted is read again by the next run, and is taken as whole until then. */
export function concluded(list: Stretches, until: string): Stretch[] {
  return list.map((stretch) =>
    stretch.is === 'read' && endOf(stretch) > until ? { ...stretch, is: 'whole', again: true } : stretch,
  );
}
