import { formatNaive } from '@call-attribution/core/time';
import {
  mostGroups,
  type PageBucket,
  type PageDay,
  type PageGroup,
  type PageMeasures,
  type PageQuestion,
  type PageSummary,
  pageDimensions,
  perDimension,
  periodBefore,
  summaryOfTime,
} from '../question.ts';
import { type CallIndex, none, noTalk, noTime } from './call-index.ts';

const daySeconds = 86_400;

/** Which calls match a question, apart from their time. */
interface Matcher {
  readonly index: CallIndex;
  readonly talkFrom: number;
  readonly talkTo: number;
  readonly extensions: boolean;
  /** The narrowed dimensions, each with 1 for the numbers of values to keep. */
  readonly narrowed: readonly { readonly dimension: number; readonly keep: Uint8Array }[];
}

function matcherFor(index: CallIndex, { selection, only }: PageQuestion): Matcher {
  const narrowed = [...only].map(([name, values]) => {
    const dimension = pageDimensions.indexOf(name);
    const table = index.values[dimension];
    const keep = new Uint8Array((table?.size ?? 0) + 1);
    for (const value of values)
      keep[value === null || value === '' ? none : (table?.find(value) ?? -1) + 1] = 1;
    // A value that no call has must not let calls without a value through.
    if (!values.includes(null) && !values.includes('')) keep[none] = 0;
    return { dimension, keep };
  });
  const { talk, extensions } = selection;
  return { index, talkFrom: talk?.from ?? noTalk, talkTo: talk?.to ?? 2 ** 31, extensions, narrowed };
}

const matches = -1;
const fails = -2;
const leftOut = -3;

/** `matches`, `fails`, `leftOut` for being a call through an extension and nothing else, or the only dimension whose values keep the call out. */
function outcome({ index, talkFrom, talkTo, extensions, narrowed }: Matcher, row: number): number {
  const talk = index.talk[row] as number;
  if (talk < talkFrom || talk > talkTo) return fails;
  let failed = matches;
  for (const { dimension, keep } of narrowed) {
    if (keep[index.columns[dimension]?.[row] as number] === 1) continue;
    if (failed !== matches) return fails;
    failed = dimension;
  }
  if (extensions || index.extension[row] === 0) return failed;
  return failed === matches ? leftOut : fails;
}

/** Sums that become measures. */
interface Sums {
  calls: number;
  missed: number;
  talked: number;
  tenths: number;
  first: number;
}

/** Sums up the calls that match, in one pass over the calls of the period and the one before. */
export function summarize(
  index: CallIndex,
  question: PageQuestion,
  wanted: PageBucket | 'auto',
): PageSummary {
  const matcher = matcherFor(index, question);
  const [begin, end] = [index.positionOf(question.selection.from), index.positionOf(question.selection.to)];
  const total: Sums = { calls: 0, missed: 0, talked: 0, tenths: 0, first: 0 };
  const groups = index.values.map(({ size }) => ({
    calls: new Uint32Array(size + 1),
    missed: new Uint32Array(size + 1),
  }));
  let extensionsLeftOut = 0;
  const days = new Map<number, { calls: number; missed: number }>();
  let day = { calls: 0, missed: 0 };
  let dayNumber = Number.NaN;

  for (let i = begin; i < end; i += 1) {
    const row = index.order[i] as number;
    const failed = outcome(matcher, row);
    if (failed === fails) continue;
    if (failed === leftOut) {
      extensionsLeftOut += 1;
      continue;
    }
    const isMissed = index.talk[row] === 0 ? 1 : 0;
    if (failed !== matches) {
      count(groups[failed], index.columns[failed]?.[row] as number, isMissed);
      continue;
    }
    add(total, index, row);
    for (let d = 0; d < groups.length; d += 1) count(groups[d], index.columns[d]?.[row] as number, isMissed);
    const at = index.at[row] as number;
    if (at === noTime) continue;
    const number = Math.floor(at / daySeconds);
    if (number !== dayNumber) {
      dayNumber = number;
      day = days.get(number) ?? { calls: 0, missed: 0 };
      days.set(number, day);
    }
    day.calls += 1;
    day.missed += isMissed;
  }

  const [earliest, latest] = extentOf(index);
  return {
    total: measures(total),
    before: measuresBefore(matcher, question),
    extensionsLeftOut,
    ...summaryOfTime(question, wanted, earliest, latest, eachDay(days)),
    groups: perDimension((i) => mostFrequent(index, i, groups[i])),
    values: perDimension((i) => groups[i]?.calls.reduce((sum, calls) => sum + (calls > 0 ? 1 : 0), 0) ?? 0),
    all: index.size,
    earliest,
    latest,
  };
}

