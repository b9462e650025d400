import {
  type ClosedPeriod,
  day,
  everything,
  formatNaive,
  intersect,
  type Period,
  periodOf,
} from '@call-attribution/core/time';
import { wordList } from '../conditions/condition.ts';
import { option, refuse } from '../errors.ts';
import { valueSteps } from '../fields/batch.ts';
import { dayNumber, isBucket, startOfDay } from '../fields/calendar.ts';
import type { ReadField } from '../fields/derived.ts';
import { alignmentOf, timeKey } from './buckets.ts';
import type { Question, Spend, SpendAmount } from './question.ts';

// What was spent, laid on the periods and the time groups of a question. Which of the other groups
// a name means is known when the calls are counted.

/** What was spent on a name in a group by time. */
export interface Spent {
  readonly name: string | null;
  /** The key of the group by time; null where there is none. */
  readonly bucket: number | null;
  /** In steps of which `valueSteps` make 1, as all amounts from here on: so sums are exact. */
  readonly amount: number;
}

/** Spend that was laid on the periods of a question. */
export interface PlannedSpend {
  readonly now: readonly Spent[];
  /** The same of the compared period; null where that is not known. */
  readonly past: readonly Spent[] | null;
  /** What lies outside of both periods. */
  readonly outside: { readonly rows: number; readonly amount: number };
  /** What a reader should know. */
  readonly said: readonly string[];
}

const fieldWords: Readonly<Record<string, string>> = {
  ppc_campaign: 'campaigns',
  ppc_adgroup: 'ad groups',
  ppc_keywords: 'keywords',
};

/** What a question is about, as far as spend depends on it. */
interface Asked {
  readonly groups: readonly ReadField[];
  /** The period, of which a comparison may be up to a part. */
  readonly period: Period;
  /** The whole of it. */
  readonly whole: Period;
  readonly compared: ClosedPeriod | null;
  /** The naive time of now. */
  readonly now: number;
}

/**
 * What leaves out calls that were paid for, in words; null where nothing does. `sent`: the times
 * that a filter of the API allows.
 */
export function narrowing({
  conditions,
  exclude,
  calls,
  sent,
}: {
  readonly conditions: readonly unknown[];
  readonly exclude: object | null;
  readonly calls: 'all' | 'website' | 'extensions';
  readonly sent: Period;
}): string | null {
  if (exclude !== null) return 'an exclusion (--no-exclude or no_exclude leaves it out)';
  if (conditions.length > 0 || sent !== everything) return 'a condition';
  return calls === 'all' ? null : 'calls of one channel';
}

/** Is it known what was spent on single days? */
export const isDaily = (given: Question['spend']): boolean =>
  Array.isArray(given) &&
  (given as readonly Spend[]).some(({ amounts }) =>
    amounts.some(({ period }) => period !== null && period.to - period.from <= day),
  );

/** Why cost per call is not given. */
export const noCostPerCall = (narrows: string): string =>
  `Cost per call is not given with ${narrows}, since what was spent is for all calls.`;

/** Lays spend on a question, and refuses what does not go together. */
export function planSpend(
  given: NonNullable<Question['spend']>,
  asked: Asked,
  narrows: string | null,
): PlannedSpend {
  const { groups } = asked;
  const named = groups.filter(({ isTime }) => !isTime);
  const times = groups.filter(({ isTime }) => isTime);
  const [field] = named;
  const [time = null] = times;
  const isList = !Array.isArray(given);
  const isKnown = isList ? field?.type === 'text' : (field?.name ?? '') in fieldWords;
  if (isList && (!isKnown || groups.length !== 1))
    throw refuse`${option('spend')} goes with one group of names: what was spent on each of them is given.`;
  if (!isKnown || named.length !== 1 || times.length > 1 || (time && !isBucket(time.name)))
    throw refuse`${option('spend')} goes with campaign, ad_group or keyword in ${option('groupBy')}, alone or with one of day, week and month.`;
  const of = field as ReadField;
  const all: readonly Spend[] = Array.isArray(given) ? given : [listed(of, given as object)];
  refuseCurrencies(all);
  const laid = all.map((spend) => laySpend(spend, of, time, asked));
  const hasPast = laid.every(({ past }) => past !== null);
  const rows = laid.reduce((sum, { outside }) => sum + outside.rows, 0);
  const amount = laid.reduce((sum, { outside }) => sum + outside.amount, 0);
  return {
    now: laid.flatMap(({ now }) => now),
    past: hasPast ? laid.flatMap(({ past }) => past ?? []) : null,
    outside: { rows, amount },
    said: [
      ...laid.flatMap(({ said }) => said).filter((each) => each !== ''),
      ...(narrows === null ? [] : [noCostPerCall(narrows)]),
    ],
  };
}

function refuseCurrencies(all: readonly Spend[]): void {
  const named = all.filter(({ currency }) => currency !== null);
  const [first] = named;
  const other = named.find(({ currency }) => currency !== first?.currency);
  if (first !== undefined && other !== undefined)
    throw refuse`${first.called} is in ${first.currency ?? ''} and ${other.called} in ${other.currency ?? ''}: amounts of two currencies never add up. Ask about one of them.`;
}

/** Spend that was written as names and amounts. */
function listed({ name }: ReadField, amounts: object): Spend {
  const all = Object.entries(amounts).map(([each, amount], i) => ({
    row: i + 1,
    names: [each],
    period: null,
    amount: Number(amount),
  }));
  return { called: '', said: '', currency: null, fields: [name], covers: null, amounts: all };
}

