import type { Session } from '../file/session.ts';
import { Parameters } from '../where/sql.ts';
import type { AccountStatus, Answer, LeftOut } from './answer.ts';
import { composeSpendWithoutCalls, selected } from './compose.ts';
import type { Plan, SelectionPlan } from './plan.ts';

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

/** Calls of the period and the conditions that are not counted because of their channel, or in no period. */
export async function callsLeftOut(session: Session, plan: SelectionPlan): Promise<LeftOut[]> {
  const found: LeftOut[] = [];
  const countOf = async (where: (parameters: Parameters) => string, code: LeftOut['code']) => {
    const parameters = new Parameters();
    const { n } = await session.one(
      `SELECT count(*) AS n FROM records WHERE ${where(parameters)}`,
      parameters.values,
    );
    if (Number(n) > 0) found.push(explainLeftOut(code, Number(n)));
  };
  if (plan.calls !== 'all') {
    const code = plan.calls === 'website' ? 'extensions' : 'website';
    await countOf((parameters) => selected(plan, parameters, { channel: 'other' }), code);
  }
  if (plan.period.from !== null || plan.period.to !== null) {
    await countOf(
      (parameters) => `${selected(plan, parameters, { period: null })} AND date_added IS NULL`,
      'no_time',
    );
  }
  return found;
}

/** Names without a call in the period. A group that `having` or `limit` keeps from being shown has calls. */
export async function spendLeftOut(session: Session, plan: Plan): Promise<LeftOut[]> {
  if (plan.spend === null) return [];
  const { sql, parameters } = composeSpendWithoutCalls(plan, plan.spend);
  const found = new Set((await session.all(sql, parameters.values)).map(({ name }) => name));
  const names = plan.spend.entries.flatMap(({ name }) => (found.has(name) ? [name] : []));
  return names.length === 0 ? [] : [explainLeftOut('spend_without_calls', names.length, names)];
}
