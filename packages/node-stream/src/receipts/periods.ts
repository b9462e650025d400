import { byBegin, common, missing, type Span } from '../proof.ts';
import type { Receipt } from './receipt.ts';

/** What the receipts of the months of one export say together. */
export interface Periods {
  /** Periods that were asked for, and that no receipt is about. */
  readonly missing: readonly Span[];
  /** Receipts of a period that begins before the one of another file ends. */
  readonly doubled: readonly Receipt[];
}

/**
 * What is missing between the months of an export, and what is there twice. Each month was asked
 * for with others, as its receipt says, and their periods touch.
 */
export function periodsOf(receipts: readonly Receipt[]): Periods {
  const sorted = [...receipts].sort(byBegin);
  const open: Span[] = [];
  for (const { asked } of receipts)
    for (const gap of asked === undefined ? [] : missing(sorted, asked))
      open.push(...missing([...open].sort(byBegin), gap));

  const doubled = sorted.filter((one, at) =>
    sorted.slice(0, at).some((before) => common<string>(before, one) !== null),
  );
  return { missing: open.sort(byBegin), doubled };
}
