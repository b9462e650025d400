import { day, formatNaive, parseNaive, second } from '@call-attribution/core/time';
import { bounded, common, missing, type Span, type Stretch } from '../proof.ts';
import type { SyncSettings } from './options.ts';
import { merged, type SyncPart } from './state.ts';

/** A time so many milliseconds before another; null when there is none. */
export const earlier = (time: string | null, millis: number): string | null =>
  time === null ? null : formatNaive(parseNaive(time) - millis);

/** Ages until which calls are read again. */
type Ages = Pick<SyncSettings, 'lookback' | 'settle'>;

/**
 * The range that a run asks for. A period that moves begins no later than the latest call seen, or than what earlier runs left unread, so
 * that neither a pause nor a run that was interrupted leaves a gap.
 */
export function askedOf(range: Span, period: SyncSettings['period'], part: SyncPart): Span {
  if (period === undefined) return range;
  const ends = [range.to, earlier(period.to ?? null, second)].filter((end) => end !== null).sort();
  const begin =
    [range.from, period.from ?? null]
      .filter((start) => start !== null)
      .sort()
      .at(-1) ?? null;
  const to = ends[0] ?? null;
  if (begin === null || period.from == null) return { from: begin, to };
  const unread = part.asked.flatMap((span) => missing(part.stretches, span)).map(({ from }) => from ?? '');
  const from = [begin, ...unread, ...(part.latest === null ? [] : [part.latest])].sort()[0] ?? begin;
  return { from: from === '' ? null : from, to };
}

/** Whether calls of a stretch may have changed since it was read. */
export function mayChange(
  { to, again, open = 0 }: Stretch,
  latest: string | null,
  { lookback, settle }: Ages,
): boolean {
  const isAfter = (age: number): boolean =>
    to === null || (latest !== null && to > (earlier(latest, age) ?? ''));
  return again === true || isAfter(lookback) || (open > 0 && isAfter(settle));
}

/** What a run reads of its own part: what is unread in its range, what may have changed, and what is not whole. */
export function dueOf(part: SyncPart, asked: Span, ages: Ages): Span[] {
  const { stretches, latest } = part;
  const read = stretches.flatMap((one): Span[] => {
    // What was read since a run came to its end is not read again before the next one does.
    if (one.at === null) return [];
    if (isFaulty(one) || (one.is === 'proved' && one.counted === null)) return [one];
    if (!mayChange(one, latest, ages) || common(one, asked) === null) return [];
    // Where nobody counted the calls of a stretch, nothing is lost by cutting it.
    const from = earlier(latest, ages.lookback);
    const isCut =
      one.counted === null && from !== null && (one.from ?? '') < from && (one.to === null || one.to > from);
    return [isCut ? { from, to: one.to } : one];
  });
  return merged([...missing(stretches, asked), ...read]);
}

/** Whether a stretch may be better when it is read again. */
export const isFaulty = ({ is, why }: Stretch): boolean => is !== 'proved' && why !== 'no_total';

/** Ages at which a read that begins with the newest calls is divided. */
const ages = [1, 7, 28, 91, 364];

/** Ranges in the order in which they are read. What is unread is divided by its age, and at the ends of the period that comes first. */
export function inOrder(
  spans: readonly Span[],
  part: SyncPart,
  { order, first, clock }: SyncSettings,
): Span[] {
  const now = Math.floor(clock.now() / day);
  const borders = [
    ...(order === 'newest' ? ages.map((age) => formatNaive((now - age) * day)) : []),
    ...[first?.from ?? null, first?.to ?? null].filter((end) => end !== null),
  ].sort();
  const parts = spans.flatMap((span) => {
    if (missing(part.stretches, span).length === 0) return [span];
    const inside = [...new Set(borders)].filter(
      (time) => time > (span.from ?? '') && (span.to === null || time < span.to),
    );
    return [...inside, span.to].map((to, i) => ({ from: i === 0 ? span.from : (inside[i - 1] ?? null), to }));
  });
  if (order === 'newest') parts.reverse();
  if (first === undefined) return parts;
  const period = { from: first.from ?? null, to: first.to ?? null };
  const isFirst = (span: Span): boolean => common(span, period) !== null;
  return [...parts.filter(isFirst), ...parts.filter((span) => !isFirst(span))];
}

/** Stretches that a state holds, where neighbors are alike; more where calls may change, so that no more than needed is read again. */
const usual = 64;

/** The same in fewer stretches: what may change stays apart in cells, and so does what is counted until then. */
export function bounding(
  list: readonly Stretch[],
  { latest, until }: { readonly latest: string | null; readonly until: string },
  { lookback, settle }: Ages,
): readonly Stretch[] {
  const young = earlier(latest, lookback);
  const open = earlier(latest, settle);
  const cell = (size: number) => Math.max(second, Math.floor(size / second) * second);
  const index = (border: string, size: number): number => Math.floor(parseNaive(border) / cell(size));
  const cellOf = (border: string): number => {
    if (young === null || open === null || border <= open) return -1;
    return border > young ? index(border, lookback / 8) : index(border, settle / 16);
  };
  // The first border of each cell stays.
  const kept = new Set<string>();
  let last = -1;
  for (const { from } of list) {
    if (from === null) continue;
    const at = cellOf(from);
    if (at >= 0 && at !== last) kept.add(from);
    last = at;
  }
  return bounded(list, usual, (border) => border === until || kept.has(border));
}
