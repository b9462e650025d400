import { finest } from '../query/time-slice.ts';
import type { BoundStyle, WindowQuery } from '../query/window-query.ts';

/** Asks the server for the total of a filter, with one row. */
export type Ask = (filter: ReturnType<WindowQuery['within']>) => Promise<number | null>;

/** The earliest lower end anyone reckons with. */
export const earliest = Date.UTC(1000, 0, 1);

/**
 * Finds out whether the server leaves the upper end out of `[a TO b}`, by a range that must then be empty: from the
 * second of a known call to itself. A server that refuses it or finds the call gets closed ranges.
 */
export async function chooseStyle(query: WindowQuery, known: number, ask: Ask): Promise<BoundStyle> {
  try {
    const total = await ask(query.within({ from: known, to: known }, 'half-open'));
    return total === 0 ? 'half-open' : 'closed';
  } catch (error) {
    if (isRefusal(error)) return 'closed';
    throw error;
  }
}

/** Whether the server said that it does not take a filter as written. */
export function isRefusal(error: unknown): boolean {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return status === 400 || status === 422;
}

/**
 * A lower end to reckon with for a span that is open below: walks back from a known call in growing steps until few
 * records lie before.
 */
export async function findLower(
  known: number,
  step: number,
  few: number,
  ask: (to: number) => Promise<number | null>,
): Promise<number> {
  let lower = known;
  for (let back = Math.max(step, 3600 * finest); lower > earliest; back *= 8) {
    const before = await ask(lower);
    if (before === null || before <= few) return lower;
    lower = Math.max(earliest, lower - back);
  }
  return earliest;
}