/** The rows that match, from the newest on. */
export function* newestFirst(index: CallIndex, question: PageQuestion): Generator<number> {
  const matcher = matcherFor(index, question);
  const begin = index.positionOf(question.selection.from);
  for (let i = index.positionOf(question.selection.to) - 1; i >= begin; i -= 1) {
    const row = index.order[i] as number;
    if (outcome(matcher, row) === matches) yield row;
  }
}

function measuresBefore(matcher: Matcher, question: PageQuestion): PageMeasures | null {
  const period = periodBefore(question);
  if (period === null) return null;
  const { index } = matcher;
  const sums: Sums = { calls: 0, missed: 0, talked: 0, tenths: 0, first: 0 };
  const end = index.positionOf(period.to / 1000);
  for (let i = index.positionOf(period.from / 1000); i < end; i += 1) {
    const row = index.order[i] as number;
    if (outcome(matcher, row) === matches) add(sums, index, row);
  }
  return measures(sums);
}

function add(sums: Sums, index: CallIndex, row: number): void {
  const talk = index.talk[row] as number;
  sums.calls += 1;
  if (talk === 0) sums.missed += 1;
  if (talk !== noTalk) {
    sums.talked += 1;
    sums.tenths += talk;
  }
  if (index.isFirst(row)) sums.first += 1;
}

function measures({ calls, missed, talked, tenths, first }: Sums): PageMeasures {
  return { calls, missed, talkMean: talked === 0 ? null : tenths / 10 / talked, firstTimeCallers: first };
}

function count(
  group: { calls: Uint32Array; missed: Uint32Array } | undefined,
  value: number,
  isMissed: number,
) {
  if (group === undefined) return;
  group.calls[value] = (group.calls[value] as number) + 1;
  group.missed[value] = (group.missed[value] as number) + isMissed;
}

/** The values with the most calls; equal ones in the order of their names. */
function mostFrequent(
  index: CallIndex,
  dimension: number,
  group: { calls: Uint32Array; missed: Uint32Array } | undefined,
): PageGroup[] {
  const table = index.values[dimension];
  if (group === undefined || table === undefined) return [];
  const numbers = [...group.calls.keys()].filter((number) => (group.calls[number] as number) > 0);
  const named = (number: number) => ({
    value: number === none ? null : table.at(number - 1),
    calls: group.calls[number] as number,
    missed: group.missed[number] as number,
  });
  return numbers
    .sort((a, b) => (group.calls[b] as number) - (group.calls[a] as number))
    .slice(0, mostGroups)
    .map(named)
    .sort((a, b) => b.calls - a.calls || (String(a.value) < String(b.value) ? -1 : 1));
}

function* eachDay(days: ReadonlyMap<number, { calls: number; missed: number }>): Generator<PageDay> {
  for (const [number, counts] of days)
    yield { day: formatNaive(number * daySeconds * 1000).slice(0, 10), ...counts };
}

/** Times of the first and the last call that has one. */
function extentOf(index: CallIndex): [string | null, string | null] {
  const first = index.order[index.positionOf(noTime + 1)];
  const last = index.order[index.size - 1];
  if (index.size === 0 || first === undefined || last === undefined || index.at[last] === noTime)
    return [null, null];
  return [formatNaive((index.at[first] as number) * 1000), formatNaive((index.at[last] as number) * 1000)];
}
