import {
  type Alignment,
  alignmentOf,
  type Part,
  type Period,
  type QuestionField,
  unmoved,
  weekShift,
} from '@call-attribution/questions';
import { fn, over } from '../sql/functions.ts';
import { type Printed, printQuery } from '../sql/print.ts';
import {
  as,
  cast,
  column,
  columnsOf,
  isNull,
  literal,
  type NamedQuery,
  op,
  or,
  type Query,
  type Sort,
  type Sql,
  when,
} from '../sql/tree.ts';
import { lagMillis } from '../tables/derived.ts';
import { conditionSql } from '../where/sql.ts';
import { bitmapOf, bitsIn, repeated, repeatedInBitmaps } from './callers.ts';
import { fieldNames, fieldSql, sourceOf, termsOf } from './fields.ts';
import type { StoredPlan } from './select.ts';
import { selected } from './selected.ts';

/** A question at work: with the largest number of a caller, where callers are counted in a bitmap for each group. */
export type AskedPlan = StoredPlan & { readonly bitmap: number | null };

/** The columns that calls are grouped by. */
export const keysOf = (plan: StoredPlan): string[] => plan.groups.map((_, i) => `k${i}`);
/** What calls are grouped by. By a single text DuckDB groups twice as fast as by that and the number of the only period. */
const groupsOf = (plan: StoredPlan): Sql[] =>
  [...(plan.compared === null ? [] : ['p']), ...keysOf(plan)].map((key) => column(key));

const zero = literal(0);
const caller = column('caller_no');

const daysTo = (date: Sql): Sql => op('-', date, cast(literal('0001-01-01'), 'DATE'));

/** The key of a group as SQL: the numbers that questions give to buckets of time, but for days, which DuckDB groups faster as dates; otherwise the value. */
function keySql(plan: StoredPlan, { name, isTime, type }: QuestionField, moved: Alignment): Sql {
  const { settings } = plan;
  if (!isTime) {
    const sql = fieldSql(name, plan.time, settings);
    return type === 'time' ? fn.epochMs(sql) : sql;
  }
  const time = moved.days === 0 ? plan.time : op('+', plan.time, fn.toDays(moved.days));
  switch (name) {
    case 'day':
      return cast(time, 'DATE');
    case 'week': {
      const weeks = op('//', op('+', daysTo(cast(time, 'DATE')), literal(weekShift(settings))), literal(7));
      return op('+', weeks, literal(moved.week));
    }
    case 'month':
      return op('+', op('*', fn.year(time), literal(12)), fn.month(time), literal(moved.month - 1));
    case 'weekday':
      return fn.isodow(time);
    default:
      return fn.hour(time);
  }
}

/** What a part needs of each call, as a column of `base`. */
function inputSql(plan: StoredPlan, part: Part): Sql | null {
  switch (part.kind) {
    case 'distinct':
    case 'without':
      return fieldSql(plan.fields.get(part.field)?.name ?? part.field, plan.time, plan.settings);
    case 'holds':
      return conditionSql(part.condition, termsOf(plan, plan.time));
    default:
      return null;
  }
}

/** The fields of the groups and parts of a question. Of its conditions `selected` takes care. */
function namedIn(plan: StoredPlan): string[] {
  const parts = plan.parts.flatMap((part) => {
    if ('condition' in part) return fieldNames(plan, part.condition);
    return 'field' in part ? [plan.fields.get(part.field)?.name ?? part.field] : [];
  });
  return [...plan.groups.map(({ name }) => name), ...parts];
}

