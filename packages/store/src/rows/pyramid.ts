import type { Session, Value } from '../database/driver.ts';
import type { NumericFilter } from './selection.ts';
import { cellsOf, isWide, levels, width } from './tally.ts';

const edge = -1;

/** A run of time whose calls are counted together: buckets of one level, or an edge that is counted by the index. */
interface Run {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

interface Counted extends Run {
  readonly n: number;
}

/** Cuts `[from, to)` into the widest aligned runs. What is left at each end is an edge of at most 36 hours. */
function cut(from: number, to: number, depth = 0): Run[] {
  if (from >= to) return [];
  const level = levels[depth];
  if (level === undefined) return [{ level: edge, from, to }];
  const first = Math.ceil(from / width(level)) * width(level);
  const last = Math.floor(to / width(level)) * width(level);
  if (first >= last) return cut(from, to, depth + 1);
  return [...cut(from, first, depth + 1), { level, from: first, to: last }, ...cut(last, to, depth + 1)];
}

/** The parameters of one statement, numbered in the order in which they are added. */
export function parameters(): { values: Value[]; put: (value: Value) => string } {
  const values: Value[] = [];
  return { values, put: (value) => `$${values.push(value)}` };
}

/** The conditions on fields other than the time. */
export function otherConditions(selection: NumericFilter, put: (value: Value) => string): string {
  const talk =
    selection.talk === null
      ? ''
      : ` AND talk >= ${put(selection.talk.from)} AND talk <= ${put(selection.talk.to)}`;
  return `${selection.extensions ? '' : ' AND extension = 0'}${talk}`;
}

/** Counts all runs in one statement. Returns the buckets that have calls, ordered by time. */
async function counted(
  session: Pick<Session, 'all'>,
  account: string,
  selection: NumericFilter,
  runs: readonly Run[],
): Promise<Counted[]> {
  if (runs.length === 0) return [];
  const { values, put } = parameters();
  const owner = put(account);
  const { sum, only } = cellsOf(selection);
  const parts = runs.flatMap(({ level, from, to }, run) => {
    if (level === edge)
      return `SELECT ${run} AS run, 0 AS bucket, count(*) AS n FROM records
        WHERE account = ${owner} AND at >= ${put(from)} AND at < ${put(to)}${otherConditions(selection, put)}`;
    const [first, end] = [put(from / width(level)), put(to / width(level))];
    return only.map(
      (cells) => `SELECT ${run} AS run, bucket, ${sum} AS n FROM tally
        WHERE account = ${owner} AND level = ${level} AND ${cells} AND bucket >= ${first} AND bucket < ${end} GROUP BY bucket`,
    );
  });
  const found = new Map<number, Counted>();
  for (const row of await session.all(parts.join(' UNION ALL '), values)) {
    const run = runs[Number(row.run)];
    if (run === undefined) continue;
    const { level } = run;
    const start = Number(row.bucket) * width(level);
    const span = level === edge ? run : { level, from: start, to: start + width(level) };
    found.set(span.from, { ...span, n: (found.get(span.from)?.n ?? 0) + Number(row.n) });
  }
  return [...found.values()].sort((a, b) => a.from - b.from);
}

/** The number of calls in a selection. It costs the same for a day and for ten years. */
export async function countCalls(
  session: Pick<Session, 'all'>,
  account: string,
  selection: NumericFilter,
): Promise<number> {
  const runs = await counted(session, account, selection, cut(selection.from, selection.to));
  return runs.reduce((total, run) => total + run.n, 0);
}

/**
 * The total, and the position of the call with a rank: `skip` calls after the start of a short span of time. A bucket is not
 * split further when fewer than `walkBelow` calls have to be skipped in it.
 */
export async function findRank(
  session: Pick<Session, 'all'>,
  account: string,
  selection: NumericFilter,
  rank: number,
  walkBelow: number,
): Promise<{ total: number; from: number; skip: number }> {
  // Buckets of 24 days cost little more to add up here and save one step.
  const depth = isWide(selection) ? 1 : 0;
  let runs = await counted(session, account, selection, cut(selection.from, selection.to, depth));
  const total = runs.reduce((sum, run) => sum + run.n, 0);
  let skip = rank;
  for (;;) {
    let holder: Counted | undefined;
    for (const run of runs) {
      if (skip < run.n) {
        holder = run;
        break;
      }
      skip -= run.n;
    }
    if (holder === undefined) return { total, from: selection.to, skip: 0 };
    const finer = levels[levels.indexOf(holder.level as (typeof levels)[number]) + 1];
    const near = holder.n < walkBelow || (skip < walkBelow && isWide(selection));
    if (holder.level === edge || finer === undefined || near) {
      return { total, from: Math.max(holder.from, selection.from), skip };
    }
    runs = await counted(session, account, selection, [{ level: finer, from: holder.from, to: holder.to }]);
  }
}
