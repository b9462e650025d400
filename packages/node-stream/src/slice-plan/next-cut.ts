import { itemAt } from '@call-attribution/core/errors';
import { callAxis } from '../calls/call-axis.ts';
import { cut, type Region, regionOf } from '../reader/region.ts';
import { countAt, type KnownCount } from './known-counts.ts';

// Where a slice is to end is a search: how many records lie before a time is known for some times, and each request adds
// one. The counts that one slice did not end at are there for the next.

/** What the next slice is cut from. */
export interface CutFacts {
  /** In order of time; the last one is the end of the query. */
  readonly known: readonly KnownCount[];
  /** Where the slice begins; `at` is null when it is open below. */
  readonly start: { readonly at: number | null; readonly count: number };
  /** A time that no slice may reach across: the end of the month or of the query. */
  readonly border: number;
  /** Records that a slice should have. */
  readonly records: number;
  /** How densely the records lay when last looked at. */
  readonly flow: Region;
  /** Requests for this slice so far, and the time of a record that the last one returned. */
  readonly asked: number;
  readonly sample: number;
  /** The slice before has no records. */
  readonly isSilent: boolean;
}

/** The slice ends here, or the server is asked how many records lie in a range. */
export type NextCut =
  | { readonly kind: 'end'; readonly at: number; readonly count: number }
  | {
      readonly kind: 'ask';
      readonly from: KnownCount;
      readonly at: number;
      /** How many records are expected in the range, to learn from. */
      readonly expected: number;
    };

/** The most and the fewest records that a slice may have, as parts of what is asked for. */
export const most = 1.3;
export const fewest = 0.2;

// A slice is sought that has at least this part; after a few requests, `fewest` will do.
const enough = 0.35;
const patience = 2;
// A count that is this many slices away says less than the density at hand.
const farAway = 8;

/** Says where a slice ends, or what to ask to find out. */
export function nextCut(facts: CutFacts): NextCut {
  const { known, start, border, records, asked } = facts;
  const ahead = known.filter(({ at }) => at > (start.at ?? Number.NEGATIVE_INFINITY) && at <= border);
  const size = ({ count }: { count: number }): number => count - start.count;
  const atBorder = countAt(known, border);
  const left = atBorder === undefined ? undefined : size({ count: atBorder });
  if (atBorder !== undefined && size({ count: atBorder }) <= most * records)
    return { kind: 'end', at: border, count: atBorder };
  const least = (asked < patience ? enough : fewest) * records;
  const limit = Math.min(most * records, (left ?? Number.POSITIVE_INFINITY) - fewest * records);
  const target = targetOf(left, records);
  const near = (one: KnownCount) => Math.abs(size(one) - target);
  const [best] = ahead
    .filter((one) => size(one) >= least && size(one) <= limit)
    .sort((a, b) => near(a) - near(b));
  if (best !== undefined) return { kind: 'end', ...best };
  const low = ahead.findLast((one) => size(one) < least) ?? {
    at: start.at ?? callAxis.first,
    count: start.count,
  };
  const high =
    ahead.find((one) => size(one) > limit) ??
    (atBorder === undefined ? undefined : { at: border, count: atBorder });
  if (high !== undefined && high.at - low.at <= callAxis.step) return endBetween(facts, low, high, left);
  return guess(facts, low, high, target - size(low));
}

/** Nothing can be cut between two seconds: the slice ends before the second that is too much, or with it. */
function endBetween(
  { start, border, records }: CutFacts,
  low: KnownCount,
  high: KnownCount,
  left: number | undefined,
): NextCut {
  const few = fewest * records;
  if (low.count - start.count >= few) return { kind: 'end', ...low };
  const rest = left === undefined ? Number.POSITIVE_INFINITY : start.count + left - high.count;
  return rest < few
    ? { kind: 'end', at: border, count: high.count + rest }
    : { kind: 'end', at: high.at, count: high.count };
}

function guess(facts: CutFacts, low: KnownCount, high: KnownCount | undefined, wanted: number): NextCut {
  const { known, border, records, flow, asked, sample } = facts;
  const end = high?.at ?? border;
  const span = { from: low.at, to: null };
  const held = (high ?? itemAt(known, known.length - 1)).count - low.count;
  const isNear = high !== undefined && (held <= farAway * records || asked > patience);
  const region = isNear
    ? regionOf(span, held, { lower: low.at, upper: end }, callAxis)
    : { ...flow, span, lower: low.at, upper: end, remaining: held };
  const beyond = beyondSilence(facts, low, high);
  if (beyond !== null) return { kind: 'ask', from: low, at: beyond, expected: 0 };
  const { slice } = cut(region, {
    capacity: Math.max(1, wanted),
    aimAt: 1,
    sealedBefore: border,
    axis: callAxis,
  });
  const last = high === undefined ? end : end - callAxis.step;
  const between = (at: number) => Math.min(last, Math.max(low.at + callAxis.step, at));
  const at = between(searched(asked, sample, low.at, end) ?? slice.span.to ?? end);
  const density = region.held / region.width;
  return { kind: 'ask', from: low, at, expected: Math.min(held, density * (at - low.at)) };
}

/**
 * After a stretch without records the next ones are searched: twice as far ahead each time, then in the middle. Without it each empty
 * month would take a request.
 */
function beyondSilence(
  { known, border, flow, isSilent }: CutFacts,
  low: KnownCount,
  high: KnownCount | undefined,
): number | null {
  const far = known.find(({ count }) => count > low.count);
  if (!isSilent || high !== undefined || far === undefined) return null;
  const middle = low.at + Math.floor((far.at - low.at) / 2 / callAxis.step) * callAxis.step;
  const at = flow.held === 0 ? Math.min(middle, low.at + 2 * flow.width) : middle;
  return at > border ? at : null;
}

/** Where the records lie in a heap, density says little: the second of a record is tried, then the middle. */
function searched(asked: number, sample: number, low: number, high: number): number | null {
  if (asked <= patience) return null;
  if (asked % 3 === 0) return low + Math.floor((high - low) / 2 / callAxis.step) * callAxis.step;
  if (asked % 3 === 1) return null;
  if (sample + callAxis.step > low && sample + callAxis.step < high) return sample + callAxis.step;
  return sample > low && sample < high ? sample : null;
}

/** The last few slices of a stretch share its records evenly, so that none is left over. */
function targetOf(left: number | undefined, records: number): number {
  if (left === undefined || left > 4 * records) return records;
  return left / Math.max(2, Math.round(left / records));
}