/** The calls of a period with their groups and what is counted of them, `p` 0 for the period and 1 for the one before. */
function calls(plan: StoredPlan, period: Period, p: number): Query {
  const { groups, compared, settings } = plan;
  const moved = p === 1 && compared !== null ? alignmentOf(groups, plan.period, compared, settings) : unmoved;
  return {
    columns: [
      as(literal(p), 'p'),
      ...groups.map((group, i) => as(keySql(plan, group, moved), `k${i}`)),
      ...plan.parts.flatMap((part, i) => {
        const sql = inputSql(plan, part);
        return sql === null ? [] : [as(sql, `d${i}`)];
      }),
      as(column('talk_minutes'), 'talk'),
      ...columnsOf('is_first', 'is_extension', 'caller_no'),
      as(lagMillis, 'lag'),
      as(plan.time, 'called'),
    ],
    source: sourceOf(namedIn(plan)),
    where: selected(plan, { period }),
  };
}

/** The calls of the period of a question, and of the one to compare with. */
export function allCalls(plan: StoredPlan): Query {
  const periods = plan.compared ? [plan.period, plan.compared] : [plan.period];
  return { all: periods.map((period, p) => calls(plan, period, p)) };
}

const tenths = (talk: Sql): Sql => cast(op('*', talk, literal(10)), 'BIGINT');
const { countIf } = fn;

/** The aggregate of a part over the calls of a group; null for those over its callers. */
export function partSql(part: Part, i: number, type: string | undefined): Sql | null {
  const [own, talk, lag, called] = [column(`d${i}`), column('talk'), column('lag'), column('called')];
  switch (part.kind) {
    case 'calls':
      return fn.count();
    case 'extensions':
      return countIf(column('is_extension'));
    case 'talked':
      return fn.count(talk);
    case 'missed':
      return countIf(op('=', talk, zero));
    case 'talk_sum':
      return tenths(fn.coalesce(fn.sum(talk), zero));
    case 'talk_rank':
      // One expression for both ranks: DuckDB then sorts the values once.
      return tenths(fn.listExtract(fn.quantilesDisc(talk, 0.5, 0.9), part.part === 1 ? 1 : 2));
    case 'with_caller':
      return fn.count(caller);
    case 'first_time':
      return countIf(column('is_first'));
    case 'with_lag':
      return fn.count(lag);
    case 'lag_median':
      return fn.quantileDisc(lag, 0.5);
    case 'first':
      return fn.epochMs(fn.min(called));
    case 'last':
      return fn.epochMs(fn.max(called));
    case 'distinct':
      return fn.countDistinct(type === 'text' ? when([[op('<>', own, literal('')), own]]) : own);
    case 'without':
      return countIf(type === 'text' ? or(isNull(own), op('=', own, literal(''))) : isNull(own));
    case 'holds':
      return countIf(own);
    case 'answered':
    case 'judged':
      return countIf(op(part.kind === 'answered' ? '>' : '>=', talk, zero));
    case 'callers':
    case 'repeat_callers':
      return null;
    default:
      throw new TypeError(`A warehouse does not count ${part.kind}.`);
  }
}

/** The type of the field that a part is about. */
export const typeIn = ({ fields }: StoredPlan, part: Part): string | undefined =>
  'field' in part ? fields.get(part.field)?.type : undefined;

/** A key as it is read: days are dates until then. */
export const shownKey = (name: string, key: Sql): Sql => (name === 'day' ? daysTo(key) : key);

