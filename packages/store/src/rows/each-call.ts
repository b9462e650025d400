import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '@call-attribution/core';
import type { Driver, Value } from '../database/driver.ts';
import type { GroupedField } from '../database/own-columns.ts';
import { document, documentIn } from './documents.ts';
import { findRank, otherConditions, parameters } from './pyramid.ts';
import type { NumericFilter } from './selection.ts';

/** A part of the calls of a selection. */
export interface Part {
  /** Calls before the first one. Found by rank, so it may be any number. Default 0. */
  readonly offset?: number;
  /** Most calls. Default: all. */
  readonly limit?: number;
  /** The newest call first. Calls before the first one are then passed one by one. Default false. */
  readonly newestFirst?: boolean;
  /** With the newest first: values that a field has to have, null for none. Default: any. */
  readonly only?: ReadonlyMap<GroupedField, readonly (string | null)[]>;
}

/** Calls per statement when all are read. */
const batchSize = 500;

/** The calls of a selection, or a part of them. */
export async function* eachCall(
  driver: Driver,
  account: string,
  selection: NumericFilter,
  part: Part,
  walkBelow: number,
): AsyncGenerator<Call> {
  const { offset = 0, limit = Number.POSITIVE_INFINITY, newestFirst = false } = part;
  let { from, skip } = { from: newestFirst ? selection.to : selection.from, skip: newestFirst ? offset : 0 };
  if (offset > 0 && !newestFirst)
    ({ from, skip } = await driver.read((session) =>
      findRank(session, account, selection, offset, walkBelow),
    ));
  for (let after: string | null = null, left = limit; left > 0; ) {
    const some = Math.min(batchSize, left);
    const { values, sql } = newestFirst
      ? downwards(account, selection, part, { from, after })
      : upwards(account, selection, { from, after });
    // The index has what the condition needs, so records are read only of the calls that are wanted.
    const rows = await driver.all(
      `SELECT ${document}, p.at AS at, p.sid AS sid
         FROM (SELECT at, sid FROM records WHERE ${sql} LIMIT ${some} OFFSET ${skip}) p
         CROSS JOIN records c WHERE c.account = $1 AND c.sid = p.sid ${newestFirst ? 'ORDER BY p.at DESC, p.sid DESC' : 'ORDER BY p.at, p.sid'}`,
      values,
    );
    for (const row of rows) yield JSON.parse(documentIn(row).text) as Call;
    const last = rows.at(-1);
    if (rows.length < some || last === undefined) return;
    from = Number(last.at);
    after = String(last.sid);
    left -= rows.length;
    skip = 0;
    // SQLite works in this thread, and leaves no time for Ctrl-C by itself.
    await nextTurn();
  }
}

/** Where a batch begins: at a time, or after a call. */
interface Start {
  readonly from: number;
  readonly after: string | null;
}

interface Condition {
  readonly values: Value[];
  readonly sql: string;
}

function upwards(account: string, selection: NumericFilter, { from, after }: Start): Condition {
  const { values, put } = parameters();
  const [owner, start] = [put(account), put(from)];
  const rest = after === null ? '' : ` AND (at > ${start} OR sid > ${put(after)})`;
  const sql = `account = ${owner} AND at >= ${start} AND at < ${put(selection.to)}${rest}${otherConditions(selection, put)} ORDER BY at, sid`;
  return { values, sql };
}

function downwards(
  account: string,
  selection: NumericFilter,
  { only = anything }: Part,
  { from, after }: Start,
): Condition {
  const { values, put } = parameters();
  const [owner, end] = [put(account), put(from)];
  const before = after === null ? `at < ${end}` : `at <= ${end} AND (at < ${end} OR sid < ${put(after)})`;
  const kept = [...only].map(([field, wanted]) => {
    const named = wanted.filter((value) => value !== null);
    const isIn = named.length === 0 ? [] : [`${field} IN (${named.map((text) => put(text)).join(', ')})`];
    const isNone = named.length === wanted.length ? [] : [`${field} IS NULL`];
    return ` AND (${[...isIn, ...isNone].join(' OR ') || '1 = 0'})`;
  });
  const sql = `account = ${owner} AND at >= ${put(selection.from)} AND ${before}${otherConditions(selection, put)}${kept.join('')} ORDER BY at DESC, sid DESC`;
  return { values, sql };
}

const anything: NonNullable<Part['only']> = new Map();
