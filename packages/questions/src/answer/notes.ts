import { formatCounted } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { day, formatNaive, hour } from '@call-attribution/core/time';
import { wordList } from '../conditions/condition.ts';
import { isBucket } from '../fields/calendar.ts';
import type { Answer, Note } from '../question/answer.ts';
import { groupValue, isTimeSpan } from '../question/buckets.ts';
import { shownMoment } from '../question/measures.ts';
import { dependsOnEarlier } from '../question/needs.ts';
import { growsWithTime, hasBefore, type ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';
import type { DataEnds } from './data-ends.ts';
import { countedStretch, daysIn } from './days.ts';
import { daysOfFewCalls, type FewCalls } from './few-calls.ts';
import { firstCallSentence } from './left-out.ts';
import { explainNothing } from './nothing-found.ts';

// What a number is counted of, where that could mislead. The one table of such notes is `kinds`: a
// code, what is looked for, how many calls that may change the number by, and the sentence. A new
// note is a new entry, a code of `Note`, and a trap: where it is said, and beside it where it has to
// be silent.

/** What notes are found in. */
interface Evidence {
  readonly plan: ReadPlan;
  readonly counted: Counted;
  readonly ends: DataEnds;
  /** The calls that the answer covers. */
  readonly calls: number;
}

/** A kind of note on what a number is counted of. `Fact` is what there is to say. */
interface NoteKind<Fact> {
  readonly code: Note['code'];
  /** Fewer calls than this, and than this part of those asked, are not worth a note. */
  readonly least: { readonly calls: number; readonly part: number };
  /** What there is to say, with the calls that it may change a number by. */
  find(evidence: Evidence): readonly { readonly fact: Fact; readonly calls: number }[];
  sentence(fact: Fact): string;
}

/** Most notes of an answer: those that change a number most. */
const most = 3;
/** Without it there is no right number at all. */
const all = Number.POSITIVE_INFINITY;
const anything = { calls: 0, part: 0 };

const kind = <Fact>(of: NoteKind<Fact>): NoteKind<unknown> => of as NoteKind<unknown>;

const kinds: readonly NoteKind<unknown>[] = [
  kind({
    code: 'no_match',
    least: anything,
    find: ({ plan, counted }) =>
      explainNothing(plan, counted.total.now, counted.values).map((fact) => ({ fact, calls: all })),
    sentence: (fact) => fact,
  }),
  kind({
    code: 'missing_field',
    least: anything,
    find: (evidence) => missingFields(evidence).map((fact) => ({ fact, calls: all })),
    sentence: (name) =>
      `No call has ${name}: only v3 has this field, and calls that were read with v2 lack it.`,
  }),
  kind({
    code: 'minutes',
    least: anything,
    find: ({ plan }) => plan.minutes.map((fact) => ({ fact, calls: all })),
    sentence: (name) => `The condition compares ${name}, which is in minutes: 60 seconds are 1.`,
  }),
  kind({
    code: 'per_day',
    least: anything,
    find: ofDifferentLength,
    sentence: ({ days, names }: DifferentLength) =>
      `The periods have ${days.join(' and ')} ${days[1] === 1 ? 'day' : 'days'}: compare the ${
        names.length === 1 ? 'change' : 'changes'
      } per day of ${wordList(names, 'and')}.`,
  }),
  kind({
    code: 'no_value',
    least: { calls: 5, part: 0.01 },
    find: leftByNegation,
    sentence: ({ calls, fields, measure }: LeftByNegation) => {
      const tests = fields.map((name) => `(… OR ${name} IS NULL)`);
      const which = `${formatCounted(calls, 'call')} without ${wordList(fields)}`;
      const why = `since a negation is not true of them either: ${wordList(tests, 'and')}`;
      if (measure === null)
        return `${which} ${calls === 1 ? 'is' : 'are'} left out, ${why} ${tests.length === 1 ? 'adds' : 'add'} them.`;
      return `In ${measure} ${which} ${calls === 1 ? 'counts' : 'count'} as no, ${why} ${tests.length === 1 ? 'counts' : 'count'} them.`;
    },
  }),
  kind({
    code: 'new_callers',
    least: anything,
    find: newCallers,
    sentence: (first: number) =>
      `Calls are known from ${dateOf(first)} on: who called before that counts as new.`,
  }),
  kind({
    code: 'first_call',
    least: anything,
    find: beforeData,
    sentence: ({ first, isCall }: { readonly first: number; readonly isCall: boolean }) =>
      isCall
        ? firstCallSentence(shownMoment(first))
        : `The copy has calls from ${shownMoment(first)} on: nothing is known of the period before it.`,
  }),
  kind({
    code: 'last_call',
    least: anything,
    find: afterData,
    sentence: (last: number) =>
      `The last call is from ${shownMoment(last)}: nothing is known of the period after it.`,
  }),
  kind({
    code: 'empty_days',
    least: anything,
    find: emptyDays,
    sentence: (dates: readonly string[]) =>
      `${dates.length === 1 ? 'Day' : 'Days'} without any call: ${shortList(dates, 10)}.`,
  }),
  kind({
    code: 'few_calls',
    least: anything,
    find: fewCalls,
    sentence: (days: readonly FewCalls[]) => {
      const said = days.map(({ date, calls, usual }) => `${date} (${calls}, usually ${usual})`);
      return `Few calls on ${shortList(said, 5)}: less than a tenth of what the day of the week has.`;
    },
  }),
];

/** Is a note about the condition, and not about a period: then it holds of a list of calls too? */
export const isOfCondition = ({ code }: Pick<Note, 'code'>): boolean =>
  code === 'no_match' || code === 'no_value' || code === 'minutes';

const dateOf = (millis: number): string => formatNaive(millis).slice(0, 10);

const shortList = (words: readonly string[], most: number): string =>
  words.length > most
    ? `${words.slice(0, most).join(', ')} and ${words.length - most} more`
    : words.join(', ');

const onlyOfV3: ReadonlySet<string> = new Set(
  fields.filter(({ v2 }) => v2 === null).map(({ name }) => name),
);

/**
 * Groups by fields that no call has, where nothing but the calls themselves can be the reason: not
 * a condition, not a limit.
 */
function missingFields({ plan, counted, calls: total }: Evidence): string[] {
  const { groups, conditions, calls, limit } = plan;
  const found = counted.groups;
  if (total === 0 || conditions.length > 0 || calls !== 'all' || found.length > limit) return [];
  const lacked = groups.filter(
    ({ name }, at) => onlyOfV3.has(name) && found.every(({ key }) => (key[at] ?? null) === null),
  );
  return lacked.map(({ name }) => name);
}

/** Periods of which one has more days that count, and the measures that have more for it. */
interface DifferentLength {
  readonly days: readonly number[];
  readonly names: readonly string[];
}

function ofDifferentLength({ plan, calls }: Evidence) {
  const { changesPerDay, compared, period, measures } = plan;
  const grown = measures.filter((each) => growsWithTime(each) && hasBefore(plan, each));
  const names = grown.map(({ column }) => column);
  if (!changesPerDay || compared === null || names.length === 0) return [];
  const days = [period, compared].map((each) => {
    const own = daysIn({ ...plan, groups: [] }, countedStretch(plan, each, []));
    return Number((own([]) ?? 0).toFixed(1));
  });
  return days[0] === days[1] ? [] : [{ fact: { days, names }, calls }];
}

/** Calls that a negation leaves out, or counts as no in a measure, because they have no value. */
interface LeftByNegation {
  readonly calls: number;
  readonly fields: readonly string[];
  readonly measure: string | null;
}

function leftByNegation({ plan, counted }: Evidence) {
  const found: LeftByNegation[] = [];
  const own = [...counted.withoutValue].sort(([, a], [, b]) => b - a);
  if (own[0] !== undefined)
    found.push({ calls: own[0][1], fields: own.map(([field]) => field), measure: null });
  for (const { column, lenient, parts } of plan.measures) {
    const [part = 0] = parts;
    if (lenient === null) continue;
    const calls = (counted.total.now[lenient.part] ?? 0) - (counted.total.now[part] ?? 0);
    found.push({ calls, fields: lenient.fields, measure: column });
  }

  return found.map((fact) => ({ fact, calls: fact.calls }));
}

/** Who is new is only known some time after the data begins. */
const untilNewIsKnown = 90 * day;

function newCallers({ plan, counted, calls }: Evidence) {
  if (!dependsOnEarlier(plan)) return [];
  const hours = [...counted.hours.keys()];
  const first = counted.first ?? hours.reduce((least, at) => Math.min(least, at * hour), all);
  if (first === all) return [];
  const after = (plan.period.from ?? first) - first;
  if (after >= untilNewIsKnown) return [];
  return [{ fact: first, calls: calls * (1 - Math.max(0, after) / untilNewIsKnown) }];
}

/** The first call, where a period begins before it, or the first day, week or month does. */
function beforeData({ plan, counted, ends, calls }: Evidence) {
  const { period, compared } = plan;
  const isAsked = period.from !== null || (compared?.from ?? null) !== null;
  const fact = { first: ends.first, isCall: ends.first !== counted.since };
  return ends.first === null || !isAsked ? [] : [{ fact, calls }];
}

/** The last call, where the period, or its last day, week or month, goes on after it. */
function afterData({ plan, ends, calls }: Evidence) {
  const isAsked = plan.period.to !== null || plan.groups.some(({ name }) => isBucket(name));
  return ends.last === null || !isAsked ? [] : [{ fact: ends.last, calls }];
}

/** The days without any call among the groups, from the first call that is known to the last. */
function emptyDays({ plan: { groups }, counted, calls: total }: Evidence) {
  const at = groups.findIndex(({ name }) => name === 'day');
  const field = groups[at];
  const { first, last } = counted;
  if (field === undefined || total === 0 || first === null || last === null) return [];
  const days = new Map<string, number>();
  for (const { key, now } of counted.groups) {
    const date = groupValue(field, key[at] ?? null);
    if (typeof date === 'string') days.set(date, (days.get(date) ?? 0) + (now?.[0] ?? 0));
  }

  const empty = [...days]
    .filter(([date, calls]) => calls === 0 && date >= dateOf(first) && date <= dateOf(last))
    .map(([date]) => date);
  if (empty.length === 0) return [];
  return [{ fact: empty.sort(), calls: (empty.length * total) / days.size }];
}

/** Days with hardly a call, where numbers of days are compared, drawn along time or divided by days. */
function fewCalls({ plan, counted, ends }: Evidence) {
  const { groups, measures, compared } = plan;
  const isByDay = groups.some(({ name }) => name === 'day');
  const isByTime = groups.some(({ name }) => isTimeSpan(name));
  if (compared === null && !isByTime && !measures.some(({ name }) => name === 'per_day')) return [];

  // Days without any are named already where each has a row.
  const days = daysOfFewCalls(plan, counted, ends).filter(({ calls }) => !isByDay || calls > 0);
  if (days.length === 0) return [];
  return [{ fact: days, calls: days.reduce((sum, { calls, usual }) => sum + usual - calls, 0) }];
}

/**
 * What else a reader of an answer should know: first how it was made, then, at most three, what its
 * numbers are counted of.
 */
export function notesOf(
  plan: ReadPlan,
  { period: { from, to, timeZone } }: Pick<Answer, 'period'>,
  counted: Counted,
  ends: DataEnds,
): Note[] {
  const notes: Note[] = [];
  const usesTime = plan.groups.some(({ isTime }) => isTime) || from !== null || to !== null;
  if (usesTime && timeZone === null)
    notes.push({
      code: 'no_time_zone',
      message:
        'Days and hours are as the API wrote the times; it does not say which time zone they are in.',
    });

  notes.push(...plan.periodNotes);
  const evidence = { plan, counted, ends, calls: counted.total.now[0] ?? 0 };
  const found = kinds.flatMap(({ code, least, find, sentence }) =>
    find(evidence).flatMap(({ fact, calls }) =>
      calls < least.calls || calls < least.part * (evidence.calls + calls)
        ? []
        : [{ note: { code, message: sentence(fact) }, calls }],
    ),
  );
  found.sort((a, b) => (a.calls === b.calls ? 0 : b.calls - a.calls));
  notes.push(...found.slice(0, most).map(({ note }) => note));

  for (const { account, calls, syncedAt, storedAt } of counted.accounts)
    if (calls > 0 && syncedAt === null && storedAt !== null)
      notes.push({
        code: 'not_synced',
        message: `No sync of account ${account} has finished yet: calls may be missing.`,
      });

  return notes;
}
