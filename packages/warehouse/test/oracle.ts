import { addMonths, day, durationMillis, formatNaive, parseTime } from '@call-attribution/core/time';
import type { AnswerValue, Measure, Question, WorthRules } from '../src/index.ts';
import {
  dateText,
  type Facts,
  factsOf,
  fieldOf,
  holds,
  like,
  type Row,
  type Test,
  weekdays,
} from './oracle-facts.ts';

// The same questions answered in plain JavaScript over plain records, without a thought for speed: what `analyze` must
// agree with. It shares no code with the package but core's own rules of time, numbers and channels.

const rank = (values: readonly number[], part: number, of: number): number | null =>
  [...values].sort((a, b) => a - b)[Math.ceil((part * values.length) / of) - 1] ?? null;
const present = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

/** One measure of some calls; `all` is how many are counted in all. */
function measure(
  name: Measure,
  calls: readonly Facts[],
  all: number,
  values: WorthRules | undefined,
): AnswerValue {
  const talk = present(calls.map((each) => each.talk));
  const sum = talk.reduce((total, each) => total + each, 0);
  if (typeof name === 'object') {
    return new Set(calls.map((each) => fieldOf(name.distinct, each)).filter((each) => each !== null)).size;
  }
  const perCaller = new Map<string, number>();
  for (const { caller } of calls)
    if (caller !== null) perCaller.set(caller, (perCaller.get(caller) ?? 0) + 1);
  const times = present(calls.map((each) => each.time));
  const over10 = (value: number | null): number | null => (value === null ? null : value / 10);
  switch (name) {
    case 'calls':
      return calls.length;
    case 'share':
      return calls.length / all;
    case 'missed':
      return talk.filter((each) => each === 0).length;
    case 'missed_rate':
      return talk.length === 0 ? null : talk.filter((each) => each === 0).length / talk.length;
    case 'talk_sum':
      return sum / 10;
    case 'talk_mean':
      return talk.length === 0 ? null : sum / 10 / talk.length;
    case 'talk_median':
      return over10(rank(talk, 1, 2));
    case 'talk_p90':
      return over10(rank(talk, 9, 10));
    case 'callers':
      return perCaller.size;
    case 'repeat_callers':
      return [...perCaller.values()].filter((count) => count > 1).length;
    case 'first_time_callers':
      return calls.filter(({ isFirst }) => isFirst).length;
    case 'lag_median':
      return over10(rank(present(calls.map(({ lag }) => lag)), 1, 2));
    case 'first':
      return times.length === 0 ? null : formatNaive(Math.min(...times));
    case 'last':
      return times.length === 0 ? null : formatNaive(Math.max(...times));
    case 'value':
      return calls.reduce((total, each) => total + (worth(each, values) ?? 0), 0);
  }
}

function worth({ talk, record }: Facts, table: WorthRules | undefined): number | null {
  for (const { minTalk, maxTalk, campaign, value } of table?.rules ?? []) {
    if (minTalk !== undefined && !(talk !== null && talk * 6_000 >= durationMillis(minTalk, 'minTalk')))
      continue;
    if (maxTalk !== undefined && !(talk !== null && talk * 6_000 < durationMillis(maxTalk, 'maxTalk')))
      continue;
    const name = record.ppc_campaign;
    if (
      campaign !== undefined &&
      !(typeof name === 'string' && like(campaign.replaceAll('*', '%'), true).test(name))
    )
      continue;
    return value;
  }
  return table?.otherwise ?? null;
}

export interface OracleAnswer {
  readonly rows: readonly Record<string, AnswerValue>[];
  readonly total: Record<string, AnswerValue>;
  readonly calls: number;
}

const columnOf = (name: Measure): string => (typeof name === 'object' ? `distinct_${name.distinct}` : name);

interface Span {
  readonly from: number | null;
  readonly to: number | null;
}

/** The answer to a question without `having`, `order`, `limit` and `topPer`; rows are in no particular order. */
export function answerOf(rows: readonly Row[], question: Question, test: Test | null): OracleAnswer {
  const { groupBy = [], measures = ['calls'], values, compare: compared } = question;
  const facts = factsOf(rows, question);
  const millis = (text: string | undefined): number | null =>
    text === undefined ? null : (parseTime(text)?.millis ?? null);
  const span: Span = { from: millis(question.from), to: lastMoment(question.to) };
  const chosen = facts.filter(
    (each) =>
      (question.accounts === undefined || question.accounts.includes(each.row.account)) &&
      (question.calls === undefined ||
        question.calls === 'all' ||
        (question.calls === 'extensions') === each.isExtension) &&
      (test === null || holds(test, each) === true),
  );
  const within = ({ from, to }: Span) =>
    chosen.filter(
      ({ time }) =>
        (from === null && to === null) ||
        (time !== null && (from === null || time >= from) && (to === null || time < to)),
    );
  const now = within(span);
  const past = compared === undefined ? [] : within(pastSpan(compared, span));
  const pastStart = compared === undefined ? span : pastSpan(compared, span);
  const keyOf = (each: Facts, start: Span) => groupBy.map((name) => bucketKey(name, each, start));
  const groups = new Map<string, { key: AnswerValue[]; now: Facts[]; past: Facts[] }>();
  const groupAt = (key: AnswerValue[]) => {
    const id = JSON.stringify(key);
    const group = groups.get(id) ?? { key, now: [], past: [] };
    groups.set(id, group);
    return group;
  };
  for (const each of now) groupAt(keyOf(each, span)).now.push(each);
  for (const each of past) groupAt(keyOf(each, pastStart)).past.push(each);
  for (const key of emptyKeys(
    groupBy,
    [...groups.values()].map(({ key: own }) => own),
    span,
  ))
    groupAt(key);
  const rowOf = (own: readonly Facts[], before: readonly Facts[], isNow: boolean, isPast: boolean) => {
    const row: Record<string, AnswerValue> = {};
    for (const name of measures) {
      const after = isNow ? measure(name, own, now.length, values) : null;
      row[columnOf(name)] = own.length === 0 && isNow ? emptyOf(name) : after;
      if (compared === undefined) continue;
      const earlier = isPast
        ? before.length === 0
          ? emptyOf(name)
          : measure(name, before, past.length, values)
        : null;
      row[`${columnOf(name)}_before`] = earlier;
      const value = row[columnOf(name)];
      if (name === 'first' || name === 'last') continue;
      row[`${columnOf(name)}_change`] =
        typeof value === 'number' && typeof earlier === 'number'
          ? Number((value - earlier).toPrecision(12))
          : null;
    }
    return row;
  };
  return {
    calls: now.length,
    total: rowOf(now, past, true, true),
    rows: [...groups.values()].map(({ key, now: own, past: before }) => ({
      ...Object.fromEntries(groupBy.map((name, i) => [name, shownKey(name, key[i] ?? null, span)])),
      ...rowOf(own, before, isWithin(groupBy, key, span), isWithin(groupBy, key, pastStart)),
    })),
  };
}