/** One row for each group and period, with the parts as `m0`, `m1` and so on. */
function groupRows(plan: AskedPlan): NamedQuery[] {
  const { parts, bitmap } = plan;
  const keys = ['p', ...keysOf(plan)];
  const needsCallers = parts.some(({ kind }) => kind === 'repeat_callers');
  const own = parts.map((part, i) => {
    const sql = partSql(part, i, typeIn(plan, part));
    if (sql !== null || needsCallers) return sql;
    return bitmap === null ? fn.countDistinct(caller) : bitsIn(bitmapOf(bitmap));
  });
  const cells = own.map((sql, i) =>
    as(sql === null ? fn.coalesce(column(`m${i}`, 'callers'), zero) : column(`m${i}`, 'main'), `m${i}`),
  );
  const shownKeys = plan.groups.map(({ name }, i) => as(shownKey(name, column(`k${i}`, 'main')), `k${i}`));
  const flat = [as(column('p', 'main'), 'p'), ...shownKeys, ...cells];
  const counted: Query = {
    columns: [
      as(plan.compared === null ? zero : column('p'), 'p'),
      ...columnsOf(...keysOf(plan)),
      ...own.flatMap((sql, i) => (sql === null ? [] : [as(sql, `m${i}`)])),
    ],
    source: { from: 'base' },
    groupBy: groupsOf(plan),
    // Without anything to group by, there would be a row of no calls.
    having: op('>', fn.count(), zero),
  };
  const queries: NamedQuery[] = [
    { name: 'base', query: allCalls(plan), materialized: false },
    { name: 'main', query: counted, materialized: true },
  ];
  if (!needsCallers)
    return [...queries, { name: 'flat', query: { columns: flat, source: { from: 'main' } } }];
  // Numbers for the groups: a row for each caller of each group is then two integers, and not the names of the group.
  const numbered = [...columnsOf('*'), as(over(fn.rowNumber()), 'g')];
  const join = { how: 'LEFT JOIN', from: 'callers', on: ['g'] } as const;
  return [
    ...queries,
    { name: 'numbered', query: { columns: numbered, source: { from: 'main' } }, materialized: true },
    ...(bitmap === null ? repeated(plan, keys) : repeatedInBitmaps(plan, bitmap)),
    { name: 'flat', query: { columns: flat, source: { from: 'numbered', as: 'main' }, joins: [join] } },
  ];
}

/**
 * The statement of the groups of a question. Each row is a JSON array: the place of the question, here 0, the period, the keys, the parts,
 * and how many groups there are.
 */
export const composeRows = (plan: AskedPlan): Printed =>
  printQuery({ with: groupRows(plan), ...shownRows(plan, 0, 'flat') });

/** The rows of a question, in its order. */
export function shownRows(plan: StoredPlan, place: number, from: string): Query {
  const shown = ['p', ...keysOf(plan), ...plan.parts.map((_, i) => `m${i}`)].map((name) => column(name));
  const first = firstRows(plan);
  const json = fn.jsonArray(literal(place), ...shown, first === null ? zero : over(fn.count()));
  return { columns: [as(cast(json, 'VARCHAR'), 'json')], source: { from }, ...first };
}

/** Only the first groups, where the order follows from the parts and nothing else looks at the other groups. */
function firstRows(plan: StoredPlan): Pick<Query, 'sort' | 'limit'> | null {
  const { groups, compared, having, topPer, spend, order, limit, measures } = plan;
  const isWhole = compared || having || topPer !== null || spend || groups.some(({ isTime }) => isTime);
  if (isWhole || groups.length === 0) return null;
  const sort: Sort[] = [];
  for (const { column: name, descending } of order) {
    const group = groups.findIndex((each) => each.name === name);
    const measure = measures.find((each) => each.column === name);
    const part = measure?.parts.length === 1 ? measure.parts[0] : undefined;
    const isSame = part !== undefined && plan.parts[part]?.kind !== 'lag_median';
    if (group < 0 && !isSame) return null;
    sort.push({ by: column(group >= 0 ? `k${group}` : `m${part}`), descending });
  }
  const ties = keysOf(plan).map((key) => ({ by: column(key), descending: false }));
  return { sort: [...sort, ...ties], limit };
}

/** The statement of the calls of a question, whatever it groups and measures: the same for questions about the same calls. */
export const composeCalls = (plan: StoredPlan): Printed =>
  printQuery(allCalls({ ...plan, groups: [], parts: [] }));

/** The statement that counts the groups of a question. */
export function composeGroupCount(plan: StoredPlan): Printed {
  const groups: Query = {
    columns: [as(zero, 'p')],
    source: { from: allCalls(plan), as: 'base' },
    groupBy: groupsOf(plan),
  };
  return printQuery({
    columns: [as(cast(fn.count(), 'INTEGER'), 'n')],
    source: { from: groups, as: 'every' },
  });
}
