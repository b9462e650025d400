import {
  type Alignment,
  alignmentOf,
  type Part,
  type Period,
  type QuestionField,
  unmoved,
  weekShift,
} from '@call-attribution/questions';
import { lagMillis, sequences } from '../tables/derived.ts';
import { Parameters, printCondition } from '../where/sql.ts';
import { fieldSql, needsSequences, termsOf } from './fields.ts';
import type { StoredPlan } from './select.ts';
import { selected, usesSequences } from './selected.ts';

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** A question at work: with the largest number of a caller, where callers are counted in a bitmap for each group. */
export type AskedPlan = StoredPlan & { readonly bitmap: number | null };

const list = (names: readonly string[]): string => names.map((name) => `${name}, `).join('');
const keysOf = (plan: StoredPlan): string[] => plan.groups.map((_, i) => `k${i}`);
const firstDay = "DATE '0001-01-01'";

/** The key of a group as SQL: the numbers that questions give to buckets of time, otherwise the value. */
function keySql(plan: StoredPlan, { name, isTime, type }: QuestionField, moved: Alignment): string {
  const { settings } = plan;
  if (!isTime) {
    const sql = fieldSql(name, plan.time, settings);
    return type === 'time' ? `epoch_ms(${sql})` : sql;
  }
  const time = moved.days === 0 ? plan.time : `(${plan.time} + INTERVAL (${moved.days}) DAY)`;
  const days = `(CAST(${time} AS DATE) - ${firstDay})`;
  switch (name) {
    case 'day':
      return days;
    case 'week':
      return `(${days} + ${weekShift(settings)}) // 7 + ${moved.week}`;
    case 'month':
      return `year(${time}) * 12 + month(${time}) - 1 + ${moved.month}`;
    case 'weekday':
      return `isodow(${time})`;
    default:
      return `hour(${time})`;
  }
}

/** What a part needs of each call, as a column of `base`. */
function inputSql(plan: StoredPlan, part: Part, parameters: Parameters): string | null {
  switch (part.kind) {
    case 'distinct':
    case 'without':
      return fieldSql(plan.fields.get(part.field)?.name ?? part.field, plan.time, plan.settings);
    case 'holds':
    case 'judged':
      return printCondition(part.condition, termsOf(plan, plan.time), parameters);
    default:
      return null;
  }
}

/** Needs a question the place of calls among those of their callers? Of its conditions `selected` takes care. */
function sourceOf(plan: StoredPlan): string {
  const isNeeded =
    plan.groups.some(({ name }) => needsSequences(name)) ||
    plan.parts.some(
      (part) =>
        ('condition' in part && usesSequences(plan, part.condition)) ||
        ('field' in part && needsSequences(plan.fields.get(part.field)?.name ?? part.field)),
    );
  return isNeeded ? `${sequences} records` : 'records';
}

/** The calls of a period with their groups and what is counted of them, `p` 0 for the period and 1 for the one before. */
function calls(plan: StoredPlan, period: Period, p: number, parameters: Parameters): string {
  const { groups, compared, settings } = plan;
  const moved = p === 1 && compared !== null ? alignmentOf(groups, plan.period, compared, settings) : unmoved;
  const keys = groups.map((group, i) => `${keySql(plan, group, moved)} AS k${i}`);
  const inputs = plan.parts.flatMap((part, i) => {
    const sql = inputSql(plan, part, parameters);
    return sql === null ? [] : [`${sql} AS d${i}`];
  });
  const columns = [
    `${p} AS p`,
    ...keys,
    ...inputs,
    'talk_minutes AS talk',
    'is_first',
    'is_extension',
    'caller_no',
    `${lagMillis} AS lag`,
    `${plan.time} AS called`,
  ];
  return `SELECT ${columns.join(', ')} FROM ${sourceOf(plan)} WHERE ${selected(plan, parameters, { period })}`;
}

/** The period of a question, and the one to compare with. */
const periodsOf = ({ period, compared }: StoredPlan): Period[] => (compared ? [period, compared] : [period]);

/** The aggregate of a part over the calls of a group; null for those over its callers. */
function partSql(part: Part, i: number, type: string | undefined): string | null {
  switch (part.kind) {
    case 'calls':
      return 'count(*)';
    case 'extensions':
      return 'count(*) FILTER (WHERE is_extension)';
    case 'talked':
      return 'count(talk)';
    case 'missed':
      return 'count(*) FILTER (WHERE talk = 0)';
    case 'talk_sum':
      return '(coalesce(sum(talk), 0) * 10)::BIGINT';
    case 'talk_rank':
      // One expression for both ranks: DuckDB then sorts the values once.
      return `(quantile_disc(talk, [0.5, 0.9])[${part.part === 1 ? 1 : 2}] * 10)::BIGINT`;
    case 'with_caller':
      return 'count(caller_no)';
    case 'first_time':
      return 'count(*) FILTER (WHERE is_first)';
    case 'with_lag':
      return 'count(lag)';
    case 'lag_median':
      return 'quantile_disc(lag, 0.5)';
    case 'first':
      return 'epoch_ms(min(called))';
    case 'last':
      return 'epoch_ms(max(called))';
    case 'distinct':
      return `count(DISTINCT d${i})`;
    case 'without':
      return `count(*) FILTER (WHERE d${i} IS NULL${type === 'text' ? ` OR d${i} = ''` : ''})`;
    case 'holds':
      return `count(*) FILTER (WHERE d${i})`;
    case 'judged':
      return `count(d${i})`;
    case 'callers':
    case 'repeat_callers':
      return null;
  }
}

/** The same over the callers of a group: a row for each with its number of calls as `n`. */
const callerSql = (part: Part): string =>
  part.kind === 'callers' ? 'count(*)' : 'count(*) FILTER (WHERE n > 1)';