const emptyOf = (name: Measure): 0 | null =>
  typeof name === 'object' ||
  !['missed_rate', 'talk_mean', 'talk_median', 'talk_p90', 'lag_median', 'first', 'last'].includes(name)
    ? 0
    : null;

/** A date includes its day. */
function lastMoment(text: string | undefined): number | null {
  if (text === undefined) return null;
  const typed = text.length === '2026-11-20'.length ? `${text} 24:00` : text;
  return Date.parse(`${typed.replace(' ', 'T')}Z`);
}

function pastSpan(compared: NonNullable<Question['compare']>, { from, to }: Span): Span {
  if (typeof compared === 'object')
    return { from: parseTime(compared.from)?.millis ?? 0, to: lastMoment(compared.to) };
  const [start, end] = [from ?? 0, to ?? 0];
  if (compared === 'year') return { from: addMonths(start, -12), to: addMonths(end, -12) };
  const isFirst = (millis: number) => formatNaive(millis).endsWith('-01 00:00:00');
  if (!isFirst(start) || !isFirst(end)) return { from: start - (end - start), to: start };
  let months = 0;
  while (addMonths(start, months) < end) months += 1;
  return { from: addMonths(start, -months), to: start };
}

const isBucket = (name: string): boolean => ['day', 'week', 'month'].includes(name);

/** Days, weeks and months are counted from the one in which the period begins. */
function bucketKey(name: string, facts: Facts, { from }: Span): AnswerValue {
  if (!isBucket(name)) return fieldOf(name, facts);
  return facts.time === null ? null : bucketNumber(name, facts.time) - bucketNumber(name, from ?? 0);
}

function bucketNumber(name: string, millis: number): number {
  if (name === 'day') return Math.floor(millis / day);
  if (name === 'week') return Math.floor((Math.floor(millis / day) + 3) / 7);
  const date = new Date(millis);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function shownKey(name: string, key: AnswerValue, { from }: Span): AnswerValue {
  if (!isBucket(name) || key === null) return key;
  const number = bucketNumber(name, from ?? 0) + Number(key);
  if (name === 'day') return dateText(number * day);
  if (name === 'week') return dateText((number * 7 - 3) * day);
  return `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`;
}

function isWithin(groupBy: readonly string[], key: readonly AnswerValue[], { from, to }: Span): boolean {
  return groupBy.every((name, i) => {
    const at = key[i];
    if (!isBucket(name) || at === null || at === undefined || from === null || to === null) return true;
    return Number(at) >= 0 && Number(at) <= bucketNumber(name, to - 1) - bucketNumber(name, from);
  });
}

/** Every value of the other groups with every bucket of time. */
function emptyKeys(
  groupBy: readonly string[],
  keys: readonly AnswerValue[][],
  { from, to }: Span,
): AnswerValue[][] {
  const isTime = (name: string) => isBucket(name) || name === 'weekday' || name === 'hour';
  if (!groupBy.some(isTime)) return [];
  const others = groupBy.flatMap((name, i) => (isTime(name) ? [] : [i]));
  let found: AnswerValue[][] = [];
  if (others.length === 0) found = [[]];
  else {
    const seen = new Map(keys.map((key) => [JSON.stringify(others.map((i) => key[i])), key]));
    found = [...seen.values()].map((key) =>
      groupBy.map((_, i) => (others.includes(i) ? (key[i] ?? null) : null)),
    );
  }
  groupBy.forEach((name, i) => {
    if (!isTime(name)) return;
    const numbers = keys.flatMap((key) => (typeof key[i] === 'number' ? [key[i]] : []));
    const series: AnswerValue[] =
      name === 'weekday'
        ? weekdays
        : name === 'hour'
          ? Array.from({ length: 24 }, (_, hour) => hour)
          : range(
              from === null ? Math.min(...numbers) : 0,
              from === null || to === null
                ? Math.max(...numbers)
                : bucketNumber(name, to - 1) - bucketNumber(name, from),
            );
    found = found.flatMap((key) => series.map((value) => Object.assign([...key], { [i]: value })));
  });
  return found;
}

const range = (first: number, last: number): number[] =>
  Number.isFinite(first) && Number.isFinite(last) && last >= first
    ? Array.from({ length: last - first + 1 }, (_, i) => first + i)
    : [];
