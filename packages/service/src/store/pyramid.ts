import type { Session, Value } from './driver.ts';
import type { Selection } from './selection.ts';
import { anyTalk, mostTenths } from './wire-values.ts';

/** Widths of the time buckets as powers of two in seconds: 388 days, 24.3 days, 36.4 hours. */
export const levels = [25, 21, 17] as const;

const edge = -1;

/** A run of time whose calls are counted together: buckets of one level, or an edge counted through the index. */
interface Run {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

interface Counted extends Run {
  readonly n: number;
}

const width = (level: number): number => 2 ** level;

/** One changed cell of the tally: account is added by the writer. */
export interface Cell {
  readonly level: number;
  readonly bucket: number;
  readonly extension: number;
  readonly talk: number;
  readonly n: number;
}

/** What of a call the pyramid counts. */
export interface Place {
  readonly at: number;
  readonly talk: number;
  readonly extension: number;
}

/** Signed differences of a batch, one per cell, in key order so that concurrent writers lock in one order. */
export function differences(added: Iterable<Place>, removed: Iterable<Place>): Cell[] {
  const cells = new Map<
    string,
    { level: number; bucket: number; extension: number; talk: number; n: number }
  >();
  const add = (level: number, bucket: number, extension: number, talk: number, sign: 1 | -1) => {
    const key = `${level},${bucket},${extension},${talk}`;
    const cell = cells.get(key);
    if (cell === undefined) cells.set(key, { level, bucket, extension, talk, n: sign });
    else cell.n += sign;
  };
  const count = ({ at, talk, extension }: Place, sign: 1 | -1) => {
    for (const level of levels) {
      const bucket = Math.floor(at / width(level));
      add(level, bucket, extension, talk, sign);
      add(level, bucket, extension, anyTalk, sign);
    }
  };
  for (const place of added) count(place, 1);
  for (const place of removed) count(place, -1);
  return [...cells.values()]
    .filter((cell) => cell.n !== 0)
    .sort((a, b) => a.level - b.level || a.extension - b.extension || a.talk - b.talk || a.bucket - b.bucket);
}

/** Cuts `[from, to)` into the widest aligned runs; what no bucket fills is an edge of at most 36 hours at each end. */
function cut(from: number, to: number, depth = 0): Run[] {
  if (from >= to) return [];
  const level = levels[depth];
  if (level === undefined) return [{ level: edge, from, to }];
  const first = Math.ceil(from / width(level)) * width(level);
  const last = Math.floor(to / width(level)) * width(level);
  if (first >= last) return cut(from, to, depth + 1);
  return [...cut(from, first, depth + 1), { level, from: first, to: last }, ...cut(last, to, depth + 1)];
}

/** Parameters of one statement, numbered as they are put in. */
export function parameters(): { values: Value[]; put: (value: Value) => string } {
  const values: Value[] = [];
  return { values, put: (value) => `$${values.push(value)}` };
}

/** The conditions that do not speak of time. */
export function besidesTime(selection: Selection, put: (value: Value) => string): string {
  const talk =
    selection.talk === null
      ? ''
      : ` AND talk >= ${put(selection.talk.from)} AND talk <= ${put(selection.talk.to)}`;
  return `${selection.extensions ? '' : ' AND extension = 0'}${talk}`;
}

/** Talk values up to here (an hour) are named one by one; longer calls are so few that a range of them is soon read. */
const mostNamed = 600;

/** Does the selection keep most calls, so that few are passed over between two that match? */
function isWide({ talk }: Selection): boolean {
  return talk === null || (talk.to >= mostTenths && talk.from <= 100);
}

/**
 * Which cells of a bucket to add up. Few talk values are named; of many, all calls less those outside are counted. The
 * key is then read at exactly the cells that matter, whatever the range of buckets.
 */
function cellsOf({ talk, extensions }: Selection): { sum: string; only: string } {
  const flag = `extension ${extensions ? 'IN (0, 1)' : '= 0'}`;
  if (talk === null) return { sum: 'sum(n)', only: `${flag} AND talk = ${anyTalk}` };
  const { from, to } = talk;
  // These numbers stand in the text of the statement, so that the database can plan with them.
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0) {
    throw new TypeError('A talk range is given in whole tenths of a minute, from 0 up.');
  }
  if (from > mostNamed) return { sum: 'sum(n)', only: `${flag} AND talk >= ${from} AND talk <= ${to}` };
  if (to <= mostNamed) return { sum: 'sum(n)', only: `${flag} AND talk IN (${named(from, to)})` };
  const shorter = `talk IN (${named(anyTalk, from - 1)})`;
  const outside = to >= mostTenths ? shorter : `(${shorter} OR talk > ${to})`;
  return { sum: `sum(CASE WHEN talk = ${anyTalk} THEN n ELSE -n END)`, only: `${flag} AND ${outside}` };
}

function named(first: number, last: number): string {
  // An empty list is no SQL everywhere; null is equal to nothing.
  if (first > last) return 'NULL';
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).join(', ');
}

/** Counts each run in one statement and lists the buckets that hold something, in time order. */
async function counted(
  session: Session,
  account: string,
  selection: Selection,
  runs: readonly Run[],
): Promise<Counted[]> {
  if (runs.length === 0) return [];
  const { values, put } = parameters();
  const owner = put(account);
  const { sum, only } = cellsOf(selection);
  const parts = runs.map(({ level, from, to }, run) => {
    if (level === edge) {
      return `SELECT ${run} AS run, 0 AS bucket, count(*) AS n FROM calls
        WHERE account = ${owner} AND at >= ${put(from)} AND at < ${put(to)}${besidesTime(selection, put)}`;
    }
    return `SELECT ${run} AS run, bucket, ${sum} AS n FROM tally
      WHERE account = ${owner} AND level = ${level} AND ${only}
        AND bucket >= ${put(from / width(level))} AND bucket < ${put(to / width(level))} GROUP BY bucket`;
  });
  const rows = await session.all(parts.join(' UNION ALL '), values);
  const found = rows.map((row): Counted & { run: number } => {
    const run = Number(row.run);
    const whole = runs[run] as Run;
    const start = Number(row.bucket) * width(whole.level);
    const span =
      whole.level === edge ? whole : { level: whole.level, from: start, to: start + width(whole.level) };
    return { ...span, run, n: Number(row.n) };
  });
  return found.sort((a, b) => a.run - b.run || a.from - b.from);
}

/** How many calls a selection holds; costs the same for a day and for ten years. */
export async function countCalls(session: Session, account: string, selection: Selection): Promise<number> {
  const runs = await counted(session, account, selection, cut(selection.from, selection.to));
  return runs.reduce((total, run) => total + run.n, 0);
}

/**
 * The total, and where the call of a rank stands: so many calls (`skip`) after the start of a short stretch of time. A
 * bucket is not split further when fewer than `walkBelow` calls have to be passed over in it.
 */
export async function findRank(
  session: Session,
  account: string,
  selection: Selection,
  rank: number,
  walkBelow: number,
): Promise<{ total: number; from: number; skip: number }> {
  // Buckets of 24 days cost little more to add up here, and save a step of the way down.
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
