// Positions of calls are numbers inside. Whatever a program gets or keeps has times instead, as
// `YYYY-MM-DD HH:MM:SS`.

import { formatNaive, parseNaive } from '@call-attribution/core/time';
import type { Range } from './proof.ts';
import type { Span, Verdict } from './verdict.ts';

export const timeOf = (at: number | null): string | null => (at === null ? null : formatNaive(at));

export const positionOf = (time: string | null): number | null =>
  time === null ? null : parseNaive(time);

export const spanOf = ({ from, to }: Range): Span => ({ from: timeOf(from), to: timeOf(to) });

export const rangeOf = ({ from, to }: Span): Range => ({
  from: positionOf(from),
  to: positionOf(to),
});

/** A verdict with times. */
export const inTimes = (verdict: Verdict<number>): Verdict => ({
  ...verdict,
  asked: spanOf(verdict.asked),
  unasked: verdict.unasked.map(spanOf),
  gaps: verdict.gaps.map((gap) => ({ ...gap, ...spanOf(gap) })),
  notes: verdict.notes.map(({ code, from }) => ({ code, from: timeOf(from) })),
});
