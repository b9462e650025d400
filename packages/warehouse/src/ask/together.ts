import { fn } from '../sql/functions.ts';
import { type Printed, printQuery } from '../sql/print.ts';
import { as, column, columnsOf, literal, type NamedQuery, op, type Query } from '../sql/tree.ts';
import { allCalls, composeRows, keysOf, partSql, shownKey, shownRows, typeIn } from './compose.ts';
import type { StoredPlan } from './select.ts';

const zero = literal(0);

/**
 * The statement of questions that count the same of the same calls, none of which is about callers or compares: one scan for all. Its rows
 * are as those of {@link composeRows}.
 */
export function composeTogether([one, ...others]: readonly [StoredPlan, ...StoredPlan[]]): Printed {
  if (others.length === 0) return composeRows({ ...one, bitmap: null });
  const plans = [one, ...others];
  const groups = [...new Map(plans.flatMap((plan) => plan.groups.map((each) => [each.name, each]))).values()];
  const all: StoredPlan = { ...one, groups };
  const keys = keysOf(all).map((key) => column(key));
  const keyOf = (name: string) => groups.findIndex((each) => each.name === name);
  /** What `grouping_id` gives the rows of a plan: a one for each group that it does not have. */
  const idOf = (plan: StoredPlan) =>
    groups.reduce((id, { name }) => id * 2 + (plan.groups.some((each) => each.name === name) ? 0 : 1), 0);
  const sets = new Map(
    plans.map((plan) => [idOf(plan), plan.groups.map(({ name }) => column(`k${keyOf(name)}`))]),
  );
  const main: Query = {
    columns: [
      as(fn.groupingId(...keys), 'g'),
      ...columnsOf(...keysOf(all)),
      ...all.parts.map((part, i) => as(partSql(part, i, typeIn(all, part)) ?? zero, `m${i}`)),
    ],
    source: { from: 'base' },
    groupingSets: [...sets.values()],
    having: op('>', fn.count(), zero),
  };
  const flat = plans.map((plan, at): NamedQuery => {
    const columns = [
      as(zero, 'p'),
      ...plan.groups.map(({ name }, i) => as(shownKey(name, column(`k${keyOf(name)}`)), `k${i}`)),
      ...columnsOf(...plan.parts.map((_, i) => `m${i}`)),
    ];
    const where = op('=', column('g'), literal(idOf(plan)));
    return { name: `flat${at}`, query: { columns, source: { from: 'main' }, where } };
  });
  return printQuery({
    with: [
      { name: 'base', query: allCalls(all), materialized: false },
      { name: 'main', query: main, materialized: true },
      ...flat,
    ],
    all: plans.map((plan, at) => ({
      columns: columnsOf('json'),
      source: { from: shownRows(plan, at, `flat${at}`), as: 'shown' },
    })),
  });
}
