import type { Condition, Period, PlannedCondition } from '@call-attribution/questions';
import { sequences } from '../tables/derived.ts';
import { type Parameters, printCondition, time as timeParameter } from '../where/sql.ts';
import { fieldNames, needsSequences, termsOf } from './fields.ts';
import type { StoredSelection } from './select.ts';

/** The calls of a selection as a condition over `records`. */
export function selected(
  plan: StoredSelection,
  parameters: Parameters,
  { channel = true, period = plan.period }: { channel?: boolean | 'other'; period?: Period | null } = {},
): string {
  const { accounts, calls, conditions } = plan;
  const parts = conditions.map((condition) => meets(plan, condition, parameters));
  if (accounts) parts.push(`account IN (${accounts.map((account) => parameters.put(account)).join(', ')})`);
  if (calls !== 'all' && channel)
    parts.push((calls === 'extensions') === (channel === true) ? 'is_extension' : 'NOT is_extension');
  if (period) parts.push(...within(plan, period, parameters));
  return parts.length === 0 ? 'true' : parts.join(' AND ');
}

/** A condition over `records`. What follows from the other calls of a caller is looked up among all of them. */
function meets(
  plan: StoredSelection,
  { condition, asSent }: PlannedCondition,
  parameters: Parameters,
): string {
  const sql = printCondition(condition, termsOf(plan, asSent ? 'date_added' : plan.time), parameters);
  if (!usesSequences(plan, condition)) return sql;
  return `(account, sid) IN (SELECT (account, sid) FROM ${sequences} WHERE ${sql})`;
}

/** Names a condition a field that follows from the other calls of a caller? */
export const usesSequences = (plan: StoredSelection, condition: Condition): boolean =>
  fieldNames(plan, condition).some(needsSequences);

function within(
  { time, mostShift }: StoredSelection,
  { from, to }: Period,
  parameters: Parameters,
): string[] {
  const parts: string[] = [];
  if (from !== null) parts.push(`${time} >= ${timeParameter(from, parameters)}`);
  if (to !== null) parts.push(`${time} < ${timeParameter(to, parameters)}`);
  if (mostShift > 0) {
    // Times as they are stored let DuckDB skip blocks; moved times do not.
    if (from !== null) parts.push(`date_added >= ${timeParameter(from - mostShift, parameters)}`);
    if (to !== null) parts.push(`date_added < ${timeParameter(to + mostShift, parameters)}`);
  }
  return parts;
}
