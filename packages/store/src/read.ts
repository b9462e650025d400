import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { revisionOf } from './accounts/claims.ts';
import type { Cell, ColumnBatch, Rows } from './columns.ts';
import { batchOf, columnOf, fieldColumns, recordColumns, recordsOf } from './columns.ts';
import type { Driver, Session, Value } from './database/driver.ts';
import {
  otherConditions,
  parameters,
  type Selection,
  type Stretch,
  stretchesOf,
} from './selection.ts';

/** Which page of an account to read. */
export interface PageQuery {
  /** Which calls. */
  readonly selection: Selection;
  /** The version of the records. */
  readonly version: 'v2' | 'v3';
  /** Rank of the first call, counted from 0. */
  readonly offset: number;
  /** Most calls of the page. */
  readonly rows: number;
  /** When it is aborted, the page rejects with its reason. Default never. */
  readonly signal?: AbortSignal | undefined;
}

/** A page and the total, both from one snapshot. */
export interface Page {
  /** All calls of the selection. */
  readonly total: number;
  /** Calls on this page. */
  readonly count: number;
  /** The records as a JSON array. */
  readonly body: Buffer;
}

/** A part of the calls of a selection. */
export interface Part {
  /** Calls before the first one. Default 0. */
  readonly offset?: number;
  /** Most calls. Default: all. */
  readonly limit?: number;
  /** The newest call first. Default false. */
  readonly newestFirst?: boolean;
  /** Texts that a field has to have, null for none. Default: any. */
  readonly only?: ReadonlyMap<string, readonly (string | null)[]>;
}

/** Calls per statement. */
const windowRows = 2_000;
const callsAtOnce = 500;

const allColumns = ['versions', 'odd', ...fieldColumns.map(({ name }) => name)];

/** The place of a call in the order of time and sid. */
interface Place {
  readonly date: string | null;
  readonly sid: string;
}

/** What is read in one direction. */
interface Reading {
  readonly session: Pick<Session, 'all'>;
  readonly driver: Driver;
  readonly account: string;
  readonly selection: Selection;
  readonly isDown?: boolean;
  readonly only?: Part['only'];
}

/** Where reading goes on: in a stretch, at a call or after it. */
interface Start {
  readonly stretch: Stretch;
  readonly place: Place | null;
  readonly isAfter?: boolean;
}

/** `FROM records WHERE …`, from a place on, and the order. */
function from(
  { selection, isDown = false, only }: Reading,
  start: Start,
  put: (value: Value) => string,
) {
  const { stretch, place, isAfter = false } = start;
  const order = isDown ? ' DESC' : '';
  const after = `${isDown ? '<' : '>'}${isAfter ? '' : '='}`;
  let rest = stretch.isDated ? '' : ' AND date_added IS NULL';

  // A bound next to that of the place would be the one by which SQLite looks up the first row.
  if (stretch.from !== null && (place === null || isDown))
    rest += ` AND date_added >= ${put(stretch.from)}`;
  if (stretch.to !== null && (place === null || !isDown))
    rest += ` AND date_added < ${put(stretch.to)}`;
  if (place !== null)
    rest += stretch.isDated
      ? ` AND (date_added, sid) ${after} (${put(place.date)}, ${put(place.sid)})`
      : ` AND sid ${after} ${put(place.sid)}`;

  for (const [field, wanted] of only ?? []) {
    const named = wanted.filter((value) => value !== null);
    const isIn = named.length === 0 ? [] : [`"${field}" IN (${named.map(put).join(', ')})`];
    const isNone = named.length === wanted.length ? [] : [`"${field}" IS NULL`];
    rest += ` AND (${[...isIn, ...isNone].join(' OR ') || '1 = 0'})`;
  }

  const where = `account = $1${rest}${otherConditions(selection, put)}`;
  return {
    where,
    order: stretch.isDated ? `ORDER BY date_added${order}, sid${order}` : `ORDER BY sid${order}`,
  };
}

/**
 * The call that comes so many calls after a start; null when there are fewer. It reads the index
 * alone.
 */
async function placeAfter(reading: Reading, start: Start, skip: number): Promise<Place | null> {
  const { values, put } = parameters(reading.account);
  const { where, order } = from(reading, start, put);
  const date = reading.driver.dialect.text('date_added');
  const [row] = await reading.session.all(
    `SELECT ${date} AS date, sid FROM records WHERE ${where} ${order} LIMIT 1 OFFSET ${put(skip)}`,
    values,
  );
  return row === undefined ? null : { date: row.date as string | null, sid: String(row.sid) };
}

