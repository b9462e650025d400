import { bucketRange } from './groups.ts';
import type { Plan } from './plan.ts';

/** Most groups that an answer makes up for empty buckets of time. */
const mostFilled = 100_000;

/** The rows of `paired` with the empty buckets of time among them, as SQL. */
export interface Filling {
  readonly ctes: readonly string[];
  readonly table: string;
  /** How many groups there are with the empty ones, or -1 when there would be too many, as an expression. */
  readonly count: string;
}

/**
 * Each value of the other groups gets all buckets of time from the first to the last: of the period where it is given, of
 * the calls where it is open. Weekdays and hours are always all there.
 */
export function fillEmptyBuckets({ groups, period }: Plan): Filling {
  const times = groups.flatMap((group, i) => (group.isTime ? [i] : []));
  if (times.length === 0) return { ctes: [], table: 'paired', count: '0' };
  const others = groups.flatMap((group, i) => (group.isTime ? [] : [i]));
  const ctes = times.map((i) => {
    const { first, last } = bucketRange(groups[i]?.name ?? '', period.from, period.to);
    const ends = `SELECT ${first ?? `min(k${i})`} AS low, ${last ?? `max(k${i})`} AS high`;
    const from = first === null || last === null ? ` FROM paired` : '';
    return `ends${i} AS (${ends}${from}),
series${i} AS (SELECT unnest(generate_series(low, high)) AS k${i} FROM ends${i} WHERE high - low < ${mostFilled})`;
  });
  if (others.length > 0) {
    ctes.push(`others AS (SELECT DISTINCT ${others.map((i) => `k${i}`).join(', ')} FROM paired)`);
  }
  const tables = [...times.map((i) => `series${i}`), ...(others.length > 0 ? ['others'] : [])];
  const size = tables.map((table) => `(SELECT count(*) FROM ${table})`).join(' * ');
  const keys = groups.map((_, i) => `k${i}`);
  ctes.push(
    `buckets AS MATERIALIZED (SELECT ${keys.join(', ')} FROM ${tables.join(' CROSS JOIN ')} WHERE ${size} <= ${mostFilled})`,
  );
  const same = keys.map((key) => `buckets.${key} IS NOT DISTINCT FROM paired.${key}`).join(' AND ');
  const chosen = keys.map((key) => `coalesce(buckets.${key}, paired.${key}) AS ${key}`).join(', ');
  return {
    ctes,
    table: `(SELECT ${chosen}, paired.* EXCLUDE (${keys.join(', ')}) FROM buckets FULL JOIN paired ON ${same})`,
    count: `(SELECT CASE WHEN count(*) = 0 AND (SELECT count(*) FROM paired) > 0 THEN -1 ELSE count(*) END FROM buckets)`,
  };
}
