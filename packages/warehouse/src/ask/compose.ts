import { lagTenths } from '../tables/derived.ts';
import { Parameters, printCondition, time as timeParameter } from '../where/sql.ts';
import type { LeftOut } from './answer.ts';
import { fillEmptyBuckets } from './fill.ts';
import { bucketRange, groupSql, isBucket } from './groups.ts';
import { measureSpecs } from './measures.ts';
import type { ClosedPeriod, Period } from './period.ts';
import { cellsOf, havingTerms, type Plan, type SelectionPlan } from './plan.ts';
import { type Spend, spendTable } from './spend.ts';

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** The calls of a selection as a condition over `records`. */
export function selected(
  plan: SelectionPlan,
  parameters: Parameters,
  { channel = true, period = plan.period }: { channel?: boolean | 'other'; period?: Period | null } = {},
): string {
  const { accounts, calls, conditions } = plan;
  const parts = conditions.map(({ condition, vocabulary }) =>
    printCondition(condition, vocabulary, parameters),
  );
  if (accounts) parts.push(`account IN (${accounts.map((account) => parameters.put(account)).join(', ')})`);
  if (calls !== 'all' && channel)
    parts.push((calls === 'extensions') === (channel === true) ? 'is_extension' : 'NOT is_extension');
  if (period) parts.push(...within(plan, period, parameters));
  return parts.length === 0 ? 'true' : parts.join(' AND ');
}

