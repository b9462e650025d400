import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Driver, Row } from '../database/driver.ts';
import { type Layouts, literalOf, separator, slotOf } from './layouts.ts';
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
  layouts: Layouts,
  account: string,
  fields: readonly string[],
): AsyncGenerator<ColumnRow[]> {
  const read = columnReader(layouts, fields);
  for (let at = noTime, key = ''; ; ) {
    const rows = await driver.all(
      `SELECT sid, at, talk, extension, layout, packed FROM calls
        WHERE account = $1 AND at >= $2 AND (at > $2 OR sid > $3) ORDER BY at, sid LIMIT ${batchSize}`,
      [account, at, key],
    );
    await layouts.learn(driver, rows);
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
  layouts: Layouts,
  account: string,
  fields: readonly string[],
  keys: readonly string[],
): Promise<ColumnRow[]> {
  const read = columnReader(layouts, fields);
  const found: ColumnRow[] = [];
  for (let start = 0; start < keys.length; start += batchSize) {
    // CROSS JOIN makes SQLite look each key up.
    const rows = await driver.all(
      `SELECT c.sid AS sid, c.at AS at, c.talk AS talk, c.extension AS extension, c.layout AS layout, c.packed AS packed
         FROM ${driver.dialect.listAsTable('$2')} CROSS JOIN calls c WHERE c.account = $1 AND c.sid = list.value`,
      [account, driver.dialect.list(keys.slice(start, start + batchSize))],
    );
    await layouts.learn(driver, rows);
    for (const row of rows) found.push(read(row));
  }
  return found;
}

function columnReader(layouts: Layouts, fields: readonly string[]): (row: Row) => ColumnRow {
  const slots = fields.map((name) => {
    const slot = slotOf(name);
    if (slot < 0) throw new RangeError(`There is no field ${name}.`);
    return slot;
  });
  const last = Math.max(-1, ...slots);
  return (row) => {
    const stored = row.layout === layouts.current ? splitUpTo(String(row.packed), last) : layouts.unpack(row);
    return {
      key: String(row.sid),
      at: row.at === noTime ? null : Number(row.at),
      tenths: row.talk === noTalk ? null : Number(row.talk),
      extension: Number(row.extension) === 1,
      values: slots.map((slot) => fieldValue(stored[slot] ?? '')),
    };
  };
}

/** The values up to a slot: the others are not cut out. */
function splitUpTo(packed: string, last: number): string[] {
  return packed.split(separator, last + 1);
}

function fieldValue(stored: string): unknown {
  if (stored === '') return null;
  if (stored.startsWith('=') || stored.startsWith('"') || stored.includes('\\'))
    return JSON.parse(literalOf(stored));
  return stored;
}
