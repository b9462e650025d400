import { isAscii } from 'node:buffer';
import { type Call, fields, toCall } from '@call-attribution/core/record';
import { StoreError } from '../database/errors.ts';
import { ownColumns } from '../database/own-columns.ts';

/** A text as JSON.stringify writes it, without \\u, a whole number of few digits, a truth value or null. */
const plainValue = String.raw`(?:"[^"\\\0-\x1f\ud800-\udfff]*(?:\\["\\bfnrt][^"\\\0-\x1f\ud800-\udfff]*)*"|null|-?[1-9]\d{0,14}|0|true|false)`;

/** The fields that a row takes from a record. */
const taken = new Set([
  ...['sid', 'ani', 'channel', 'date_added', 'talk_minutes'],
  ...ownColumns.map(({ name }) => name),
]);
const ofV3 = fields.flatMap(({ name, v3 }) => (v3 === null ? [] : [name]));
const captured = ofV3.filter((name) => taken.has(name));
const ownForm = new RegExp(
  `^\\{${ofV3.map((name) => `"${name}":${taken.has(name) ? `(${plainValue})` : plainValue}`).join(',')}\\}$`,
);

/**
 * The fields that a row takes from a line that is what `JSON.stringify` writes of a record of v3: all of its fields in their order, no
 * others and none twice, no spaces, nothing nested and no escapes that SQL could not read. Reading and writing such a line would give
 * the same text, in many times the time. Null for any other line.
 */
export function fieldsOfOwnForm(line: string): Readonly<Record<string, unknown>> | null {
  const found = ownForm.exec(line);
  if (found === null) return null;
  const values: Record<string, unknown> = {};
  for (const [i, name] of captured.entries()) values[name] = parsed(found[i + 1] ?? 'null');
  return values;
}

function parsed(json: string): unknown {
  // Most are texts without escapes.
  if (json.charCodeAt(0) === quote && !json.includes('\\')) return json.slice(1, -1);
  return JSON.parse(json);
}

const quote = 0x22;

/** The text of a line. Of plain ASCII, latin1 is the same text, sooner. */
export function textOfLine(given: string | Uint8Array): string {
  if (typeof given === 'string') return given;
  const { buffer, byteOffset, byteLength } = given;
  return Buffer.from(buffer, byteOffset, byteLength).toString(isAscii(given) ? 'latin1' : 'utf8');
}

/** The call of a line of JSON: of a record of either version, or of a neutral call. Throws `unfit_record` when it is none. */
export function callOfLine(line: string): Call {
  try {
    const record: unknown = JSON.parse(line);
    const isV2 = typeof record === 'object' && record !== null && Object.hasOwn(record, 'baseuri');
    return toCall(record, isV2 ? 'v2' : 'v3', { records: 'off' });
  } catch {
    // The cause may quote the line, and with it a caller's data.
    throw new StoreError('unfit_record', 'A record is not the JSON of a call, so it cannot be stored.');
  }
}