/** Some columns of at most so many calls. */
async function readRows(
  reading: Reading,
  start: Start,
  names: readonly string[],
  limit: number,
): Promise<Rows> {
  const { values, put } = parameters(reading.account);
  const { where, order } = from(reading, start, put);
  const inner = names.length === 0 ? 'sid' : names.map((name) => `"${name}"`).join(', ');
  return rowsIn(
    reading,
    names,
    `SELECT ${inner} FROM records WHERE ${where} ${order} LIMIT ${put(limit)}`,
    values,
  );
}

/** Where a statement is run. */
interface Database {
  readonly session: Pick<Session, 'all'>;
  readonly driver: Pick<Driver, 'dialect'>;
}

/**
 * Some columns of the calls of a statement, each column as one text of JSON: a value of its own
 * costs more in a driver.
 */
async function rowsIn(
  { session, driver: { dialect } }: Database,
  names: readonly string[],
  sql: string,
  values: readonly Value[],
): Promise<Rows> {
  const lists = names.map((name, i) => {
    const { kind, isTenthsOfSeconds } = columnOf.get(name) ?? {};
    const digits = isTenthsOfSeconds ? 1 : 0;
    const value = kind?.type === 'timestamp' ? dialect.text(`"${name}"`, digits) : `"${name}"`;
    return `, ${dialect.jsonOf(value)} AS c${i}`;
  });
  const [row] = await session.all(
    `SELECT count(*) AS n${lists.join('')} FROM (${sql}) AS calls`,
    values,
  );
  const cells = new Map(
    names.map((name, i) => [name, JSON.parse(String(row?.[`c${i}`] ?? '[]')) as readonly Cell[]]),
  );
  const odd = new Map<number, Readonly<Record<string, unknown>>>();
  for (const [at, text] of cells.get('odd')?.entries() ?? [])
    if (text !== null) odd.set(at, JSON.parse(String(text)) as Readonly<Record<string, unknown>>);
  return { length: Number(row?.n), odd, cells: (name) => cells.get(name) ?? [] };
}

/** The rows of the calls with some keys. */
export function rowsOfKeys(
  session: Pick<Session, 'all'>,
  driver: Driver,
  account: string,
  keys: readonly string[],
): Promise<Rows> {
  const { dialect } = driver;
  return rowsIn({ session, driver }, allColumns, dialect.lookUp('*'), [
    account,
    dialect.list(keys),
  ]);
}

/** All columns of the next calls with something odd, of any account, in the order of their keys. */
export function oddRowsAfter(
  database: Database,
  last: readonly [account: string, sid: string],
  limit: number,
): Promise<Rows> {
  return rowsIn(
    database,
    [...recordColumns.keys()],
    'SELECT * FROM records WHERE odd IS NOT NULL AND (account, sid) > ($1, $2) ORDER BY account, sid LIMIT $3',
    [...last, limit],
  );
}

/**
 * The calls of a selection, or a part of them. A call that changes meanwhile is as it is when it is
 * reached.
 */
export async function* eachCall(
  driver: Driver,
  account: string,
  selection: Selection,
  { offset = 0, limit = Number.POSITIVE_INFINITY, newestFirst = false, only }: Part,
): AsyncGenerator<Call> {
  const reading: Reading = {
    session: driver,
    driver,
    account,
    selection,
    isDown: newestFirst,
    only,
  };
  let skip = offset;
  let left = limit;
  const stretches = stretchesOf(selection);
  for (const stretch of newestFirst ? [...stretches].reverse() : stretches) {
    let start: Start = { stretch, place: null };
    if (skip > 0) {
      const place = await placeAfter(reading, start, skip);
      if (place === null) {
        if (stretches.length > 1) skip -= await countStretch(reading, stretch);
        continue;
      }
      skip = 0;
      start = { stretch, place };
    }
    while (left > 0) {
      const some = Math.min(callsAtOnce, left);
      const rows = await readRows(reading, start, allColumns, some);
      yield* recordsOf(rows, 'neutral') as unknown as Call[];
      left -= rows.length;
      if (rows.length < some) break;
      const date = rows.cells('date_added').at(-1) as string | null;
      start = { stretch, place: { date, sid: String(rows.cells('sid').at(-1)) }, isAfter: true };
      // SQLite works in this thread, and leaves no time for Ctrl-C by itself.
      await nextTurn();
    }
  }
}

/**
 * Some fields of the calls of a selection, in the order of time and sid, in batches from one
 * snapshot; of a store in memory from one each.
 */
