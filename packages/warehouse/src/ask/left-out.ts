import type { AccountStatus, Answer, LeftOut } from './answer.ts';

/** What an answer leaves out, as a sentence. */
export function explainLeftOut(code: LeftOut['code'], count: number, names: readonly string[] = []): LeftOut {
  const many = count.toLocaleString('en');
  const calls = count === 1 ? '1 call' : `${many} calls`;
  const sentences: Readonly<Record<LeftOut['code'], string>> = {
    no_time: `${calls} without a time that can be read ${count === 1 ? 'is' : 'are'} in no period.`,
    extensions: `${calls} through call extensions ${count === 1 ? 'is' : 'are'} not counted.`,
    website: `${calls} from visits of a website ${count === 1 ? 'is' : 'are'} not counted.`,
    no_talk_minutes: `${calls} without talk minutes that can be read ${count === 1 ? 'is' : 'are'} not in the measures of talk and missed calls.`,
    no_caller_number: `${calls} without a caller number ${count === 1 ? 'is' : 'are'} not in the measures of callers.`,
    no_lag: `${calls} without a visit before the call ${count === 1 ? 'is' : 'are'} not in the time from visit to call.`,
    no_value: `${calls} ${count === 1 ? 'has' : 'have'} no value by the rule table.`,
    groups: `${many} more ${count === 1 ? 'group is' : 'groups are'} not shown.`,
    empty_buckets: 'Empty stretches of time are not shown, because there would be too many rows.',
    spend_without_calls: `There was spend but no call for ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}.`,
  };
  return { code, count, message: sentences[code] };
}

/** What else a reader of an answer should know. */
export function notesOf(
  answer: Pick<Answer, 'period' | 'columns'>,
  usesTimeOfDay: boolean,
  statuses: readonly AccountStatus[],
  warnings: readonly string[],
): string[] {
  const notes = [...warnings];
  if (usesTimeOfDay && answer.period.timeZone === null) {
    notes.push('Days and hours are as the API wrote the times; it does not say which time zone they are in.');
  }
  const last = statuses
    .map((status) => status.last ?? '')
    .sort()
    .at(-1);
  if (answer.period.to !== null && last !== undefined && last !== '' && answer.period.to > last) {
    notes.push(`The last call is from ${last}: nothing is known of the period after it.`);
  }
  for (const { account, syncedAt, calls } of statuses) {
    if (syncedAt === null && calls > 0)
      notes.push(`No sync of account ${account} has finished yet: calls may be missing.`);
  }
  return notes;
}
