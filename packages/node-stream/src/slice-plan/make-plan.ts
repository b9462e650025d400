import { itemAt } from '@call-attribution/core/errors';
import { addMonths, formatNaive } from '@call-attribution/core/time';
import { callAxis } from '../calls/call-axis.ts';
import { learn, regionOf } from '../reader/region.ts';
import { type KnownCount, withCount } from './known-counts.ts';
import { type CutFacts, fewest, most, type NextCut, nextCut } from './next-cut.ts';
import type { PlannedSlice, PlanProgress } from './slice-plan.ts';
import type { Totals } from './totals.ts';

const month = 31 * 86_400_000;

/** What is cut, and into what. Times are naive milliseconds. */
export interface Whole {
  readonly from: number | null;
  readonly to: number;
  readonly records: number;
  readonly isByMonth: boolean;
}

type State = Pick<CutFacts, 'known' | 'start' | 'flow' | 'asked' | 'sample' | 'isSilent'>;

/** Cuts the whole into slices, from its beginning to its end. */
export async function makePlan(
  totals: Totals,
  whole: Whole,
  onProgress: (progress: PlanProgress) => void,
): Promise<PlannedSlice[]> {
  const slices: PlannedSlice[] = [];
  let state = await begin(totals, whole);
  let planned = 0;
  let isCountedAgain = false;
  while (state.start.at !== whole.to) {
    const next = nextCut({ ...state, border: borderOf(state, whole), records: whole.records });
    if (next.kind === 'ask') {
      state = await learnFrom(totals, state, next);
      continue;
    }
    if (next.at === whole.to && slices.length > 0 && !isCountedAgain) {
      // So far the last slice is what the others left of the total. A count of its own proves that the counts add up.
      state = await countLast(totals, state, next);
      isCountedAgain = true;
      continue;
    }
    const total = next.count - state.start.count;
    const { at } = state.start;
    slices.push({ from: at === null ? null : formatNaive(at), to: formatNaive(next.at), total });
    planned += total;
    const start = { at: next.at, count: next.count };
    const known = withCount(state.known, start).filter((one) => one.at >= next.at);
    state = { ...state, start, known, asked: 0, sample: Number.NaN, isSilent: total === 0 };
    const { requests } = totals;
    onProgress({ slices: slices.length, planned, total: endOf(known).count, requests });
  }
  return slices;
}

/** Learns what the first cut depends on: the total, how the server reads ranges, and where the records begin. */
async function begin(totals: Totals, { from, to, records, isByMonth }: Whole): Promise<State> {
  const { total, sample } = await totals.of({ from, to });
  if (!Number.isNaN(sample)) await totals.findStyle(sample);
  let known: KnownCount[] = [{ at: to, count: total }];
  if (from !== null) known.unshift({ at: from, count: 0 });
  else if (total > 0 && (isByMonth || total > most * records)) {
    const found = await totals.findLower(
      Number.isNaN(sample) ? to - callAxis.step : sample,
      isByMonth ? 0 : fewest * records,
    );
    known = found.reduce(withCount, known);
    if (isByMonth) known = await narrow(totals, known);
  }
  const lower = known[0]?.at ?? to;
  return {
    known,
    start: { at: from, count: 0 },
    flow: regionOf({ from, to }, total, { lower, upper: to }, callAxis),
    asked: 0,
    sample,
    isSilent: false,
  };
}

/** Finds the month in which the records begin, so that there are no slices of empty months before it. */
async function narrow(totals: Totals, known: readonly KnownCount[]): Promise<KnownCount[]> {
  const first = known.findIndex(({ count }) => count > 0);
  const [low, high] = [known[first - 1], known[first]];
  if (low === undefined || high === undefined || high.at - low.at <= month) return [...known];
  const at = low.at + Math.floor((high.at - low.at) / 2 / callAxis.step) * callAxis.step;
  const { total } = await totals.of({ from: low.at, to: at });
  return narrow(totals, withCount(known, { at, count: total }));
}

/** The time that the next slice may not reach across. */
function borderOf({ start, known }: State, { to, isByMonth }: Whole): number {
  if (!isByMonth) return to;
  const from = start.at ?? known.findLast(({ count }) => count === 0)?.at ?? to;
  const first = new Date(from);
  return Math.min(to, addMonths(Date.UTC(first.getUTCFullYear(), first.getUTCMonth()), 1));
}

async function learnFrom(
  totals: Totals,
  state: State,
  { from, at, expected }: Extract<NextCut, { kind: 'ask' }>,
): Promise<State> {
  const { total, sample } = await totals.of({ from: from.at, to: at });
  return {
    ...state,
    known: withCount(state.known, { at, count: from.count + total }),
    flow: learn(state.flow, { expected, total, width: at - from.at }),
    asked: state.asked + 1,
    sample,
  };
}

async function countLast(totals: Totals, state: State, { at, count }: KnownCount): Promise<State> {
  const { start, known } = state;
  const span = { from: start.at, to: at };
  const { total } = await totals.of(span);
  if (start.count + total === count) return state;
  // The list has moved, or the server does not read ranges as it should.
  await totals.doubt(span);
  const before = known.filter((one) => one.at < at && one.count <= start.count + total);
  return { ...state, known: [...before, { at, count: start.count + total }] };
}

const endOf = (known: readonly KnownCount[]): KnownCount => itemAt(known, known.length - 1);
