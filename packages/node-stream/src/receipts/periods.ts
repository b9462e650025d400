import {
  everything,
  intersect,
  merge,
  type Period,
  periodOfText,
  subtract,
} from '@call-attribution/core/time';
import { byBegin } from '../proof.ts';
import { rangeOf } from '../times.ts';
import type { Receipt } from './receipt.ts';

/** What the receipts of the months of one export say together. */
export interface Periods {
  /** Periods that were asked for, and that no receipt is about. */
  readonly missing: readonly Period[];
  /** Receipts of a period that begins before the one of another file ends. */
  readonly doubled: readonly Receipt[];
}

/**
 * What is missing between the months of an export, and what is there twice. Each month was asked
 * for with others, as its receipt says, and their periods touch.
 */
export function periodsOf(receipts: readonly Receipt[]): Periods {
  const sorted = [...receipts].sort((a, b) => byBegin(rangeOf(a), rangeOf(b)));
  const there = sorted.map(periodOfText);
  const asked = receipts.flatMap(({ asked }) => asked ?? []).map(periodOfText);

  let missing = merge(asked);
  for (const period of there) missing = missing.flatMap((open) => subtract(open, period));

  const doubled = sorted.filter((_, at) =>
    there.slice(0, at).some((before) => intersect(before, there[at] ?? everything) !== null),
  );
  return { missing, doubled };
}