function within({ time, mostShift }: SelectionPlan, { from, to }: Period, parameters: Parameters): string[] {
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

const list = (names: readonly string[]): string => names.map((name) => `${name}, `).join('');
const keysOf = (plan: Plan): string[] => plan.groups.map((_, i) => `k${i}`);

/** The moment from which buckets of time are counted in a period. */
export const bucketStart = ({ from }: Period): number => from ?? 0;

/** The calls of a period with their groups and what is measured of them, `p` 0 for the period and 1 for the one before. */
function calls(plan: Plan, period: Period, p: number, parameters: Parameters): string {
  const keys = plan.groups.map((group, i) => `${groupSql(group, plan.time, bucketStart(period))} AS k${i}`);
  const counted = plan.measures.flatMap(({ of }, i) => (of ? [`${of.sql} AS d${i}`] : []));
  const worth = plan.worth === null ? [] : [`${plan.worth(parameters)} AS worth`];
  const columns = [
    `${p} AS p`,
    ...keys,
    ...counted,
    ...worth,
    'talk_minutes AS talk',
    'is_first',
    'caller_no',
    `${lagTenths} AS lag`,
    `${plan.time} AS called`,
  ];
  return `SELECT ${columns.join(', ')} FROM records WHERE ${selected(plan, parameters, { period })}`;
}

/** The period of a question, and the one to compare with. */
const periodsOf = ({ period, compared }: Plan): Period[] => (compared ? [period, compared] : [period]);

/** One row for each group and period, with the measures as `m0`, `m1` and so on. */
function groupRows(plan: Plan, parameters: Parameters, extra: readonly string[] = []): string[] {
  const { measures } = plan;
  const keys = ['p', ...keysOf(plan)];
  const by = keys.join(', ');
  const needsCallers = measures.some(({ name }) => name === 'repeat_callers');
  const own = measures.map(({ name }, i) => {
    if (name === 'distinct') return `count(DISTINCT d${i}) AS m${i}`;
    if (!measureSpecs[name].perCaller) return `${measureSpecs[name].sql} AS m${i}`;
    if (needsCallers) return null;
    return plan.bitmap === null
      ? `count(DISTINCT caller_no) AS m${i}`
      : `coalesce(bit_count(bitstring_agg(caller_no, 0, ${plan.bitmap})), 0) AS m${i}`;
  });
  const perCaller = measures.map(({ name }, i) =>
    needsCallers && name !== 'distinct' && measureSpecs[name].perCaller
      ? `${measureSpecs[name].sql} AS m${i}`
      : null,
  );
  const branches = periodsOf(plan).map((each, p) => calls(plan, each, p, parameters));
  const present = (parts: readonly (string | null)[]) => parts.filter((part) => part !== null);
  const cells = measures.map(({ name }, i) => {
    const cell = perCaller[i] === null ? `main.m${i}` : `coalesce(callers.m${i}, 0)`;
    return `${name === 'share' ? `${cell} / sum(${cell}) OVER (PARTITION BY main.p)` : cell} AS m${i}`;
  });
  const same = keys.map((key) => `base.${key} IS NOT DISTINCT FROM main.${key}`).join(' AND ');
  return [
    `base AS NOT MATERIALIZED (${branches.join(' UNION ALL ')})`,
    `main AS MATERIALIZED (SELECT ${list(keys)}${present(['count(*) AS calls', ...own, ...extra]).join(', ')} FROM base GROUP BY ${by})`,
    // Numbers for the groups: a row for each caller of each group is then two integers, and not the names of the group.
    ...(needsCallers ? ['numbered AS MATERIALIZED (SELECT *, row_number() OVER () AS g FROM main)'] : []),
    ...(needsCallers && plan.bitmap === null
      ? [
          `per_caller AS (SELECT main.g AS g, caller_no, count(*) AS n FROM base JOIN numbered AS main ON ${same} WHERE caller_no IS NOT NULL GROUP BY 1, 2)`,
          `callers AS (SELECT g, ${present(perCaller).join(', ')} FROM per_caller GROUP BY 1)`,
        ]
      : []),
    ...(needsCallers && plan.bitmap !== null ? repeatedInBitmaps(plan, plan.bitmap) : []),
    `flat AS (SELECT ${keys.map((key) => `main.${key}, `).join('')}${['main.calls', ...cells, ...extra.map((_, i) => `main.x${i}`)].join(', ')}
       FROM ${needsCallers ? 'numbered AS main LEFT JOIN callers USING (g)' : 'main'})`,
  ];
}

/**
 * Callers of the totals of one account. A caller whose first call of all is counted, and another call too, is in both bitmaps;
 * only of callers whose first call is not counted do the calls have to be counted one by one.
 */
function repeatedInBitmaps({ measures }: Plan, last: number): string[] {
  const bitmap = `bitstring_agg(caller_no, 0, ${last})`;
  const cells = measures.flatMap(({ name }, i) => {
    if (name === 'callers') return [`coalesce(bit_count(coalesce(f | r, f, r)), 0) AS m${i}`];
    if (name !== 'repeat_callers') return [];
    const others = '(SELECT count(*) FROM others WHERE others.p = numbered.p)';
    return [`coalesce(bit_count(f & r), 0) + ${others} AS m${i}`];
  });
  return [
    `sets AS MATERIALIZED (SELECT p, ${bitmap} FILTER (is_first) AS f, ${bitmap} FILTER (NOT is_first) AS r FROM base GROUP BY p)`,
    `others AS MATERIALIZED (SELECT p, caller_no FROM base JOIN sets USING (p)
       WHERE NOT is_first AND caller_no IS NOT NULL AND coalesce(get_bit(f, caller_no::INTEGER) = 0, true)
       GROUP BY p, caller_no HAVING count(*) > 1)`,
    `callers AS (SELECT g, ${cells.join(', ')} FROM numbered JOIN sets USING (p))`,
  ];
}

/** The two periods next to each other: one row for each group. */
function pairRows({ compared, measures, groups }: Plan): string {
  const keys = groups.map((_, i) => `k${i}`);
  if (compared === null) return 'SELECT * FROM flat';
  const cells = measures.map((_, i) => `now.m${i} AS m${i}, past.m${i} AS m${i}_before`);
  const same = keys.map((key) => `now.${key} IS NOT DISTINCT FROM past.${key}`).join(' AND ');
  return `SELECT ${list(keys.map((key) => `coalesce(now.${key}, past.${key}) AS ${key}`))}now.calls AS calls, ${cells.join(', ')}
    FROM (SELECT * FROM flat WHERE p = 0) now FULL JOIN (SELECT * FROM flat WHERE p = 1) past ON ${same}`;
}

/** The measures of all groups, those without calls included. */
function filledCells(plan: Plan): string {
  const { measures, period, compared } = plan;
  const empty = (i: number): string => {
    const name = measures[i]?.name;
    return name === undefined || name === 'distinct' || measureSpecs[name].empty === 0 ? '0' : 'NULL';
  };
  const value = (cell: string, i: number, inside: string) =>
    `coalesce(${cell}, CASE WHEN ${inside} THEN ${empty(i)} END) AS ${cell}`;
  if (compared === null) return measures.map((_, i) => value(`m${i}`, i, 'true')).join(', ');
  const now = isInside(plan, { from: period.from ?? 0, to: period.to ?? 0 });
  const past = isInside(plan, compared);
  return measures.map((_, i) => `${value(`m${i}`, i, now)}, ${value(`m${i}_before`, i, past)}`).join(', ');
}

/** Is a group within a period? Of two periods the longer one has buckets of time that the other one lacks. */
function isInside({ groups }: Plan, { from, to }: ClosedPeriod): string {
  const parts = groups.flatMap(({ name }, i) => {
    if (!isBucket(name)) return [];
    const { first, last } = bucketRange(name, from, to);
    return [`(k${i} IS NULL OR k${i} BETWEEN ${first} AND ${last})`];
  });
  return parts.length === 0 ? 'true' : parts.join(' AND ');
}

/** Adds what was spent on each value of the only group. */
function spendColumns(
  { spend }: Plan,
  parameters: Parameters,
): { readonly columns: string; readonly join: string } {
  if (spend === null) return { columns: '', join: '' };
  return {
    columns: ', spent.amount AS spend, spent.amount / nullif(calls, 0) AS cost_per_call',
    join: `LEFT JOIN ${spendTable(spend, parameters)} spent ON filled.k0::${spend.type} = spent.key`,
  };
}

/**
 * The statement of the rows of a question. Each row is a JSON array: the groups, the measured columns, how many groups
 * there are in all, and how many groups were made up for empty buckets of time.
 */
export function composeRows(plan: Plan): Statement {
  const parameters = new Parameters();
  const keys = keysOf(plan);
  const cells = cellsOf(plan);
  const changes = cells.flatMap(({ cell, column }) =>
    column.kind === 'change'
      ? [`, ${cell.replace('_change', '')} - ${cell.replace('_change', '_before')} AS ${cell}`]
      : [],
  );
  const rows = groupRows(plan, parameters);
  const filling = fillEmptyBuckets(plan);
  const spend = spendColumns(plan, parameters);
  const nameOf = (column: string): string => {
    const group = plan.groups.findIndex(({ name }) => name === column);
    return group >= 0 ? `k${group}` : (cells.find((each) => each.column.name === column)?.cell ?? 'k0');
  };
  const order = [
    ...plan.order.map(
      ({ column, descending }) => `${nameOf(column)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
    ),
    ...keys.map((key) => `${key} ASC NULLS LAST`),
  ].join(', ');
  const having = plan.having === null ? 'true' : printCondition(plan.having, havingTerms(cells), parameters);
  const top =
    plan.topPer === null
      ? ''
      : `QUALIFY row_number() OVER (PARTITION BY k0 ORDER BY ${order}) <= ${plan.topPer}`;
  const shown = [
    ...keys,
    ...cells.map(({ cell, number }) => (number === 'time' ? `${cell}::VARCHAR` : cell)),
  ];
  return {
    parameters,
    sql: `WITH ${rows.join(',\n')},
paired AS MATERIALIZED (${pairRows(plan)}),
${filling.ctes.map((cte) => `${cte},\n`).join('')}filled AS (SELECT ${list(keys)}coalesce(calls, 0) AS calls, ${filledCells(plan)} FROM ${filling.table}),
named AS MATERIALIZED (SELECT filled.*${changes.join('')}${spend.columns} FROM filled ${spend.join}),
kept AS (SELECT * FROM named WHERE ${having} ${top})
SELECT json_array(${shown.join(', ')}, (SELECT count(*) FROM named), ${filling.count})::VARCHAR
FROM kept ORDER BY ${order} LIMIT ${plan.limit}`,
  };
}

/** The statement that counts the groups of a question. */
export function composeGroupCount(plan: Plan): Statement {
  const parameters = new Parameters();
  const keys = ['p', ...keysOf(plan)].join(', ');
  const branches = periodsOf(plan).map((period, p) => calls(plan, period, p, parameters));
  return {
    parameters,
    sql: `SELECT count(*)::INTEGER AS n FROM (SELECT 1 FROM (${branches.join(' UNION ALL ')}) GROUP BY ${keys})`,
  };
}

/** The statement of the names that something was spent on and that no call of the period has, one a row. */
export function composeSpendWithoutCalls(plan: Plan, spend: Spend): Statement {
  const parameters = new Parameters();
  const counted = `SELECT DISTINCT k0::${spend.type} AS key FROM (${calls(plan, plan.period, 0, parameters)})`;
  const spent = spendTable(spend, parameters);
  return { parameters, sql: `SELECT name FROM ${spent} ANTI JOIN (${counted}) counted USING (key)` };
}

/** The statement of the totals: for each period the number of calls, the measures, and what they leave out. */
export function composeTotal(plan: Plan, leaves: readonly LeftOut['code'][]): Statement {
  const parameters = new Parameters();
  const whole: Plan = { ...plan, groups: [] };
  const counts: Partial<Record<LeftOut['code'], string>> = {
    no_talk_minutes: 'count(*) - count(talk)',
    no_caller_number: 'count(*) - count(caller_no)',
    no_lag: 'count(*) - count(lag)',
    no_value: 'count(*) - count(worth)',
  };
  const extra = leaves.map((code, i) => `${counts[code]} AS x${i}`);
  const rows = groupRows(whole, parameters, extra);
  const cells = plan.measures.map(({ name }, i) =>
    name !== 'distinct' && measureSpecs[name].number === 'time' ? `m${i}::VARCHAR` : `m${i}`,
  );
  return {
    parameters,
    sql: `WITH ${rows.join(',\n')} SELECT json_array(p, calls, ${[...cells, ...extra.map((_, i) => `x${i}`)].join(', ')})::VARCHAR FROM flat`,
  };
}