function laySpend(
  spend: Spend,
  field: ReadField,
  time: ReadField | null,
  asked: Asked,
): PlannedSpend {
  const { called, fields, amounts, covers } = spend;
  const { groups, period, compared } = asked;
  const at = fields.indexOf(field.name);
  if (at < 0) {
    const known = wordList(
      fields.map((name) => fieldWords[name] ?? name),
      'and',
    );
    throw refuse`${called} says what was spent on ${known}, not on ${fieldWords[field.name] ?? field.name}: it cannot be divided. Group by what it has, or download it again with a column for them.`;
  }

  const now: Spent[] = [];
  const past: Spent[] = [];
  const outside = { rows: 0, amount: 0 };
  const isDated = amounts.some((each) => each.period !== null);
  if (!isDated) refuseOtherPeriod(spend, time, asked);
  const said = [spend.said, ...(isDated ? [gapIn(spend, asked)] : [])];
  if (!isDated && covers === null && called !== '')
    said.push(`${called} has no days and does not say which it is of: all of it counts.`);

  const keyNow = time && timeKey(time.name);
  const keyPast = time && timeKey(time.name, alignmentOf(groups, period, compared));
  for (const each of amounts) {
    const own = each.period;
    const amount = Math.round(each.amount * valueSteps);
    const name = each.names[at] ?? null;
    const isNow = own === null || liesIn(own, period, spend, each);
    if (isNow) now.push({ name, amount, bucket: bucketOf(own, keyNow, spend, each) });
    const isPast = own !== null && compared !== null && liesIn(own, compared, spend, each);
    if (isPast) past.push({ name, amount, bucket: bucketOf(own, keyPast, spend, each) });
    if (isNow || isPast) continue;
    outside.rows += 1;
    outside.amount += amount;
  }

  const isPastKnown = isDated && compared !== null && isWithin(compared, coverage(spend));
  if (compared !== null && !isPastKnown && called !== '')
    said.push(`${called} is not of the period compared with: spend has no value before.`);
  return { now, past: isPastKnown ? past : null, outside, said };
}

/** A file without days is of one period, which has to be that of the question. */
function refuseOtherPeriod(
  { called, covers, amounts }: Spend,
  time: ReadField | null,
  { whole: period, now }: Asked,
): void {
  if (time !== null)
    throw refuse`${called} has no column of days, so it cannot be divided by ${time.name}. Download it again by day.`;
  if (covers === null || amounts.length === 0) return;
  const today = startOfDay(dayNumber(now) + 1);
  const isOpen = period.to === null || period.to > now;
  const isSame =
    period.from === covers.from && (period.to === covers.to || (isOpen && covers.to === today));
  if (isSame) return;
  const end = period.to === null ? 'on' : `to before ${formatNaive(period.to)}`;
  const asked = period.from === null ? 'all of time' : `from ${formatNaive(period.from)} ${end}`;
  throw refuse`${called} is of ${daysOf(covers)} and has no column of days, and the period is ${asked}. Ask for ${option('period')} "${rangeOf(covers)}", or download it again by day.`;
}

/** The days that the amounts are of: as the file says, else from the first to the last one. */
function coverage({ covers, amounts }: Spend): ClosedPeriod {
  const dated = amounts.flatMap(({ period }) => period ?? []);
  return (
    covers ??
    periodOf(
      dated.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY),
      dated.reduce((most, { to }) => Math.max(most, to), Number.NEGATIVE_INFINITY),
    )
  );
}

const isWithin = (one: Period, other: ClosedPeriod): boolean =>
  (one.from ?? Number.NEGATIVE_INFINITY) >= other.from &&
  (one.to ?? Number.POSITIVE_INFINITY) <= other.to;

/** The part of the period so far that the file is not of: calls of these days cost nothing. */
function gapIn(spend: Spend, { period, now }: Asked): string {
  const known = coverage(spend);
  if (period.from === null)
    throw refuse`${spend.called} is of ${daysOf(known)}, and the period has no beginning: calls before would count as if they had cost nothing. Ask for ${option('period')} "${rangeOf(known)}".`;
  const end = Math.min(period.to ?? now, now);
  if (isWithin({ ...period, to: end }, known)) return '';
  return `${spend.called} is of ${daysOf(known)} alone: on the other days of the period calls count, and no spend.`;
}

/** Does an amount lie in a period? One that lies there in part cannot be divided. */
function liesIn(own: ClosedPeriod, period: Period, spend: Spend, { row }: SpendAmount): boolean {
  const common = intersect(own, period);
  if (common === null) return false;
  if (common.from === own.from && common.to === own.to) return true;
  const next =
    own.to - own.from <= day
      ? 'Ask for a period of whole days that are over.'
      : 'Ask for whole weeks or months, or download it again by day.';
  throw refuse`${spend.called}, row ${row}: the amount is of ${daysOf(own)}, and only a part of that is in the period or in the one compared with. ${next}`;
}

/** The key of the time group that an amount belongs to. */
function bucketOf(
  own: ClosedPeriod | null,
  keyAt: ((time: number) => number) | null,
  spend: Spend,
  { row }: SpendAmount,
): number | null {
  if (own === null || keyAt === null) return null;
  const key = keyAt(own.from);
  if (key === keyAt(own.to - 1)) return key;
  throw refuse`${spend.called}, row ${row}: the amount is of ${daysOf(own)}, which is more than one group by time. Group by longer stretches, or download it again by day.`;
}

const dateOf = (millis: number): string => formatNaive(millis).slice(0, 10);

/** The days of a period, its last one included, as a period that can be typed. */
const rangeOf = ({ from, to }: ClosedPeriod): string => `${dateOf(from)} to ${dateOf(to - day)}`;

const daysOf = (period: ClosedPeriod): string =>
  period.to - period.from <= day ? dateOf(period.from) : rangeOf(period);