export function readColumns(
  driver: Driver,
  account: string,
  selection: Selection,
  fields: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  if (!Array.isArray(fields))
    throw new ConfigurationError(
      'invalid_option',
      "The fields of columns must be a list of names, such as ['sid', 'city'].",
    );
  return driver.stream(async function* (session) {
    const reading: Reading = { session, driver, account, selection };
    const [odd] = await session.all(
      'SELECT 1 AS found FROM records WHERE account = $1 AND odd IS NOT NULL LIMIT 1',
      [account],
    );
    const own = (name: string) => (name === 'is_extension' ? 'extension' : name);
    const names = fields.map(own).filter((name) => recordColumns.has(name));

    // Without it, an index may have all that is asked for.
    if (odd !== undefined) names.push('odd');
    for (const stretch of stretchesOf(selection)) {
      let start: Start | null = { stretch, place: null };
      while (start !== null) {
        signal?.throwIfAborted();
        const next: Place | null = await placeAfter(reading, start, windowRows);
        const rows = await readRows(reading, start, names, windowRows);
        if (rows.length > 0) yield batchOf(rows, fields);
        start = next && { stretch, place: next };
        await nextTurn();
      }
    }
  });
}

async function countStretch(reading: Reading, stretch: Stretch): Promise<number> {
  const { values, put } = parameters(reading.account);
  const { where } = from(reading, { stretch, place: null }, put);
  const [row] = await reading.session.all(
    `SELECT count(*) AS n FROM records WHERE ${where}`,
    values,
  );
  return Number(row?.n);
}

/** What is remembered of a selection until the calls of the account change. */
interface Counted {
  readonly revision: number;
  /** The calls of each stretch. */
  readonly counts: readonly number[];
  /** The place of every so many calls of the last stretch that pages were looked for in. */
  readonly anchors: Place[];
}

/** Selections whose counts are remembered. */
const mostCounted = 200;
/** Calls between two remembered places. */
const anchorRows = 10_000;

/**
 * Counts calls and reads pages. What was counted is remembered as long as the revision of the
 * account stays the same.
 */
export function createCounter(driver: Driver) {
  const known = new Map<string, Counted>();

  async function countsOf(reading: Reading): Promise<Counted> {
    const { session, account, selection } = reading;
    const key = JSON.stringify([account, selection]);
    const revision = await revisionOf(session, account);
    let found = known.get(key);
    known.delete(key);
    if (found?.revision !== revision) {
      const counts: number[] = [];
      for (const stretch of stretchesOf(selection))
        counts.push(await countStretch(reading, stretch));
      found = { revision, counts, anchors: [] };
    }

    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > mostCounted && oldest !== undefined) known.delete(oldest);
    return found;
  }

  /**
   * The start of the call with a rank in the last stretch: the nearest remembered place, and from
   * there on by the index.
   */
  async function startAt(
    reading: Reading,
    stretch: Stretch,
    rank: number,
    anchors: Place[],
  ): Promise<Start> {
    let start: Start = { stretch, place: null };
    const last = Math.floor(rank / anchorRows);
    for (let i = 1; i <= last; i += 1) {
      const place = anchors[i] ?? (await placeAfter(reading, start, anchorRows));
      if (place === null) break;
      anchors[i] = place;
      start = { stretch, place };
    }

    const rest = rank - last * anchorRows;
    return rest === 0 ? start : { stretch, place: await placeAfter(reading, start, rest) };
  }

  return {
    count: (account: string, selection: Selection = {}): Promise<number> =>
      driver.read(async (session) =>
        sum((await countsOf({ session, driver, account, selection })).counts),
      ),

    async page(
      account: string,
      { selection, version, offset, rows, signal }: PageQuery,
    ): Promise<Page> {
      signal?.throwIfAborted();
      return driver.read(async (session) => {
        signal?.throwIfAborted();
        const reading = { session, driver, account, selection };
        const { counts, anchors } = await countsOf(reading);
        const records: object[] = [];
        let skip = offset;
        for (const [i, stretch] of stretchesOf(selection).entries()) {
          const here = counts[i] ?? 0;
          if (skip < here && records.length < rows) {
            const start = await startAt(reading, stretch, skip, stretch.isDated ? anchors : []);
            const found = await readRows(reading, start, allColumns, rows - records.length);
            for (const record of recordsOf(found, version)) records.push(record);
          }
          skip = Math.max(0, skip - here);
        }

        return {
          total: sum(counts),
          count: records.length,
          body: Buffer.from(JSON.stringify(records)),
        };
      });
    },
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
