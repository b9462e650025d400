import { filtered, fn } from '../sql/functions.ts';
import {
  and,
  as,
  type Call,
  cast,
  column,
  columnsOf,
  isNotNull,
  literal,
  type NamedQuery,
  not,
  op,
  type Query,
  type Sql,
  subquery,
} from '../sql/tree.ts';
import type { StoredPlan } from './select.ts';

// Callers with several calls, over the named queries of a question: `base` has its calls, `numbered` its groups with a number `g`.

const zero = literal(0);
const [caller, isFirst] = [column('caller_no'), column('is_first')];

/** A bitmap of the callers, of whom `last` has the largest number. */
export const bitmapOf = (last: number): Call => fn.bitstringAgg(caller, last);

/** How many are in a bitmap. */
export const bitsIn = (bitmap: Sql): Sql => fn.coalesce(fn.bitCount(bitmap), zero);

const callsOfCaller = (n: Sql): Sql => op('>', n, literal(1));

/** Callers by their numbers of calls in each group. */
export function repeated({ parts }: Pick<StoredPlan, 'parts'>, keys: readonly string[]): NamedQuery[] {
  const [g, n] = [column('g'), column('n')];
  const same = keys.map((key) => op('IS NOT DISTINCT FROM', column(key, 'base'), column(key, 'numbered')));
  const cells = parts.flatMap(({ kind }, i) => {
    if (kind === 'callers') return [as(fn.count(), `m${i}`)];
    return kind === 'repeat_callers' ? [as(filtered(fn.count(), callsOfCaller(n)), `m${i}`)] : [];
  });
  const perCaller: Query = {
    columns: [...columnsOf('g', 'caller_no'), as(fn.count(), 'n')],
    source: { from: 'base' },
    joins: [{ how: 'JOIN', from: 'numbered', on: and(...same) }],
    where: isNotNull(caller),
    groupBy: [g, caller],
  };
  return [
    { name: 'per_caller', query: perCaller },
    {
      name: 'callers',
      query: { columns: [...columnsOf('g'), ...cells], source: { from: 'per_caller' }, groupBy: [g] },
    },
  ];
}

/**
 * Callers of the totals of one account. A caller whose first call of all is counted, and another call too, is in both bitmaps;
 * only of callers whose first call is not counted do the calls have to be counted one by one.
 */
export function repeatedInBitmaps({ parts }: StoredPlan, last: number): NamedQuery[] {
  const [p, f, r] = [column('p'), column('f'), column('r')];
  const sets: Query = {
    columns: [
      ...columnsOf('p'),
      as(filtered(bitmapOf(last), isFirst), 'f'),
      as(filtered(bitmapOf(last), not(isFirst)), 'r'),
    ],
    source: { from: 'base' },
    groupBy: [p],
  };
  const isUnmet = op('=', fn.getBit(f, cast(caller, 'INTEGER')), zero);
  const others: Query = {
    columns: columnsOf('p', 'caller_no'),
    source: { from: 'base' },
    joins: [{ how: 'JOIN', from: 'sets', on: ['p'] }],
    where: and(not(isFirst), isNotNull(caller), fn.coalesce(isUnmet, literal(true))),
    groupBy: [p, caller],
    having: callsOfCaller(fn.count()),
  };
  const ofPeriod = op('=', column('p', 'others'), column('p', 'numbered'));
  const unmet = subquery({ columns: [as(fn.count(), 'n')], source: { from: 'others' }, where: ofPeriod });
  const cells = parts.flatMap(({ kind }, i) => {
    if (kind === 'callers') return [as(bitsIn(fn.coalesce(op('|', f, r), f, r)), `m${i}`)];
    return kind === 'repeat_callers' ? [as(op('+', bitsIn(op('&', f, r)), unmet), `m${i}`)] : [];
  });
  const callers: Query = {
    columns: [...columnsOf('g'), ...cells],
    source: { from: 'numbered' },
    joins: [{ how: 'JOIN', from: 'sets', on: ['p'] }],
  };
  return [
    { name: 'sets', query: sets, materialized: true },
    { name: 'others', query: others, materialized: true },
    { name: 'callers', query: callers },
  ];
}