/** One row for each group and period, with the parts as `m0`, `m1` and so on. */
function groupRows(plan: AskedPlan, parameters: Parameters): string[] {
  const { parts, fields } = plan;
  const keys = ['p', ...keysOf(plan)];
  const by = keys.join(', ');
  const needsCallers = parts.some(({ kind }) => kind === 'repeat_callers');
  const own = parts.map((part, i) => {
    const sql = partSql(part, i, 'field' in part ? fields.get(part.field)?.type : undefined);
    if (sql !== null) return `${sql} AS m${i}`;
    if (needsCallers) return null;
    return plan.bitmap === null
      ? `count(DISTINCT caller_no) AS m${i}`
      : `coalesce(bit_count(bitstring_agg(caller_no, 0, ${plan.bitmap})), 0) AS m${i}`;
  });
  const perCaller = parts.flatMap((part, i) => (own[i] === null ? [`${callerSql(part)} AS m${i}`] : []));
  const branches = periodsOf(plan).map((each, p) => calls(plan, each, p, parameters));
  const cells = parts.map((_, i) =>
    own[i] === null ? `coalesce(callers.m${i}, 0) AS m${i}` : `main.m${i} AS m${i}`,
  );
  const same = keys.map((key) => `base.${key} IS NOT DISTINCT FROM main.${key}`).join(' AND ');
  return [
    `base AS NOT MATERIALIZED (${branches.join(' UNION ALL ')})`,
    `main AS MATERIALIZED (SELECT ${list(keys)}${own.filter((sql) => sql !== null).join(', ')} FROM base GROUP BY ${by})`,
    // Numbers for the groups: a row for each caller of each group is then two integers, and not the names of the group.
    ...(needsCallers ? ['numbered AS MATERIALIZED (SELECT *, row_number() OVER () AS g FROM main)'] : []),
    ...(needsCallers && plan.bitmap === null
      ? [
          `per_caller AS (SELECT main.g AS g, caller_no, count(*) AS n FROM base JOIN numbered AS main ON ${same} WHERE caller_no IS NOT NULL GROUP BY 1, 2)`,
          `callers AS (SELECT g, ${perCaller.join(', ')} FROM per_caller GROUP BY 1)`,
        ]
      : []),
    ...(needsCallers && plan.bitmap !== null ? repeatedInBitmaps(plan, plan.bitmap) : []),
    `flat AS (SELECT ${keys.map((key) => `main.${key}, `).join('')}${cells.join(', ')}
       FROM ${needsCallers ? 'numbered AS main LEFT JOIN callers USING (g)' : 'main'})`,
  ];
}

/**
 * Callers of the totals of one account. A caller whose first call of all is counted, and another call too, is in both bitmaps;
 * only of callers whose first call is not counted do the calls have to be counted one by one.
 */
function repeatedInBitmaps({ parts }: StoredPlan, last: number): string[] {
  const bitmap = `bitstring_agg(caller_no, 0, ${last})`;
  const cells = parts.flatMap(({ kind }, i) => {
    if (kind === 'callers') return [`coalesce(bit_count(coalesce(f | r, f, r)), 0) AS m${i}`];
    if (kind !== 'repeat_callers') return [];
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

/** The statement of the groups of a question. Each row is a JSON array: the period, the keys, the parts, and how many groups there are. */
export function composeRows(plan: AskedPlan): Statement {
  const parameters = new Parameters();
  const rows = groupRows(plan, parameters);
  const shown = ['p', ...keysOf(plan), ...plan.parts.map((_, i) => `m${i}`)];
  const first = firstRows(plan);
  return {
    parameters,
    sql: `WITH ${rows.join(',\n')} SELECT json_array(${shown.join(', ')}, ${first === '' ? 0 : 'count(*) OVER ()'})::VARCHAR FROM flat ${first}`,
  };
}

/** Only the first groups, where the order follows from the parts and nothing else looks at the other groups. */
function firstRows(plan: StoredPlan): string {
  const { groups, compared, having, topPer, spend, order, limit, measures } = plan;
  const isWhole = compared || having || topPer !== null || spend || groups.some(({ isTime }) => isTime);
  if (isWhole || groups.length === 0) return '';
  const columns = order.map(({ column, descending }) => {
    const group = groups.findIndex(({ name }) => name === column);
    const measure = measures.find((each) => each.column === column);
    const part = measure?.parts.length === 1 ? measure.parts[0] : undefined;
    const isSame = part !== undefined && plan.parts[part]?.kind !== 'lag_median';
    const sql = group >= 0 ? `k${group}` : isSame ? `m${part}` : null;
    return sql === null ? null : `${sql} ${descending ? 'DESC' : 'ASC'} NULLS LAST`;
  });
  if (columns.includes(null)) return '';
  const ties = keysOf(plan).map((key) => `${key} ASC NULLS LAST`);
  return `ORDER BY ${[...columns, ...ties].join(', ')} LIMIT ${limit}`;
}

/** The statement that counts the groups of a question. */
export function composeGroupCount(plan: StoredPlan): Statement {
  const parameters = new Parameters();
  const keys = ['p', ...keysOf(plan)].join(', ');
  const branches = periodsOf(plan).map((period, p) => calls(plan, period, p, parameters));
  return {
    parameters,
    sql: `SELECT count(*)::INTEGER AS n FROM (SELECT 1 FROM (${branches.join(' UNION ALL ')}) GROUP BY ${keys})`,
  };
}

/** The statement of the totals: the same for each period as a whole. */
export function composeTotal(plan: AskedPlan): Statement {
  return composeRows({ ...plan, groups: [], limit: 2, having: null, topPer: null, spend: null, order: [] });
}
