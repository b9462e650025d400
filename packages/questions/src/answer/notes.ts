import { fields } from '@call-attribution/core/record';
import { day, formatNaive } from '@call-attribution/core/time';
import type { Value } from '../conditions/condition.ts';
import { wordList } from '../conditions/names.ts';
import type { Answer, Note } from '../question/answer.ts';
import { groupValue } from '../question/buckets.ts';
import { growsWithTime } from '../question/columns.ts';
import { elapsedOf } from '../question/period.ts';
import { namedFields, type ReadQuestion } from '../question/plan.ts';
import type { Counted } from './counted.ts';
import { callsOf } from './left-out.ts';
import { explainNothing } from './nothing-found.ts';

/** A row of an answer, as far as notes are about it. */
interface NotedRow {
  readonly key: readonly Value[];
  /** Its calls in the period. */
  readonly calls: number;
}

const onlyOfV3: ReadonlySet<string> = new Set(fields.flatMap(({ name, v2 }) => (v2 === null ? [name] : [])));

/** Groups by fields that no call has, where nothing but the calls themselves can be the reason: not a condition, not a limit. */
function missingFields({ groups, conditions, calls, limit }: ReadQuestion, counted: Counted): string[] {
  const { total, groups: found } = counted;
  if (total.now[0] === 0 || conditions.length > 0 || calls !== 'all' || found.length > limit) return [];
  return groups.flatMap(({ name }, at) =>
    onlyOfV3.has(name) && found.every(({ key }) => (key[at] ?? null) === null)
      ? [`No call has ${name}: only v3 has this field, and calls that were read with v2 lack it.`]
      : [],
  );
}

/** Groups whose rows without a value are of two kinds, which look alike in texts. */
function emptyAndMissing({ groups }: ReadQuestion, rows: readonly NotedRow[]): string[] {
  return groups.flatMap(({ name }, at) => {
    const without = (none: Value) => rows.filter(({ key }) => (key[at] ?? null) === none);
    const callsIn = (own: readonly NotedRow[]) => callsOf(own.reduce((sum, { calls }) => sum + calls, 0));
    const [missing, empty] = [without(null), without('')];
    if (missing.length === 0 || empty.length === 0) return [];
    return [
      `${name} is missing in ${callsIn(missing)} and empty in ${callsIn(empty)}: both are shown as (none).`,
    ];
  });
}

const inDays = (millis: number): string => String(Number((millis / day).toFixed(1)));
const daysOf = (millis: number): string => (millis === day ? '1 day' : `${inDays(millis)} days`);

/** That the periods are of different length, and what follows from that. */
function changesPerDay({ changesPerDay, compared, period, measures, now }: ReadQuestion): string[] {
  if (!changesPerDay || compared === null) return [];
  const lengths = [period, compared].map((each) => elapsedOf(each, now) ?? 0);
  const names = measures.filter(growsWithTime).map(({ column }) => column);
  return [
    `The periods have ${inDays(lengths[0] ?? 0)} and ${daysOf(lengths[1] ?? 0)}: the change of ${wordList(names, 'and')} is per day.`,
  ];
}

const mostDays = 10;

/** The days without any call among the groups, from the first call that is known to the last. */
function emptyDays({ groups, settings }: ReadQuestion, counted: Counted, first = '', last = ''): string[] {
  const at = groups.findIndex(({ name }) => name === 'day');
  const field = groups[at];
  if (field === undefined || counted.total.now[0] === 0) return [];
  const days = new Map<string, number>();
  for (const { key, now } of counted.groups) {
    const date = groupValue(field, key[at] ?? null, settings);
    if (typeof date === 'string') days.set(date, (days.get(date) ?? 0) + (now?.[0] ?? 0));
  }
  const empty = [...days].flatMap(([date, calls]) =>
    calls === 0 && date >= first.slice(0, 10) && date <= last.slice(0, 10) ? [date] : [],
  );
  if (empty.length === 0) return [];
  const named = empty.sort().slice(0, mostDays);
  const more = empty.length > mostDays ? ` and ${empty.length - mostDays} more` : '';
  return [`${empty.length === 1 ? 'Day' : 'Days'} without any call: ${named.join(', ')}${more}.`];
}

/** What else a reader of an answer should know. */
export function notesOf(
  plan: ReadQuestion,
  answer: Pick<Answer, 'period'>,
  counted: Counted,
  rows: readonly NotedRow[],
): Note[] {
  const notes: Note[] = [];
  const say = (code: Note['code'], ...messages: readonly string[]): void => {
    for (const message of messages) notes.push({ code, message });
  };
  const { groups, period } = plan;
  const usesTime = groups.some(({ isTime }) => isTime) || period.from !== null || period.to !== null;
  if (usesTime && answer.period.timeZone === null)
    say(
      'no_time_zone',
      'Days and hours are as the API wrote the times; it does not say which time zone they are in.',
    );
  notes.push(...plan.periodNotes);
  say('per_day', ...changesPerDay(plan));
  say('no_match', ...explainNothing(plan, counted.total.now, counted.values));
  if (plan.zones.inZone !== null && namedFields(plan).includes('displayed_timestamp'))
    say(
      'as_sent',
      'displayed_timestamp is as the API wrote it; only the times of calls are moved to another zone.',
    );
  say('missing_field', ...missingFields(plan, counted));
  say('empty_and_missing', ...emptyAndMissing(plan, rows));
  const known = counted.accounts.filter(({ calls }) => calls > 0);
  const [first] = known.flatMap((status) => status.first ?? []).sort();
  const last = known
    .flatMap((status) => status.last ?? [])
    .sort()
    .at(-1);
  say('empty_days', ...emptyDays(plan, counted, first, last));
  const begin = [answer.period.from, plan.compared && formatNaive(plan.compared.from)]
    .filter((time) => time !== null)
    .sort()[0];
  if (first !== undefined && begin !== undefined && begin < first.slice(0, 10))
    say('first_call', `The first call is from ${first}: nothing is known of the period before it.`);
  if (answer.period.to !== null && last !== undefined && answer.period.to > last)
    say('last_call', `The last call is from ${last}: nothing is known of the period after it.`);
  for (const account of plan.accounts ?? []) {
    if (counted.accounts.some((each) => each.account === account)) continue;
    const { otherAccounts: others } = counted;
    const more = others.length === 0 ? '' : `; there are calls of ${others.slice(0, 10).join(', ')}`;
    say('unknown_account', `No call that was read is of the account ${JSON.stringify(account)}${more}.`);
  }
  for (const { account, syncedAt, storedAt, calls } of counted.accounts) {
    if (syncedAt === null && storedAt !== null && calls > 0)
      say('not_synced', `No sync of account ${account} has finished yet: calls may be missing.`);
  }
  return notes;
}
