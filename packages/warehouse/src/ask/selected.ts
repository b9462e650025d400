import type { Period, PlannedCondition } from '@call-attribution/questions';
import { fn } from '../sql/functions.ts';
import { and, column, isIn, not, op, type Sql, value } from '../sql/tree.ts';
import { conditionSql, timeSql } from '../where/sql.ts';
import { fieldNames, needsSequences, sourceOf, termsOf } from './fields.ts';
import type { StoredSelection } from './select.ts';

/** The calls of a selection as a condition over `records`. */
export function selected(
  plan: StoredSelection,
  { channel = true, period = plan.period }: { channel?: boolean | 'other'; period?: Period | null } = {},
): Sql {
  const { accounts, calls, conditions } = plan;
  const parts = conditions.map((condition) => meets(plan, condition));
  if (accounts) parts.push(isIn(column('account'), accounts.map(value)));
  const extension = column('is_extension');
  if (calls !== 'all' && channel)
    parts.push((calls === 'extensions') === (channel === true) ? extension : not(extension));
  if (period) parts.push(...within(plan, period));
  return and(...parts);
}

/** A condition over `records`. What follows from the other calls of a caller is looked up among all of them. */
function meets(plan: StoredSelection, { condition, asSent }: PlannedCondition): Sql {
  const sql = conditionSql(condition, termsOf(plan, asSent ? column('date_added') : plan.time));
  const names = fieldNames(plan, condition);
  if (!names.some(needsSequences)) return sql;
  const call = fn.row(column('account'), column('sid'));
  return isIn(call, { columns: [{ sql: call, as: null }], source: sourceOf(names), where: sql });
}

function within({ time, mostShift }: StoredSelection, { from, to }: Period): Sql[] {
  const parts: Sql[] = [];
  if (from !== null) parts.push(op('>=', time, timeSql(from)));
  if (to !== null) parts.push(op('<', time, timeSql(to)));
  if (mostShift > 0) {
    // Times as they are stored let DuckDB skip blocks; moved times do not.
    const added = column('date_added');
    if (from !== null) parts.push(op('>=', added, timeSql(from - mostShift)));
    if (to !== null) parts.push(op('<', added, timeSql(to + mostShift)));
  }
  return parts;
}
