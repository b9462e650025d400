import { setImmediate as nextTurn } from 'node:timers/promises';
import { fields } from '@call-attribution/core/record';
import type { Driver, Row } from '../database/driver.ts';
import { document, documentIn } from './documents.ts';
import { noTalk, noTime } from './wire-values.ts';

/** A call as what it is found by and some of its fields. */
export interface ColumnRow {
  /** The call's key in the store: its `sid`, unless that is very long or has characters that a database cannot hold. */
  readonly key: string;
  /** `date_added` in seconds since 1970 on the clock of the API; null when it is not a time. */
  readonly at: number | null;
  /** `talk_minutes` in tenths; null when it is not a number of tenths. */
  readonly tenths: number | null;
  /** Whether the call came through a call extension. */
  readonly extension: boolean;
  /** The values of the requested fields, in their order. */
  readonly values: readonly unknown[];
}

/** Calls per statement: few, since a database in this process keeps it from other work meanwhile. */
const batchSize = 500;

/** All calls of an account in the order of time and key, some at a time. */
export async function* allColumns(
  driver: Driver,
  account: string,
  names: readonly string[],
): AsyncGenerator<ColumnRow[]> {
  const read = columnReader(names);
  for (let at = noTime, key = ''; ; ) {
    const rows = await driver.all(
      `SELECT sid, at, talk, extension, ${document} FROM records
        WHERE account = $1 AND at >= $2 AND (at > $2 OR sid > $3) ORDER BY at, sid LIMIT ${batchSize}`,
      [account, at, key],
    );
    yield rows.map(read);
    const last = rows.at(-1);
    if (rows.length < batchSize || last === undefined) return;
    at = Number(last.at);
    key = String(last.sid);
    await nextTurn();
  }
}

/** The calls with these keys that exist, in any order. */
export async function columnsOf(
  driver: Driver,
  account: string,
  names: readonly string[],
  keys: readonly string[],
): Promise<ColumnRow[]> {
  const read = columnReader(names);
  const found: ColumnRow[] = [];
  for (let start = 0; start < keys.length; start += batchSize) {
    // CROSS JOIN makes SQLite look each key up.
    const rows = await driver.all(
      `SELECT sid, at, talk, extension, ${document}
         FROM ${driver.dialect.listAsTable('$2')} CROSS JOIN records WHERE account = $1 AND sid = list.value`,
      [account, driver.dialect.list(keys.slice(start, start + batchSize))],
    );
    for (const row of rows) found.push(read(row));
  }
  return found;
}

function columnReader(names: readonly string[]): (row: Row) => ColumnRow {
  for (const name of names) if (!fieldNames.has(name)) throw new RangeError(`There is no field ${name}.`);
  return (row) => {
    const call = JSON.parse(documentIn(row).text) as Readonly<Record<string, unknown>>;
    return {
      key: String(row.sid),
      at: row.at === noTime ? null : Number(row.at),
      tenths: row.talk === noTalk ? null : Number(row.talk),
      extension: Number(row.extension) === 1,
      values: names.map((name) => call[name] ?? null),
    };
  };
}

const fieldNames = new Set(fields.map(({ name }) => name));
