import { fields } from '@call-attribution/core/record';
import { day, formatNaive } from '@call-attribution/core/time';
import { wordList } from '../conditions/condition.ts';
import type { Answer, Note } from '../question/answer.ts';
import { groupValue } from '../question/buckets.ts';
import { elapsedOf } from '../question/period.ts';
import { growsWithTime, type ReadPlan } from '../question/plan.ts';
import type { Counted } from './counted.ts';
import { explainNothing } from './nothing-found.ts';

const onlyOfV3: ReadonlySet<string> = new Set(
  fields.flatMap(({ name, v2 }) => (v2 === null ? [name] : [])),
);

/**
 * Groups by fields that no call has, where nothing but the calls themselves can be the reason: not
 * a condition, not a limit.
 */
function missingFields({ groups, conditions, calls, limit }: ReadPlan, counted: Counted): string[] {
  const { total, groups: found } = counted;
  if (total.now[0] === 0 || conditions.length > 0 || calls !== 'all' || found.length > limit)
    return [];
  return groups.flatMap(({ name }, at) =>
    onlyOfV3.has(name) && found.every(({ key }) => (key[at] ?? null) === null)
      ? [`No call has ${name}: only v3 has this field, and calls that were read with v2 lack it.`]
      : [],
  );
}

/** That the periods are of different length, and what follows from that. */
function changesPerDay({ changesPerDay, compared, period, measures, now }: ReadPlan): string[] {
  if (!changesPerDay || compared === null) return [];
  const [one, other] = [period, compared].map((each) =>
    Number(((elapsedOf(each, now) ?? 0) / day).toFixed(1)),
  );
  const names = measures.filter(growsWithTime).map(({ column }) => column);
  return [
    `The periods have ${one} and ${other} ${other === 1 ? 'day' : 'days'}: the change of ${wordList(names, 'and')} is per day.`,
  ];
}

/** The days without any call among the groups, from the first call that is known to the last. */
function emptyDays({ groups }: ReadPlan, counted: Counted, first = '', last = ''): string[] {
  const at = groups.findIndex(({ name }) => name === 'day');
  const field = groups[at];
  if (field === undefined || counted.total.now[0] === 0) return [];
  const days = new Map<string, number>();
  for (const { key, now } of counted.groups) {
    const date = groupValue(field, key[at] ?? null);
    if (typeof date === 'string') days.set(date, (days.get(date) ?? 0) + (now?.[0] ?? 0));
  }

  const empty = [...days].flatMap(([date, calls]) =>
    calls === 0 && date >= first.slice(0, 10) && date <= last.slice(0, 10) ? [date] : [],
  );
  if (empty.length === 0) return [];
  const named = empty.sort().slice(0, 10).join(', ');
  const more = empty.length > 10 ? ` and ${empty.length - 10} more` : '';
  return [`${empty.length === 1 ? 'Day' : 'Days'} without any call: ${named}${more}.`];
}

/** What else a reader of an answer should know. */
export function notesOf(
  plan: ReadPlan,
  { period: { from, to, timeZone } }: Pick<Answer, 'period'>,
  counted: Counted,
): Note[] {
  const notes: Note[] = [];

  const say = (code: Note['code'], ...messages: readonly string[]): void => {
    for (const message of messages) notes.push({ code, message });
  };

  const usesTime = plan.groups.some(({ isTime }) => isTime) || from !== null || to !== null;
  if (usesTime && timeZone === null)
    say(
      'no_time_zone',
      'Days and hours are as the API wrote the times; it does not say which time zone they are in.',
    );

  notes.push(...plan.periodNotes);
  say('per_day', ...changesPerDay(plan));
  say('no_match', ...explainNothing(plan, counted.total.now, counted.values));
  say('missing_field', ...missingFields(plan, counted));
  const known = counted.accounts.filter(({ calls }) => calls > 0);
  const [first] = known.flatMap((status) => status.first ?? []).sort();
  const [last] = known
    .flatMap((status) => status.last ?? [])
    .sort()
    .reverse();
  say('empty_days', ...emptyDays(plan, counted, first, last));
  const begin = [from, plan.compared && formatNaive(plan.compared.from)]
    .filter((time) => time !== null)
    .sort()[0];
  if (first !== undefined && begin !== undefined && begin < first.slice(0, 10))
    say('first_call', `The first call is from ${first}: nothing is known of the period before it.`);
  if (to !== null && last !== undefined && to > last)
    say('last_call', `The last call is from ${last}: nothing is known of the period after it.`);
  for (const { account, syncedAt, storedAt } of known)
    if (syncedAt === null && storedAt !== null)
      say('not_synced', `No sync of account ${account} has finished yet: calls may be missing.`);

  return notes;
}
