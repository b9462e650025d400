import { type Call, fields, isCallExtension } from '@call-attribution/core';
import { StoreError } from '../database/errors.ts';
import { noTalk, secondsOf, tenthsOf } from './wire-values.ts';

/** A call as three parts of JSON. The record of a version is two of them, joined, so that a request prints no JSON. */
export interface StoredCall {
  readonly sid: string;
  readonly at: number;
  readonly talk: number;
  readonly extension: 0 | 1;
  /** `{` and the fields that both versions share, ending in a comma. */
  readonly common: string;
  /** The fields of one version only, ending in `}`. */
  readonly v2: string;
  readonly v3: string;
}

/** A field to print: its name in the neutral call, and its JSON key with a colon. */
interface Field {
  readonly name: string;
  readonly key: string;
}

const field = (name: string, wire: string): Field => ({ name, key: `${JSON.stringify(wire)}:` });
const shared = fields.filter((f) => f.v2 !== null && f.v2 === f.v3).map((f) => field(f.name, f.name));
const onlyV2 = fields.flatMap((f) => (f.v2 !== null && f.v2 !== f.v3 ? [field(f.name, f.v2)] : []));
const onlyV3 = fields.flatMap((f) => (f.v3 !== null && f.v2 !== f.v3 ? [field(f.name, f.v3)] : []));
/** Fields that a v3 record does not have. */
const keptInV2 = fields.flatMap((f) =>
  f.v3 === null && f.v2 !== null ? [{ name: f.name, wire: f.v2 }] : [],
);
const known = new Set(fields.flatMap((f) => [f.name, f.v2, f.v3]));

/** Splits a call into what the store keeps. A call that cannot be stored is refused by its sid and the name of the field. */
export function toStored(call: Call): StoredCall {
  const record = call as unknown as Readonly<Record<string, unknown>>;
  const sid = record.sid;
  if (typeof sid !== 'string' || sid === '' || sid.length > 500 || sid.includes('\0')) {
    throw new StoreError(
      'unfit_record',
      'A call does not have a usable sid: expected a string of 1 to 500 characters.',
    );
  }
  const added = record.date_added;
  const at = typeof added === 'string' ? secondsOf(added) : null;
  if (at === null) throw unfit(sid, 'date_added', 'YYYY-MM-DD HH:MM:SS');
  const minutes = record.talk_minutes;
  const talk =
    minutes === null || minutes === undefined
      ? noTalk
      : typeof minutes === 'string'
        ? tenthsOf(minutes)
        : null;
  if (talk === null)
    throw unfit(sid, 'talk_minutes', 'a decimal string in tenths of a minute, such as "1.3"');
  return {
    sid,
    at,
    talk,
    extension: isCallExtension(record) ? 1 : 0,
    common: `{${print(record, shared)},${unknownFields(record)}`,
    v2: `${print(record, onlyV2)}}`,
    v3: `${print(record, onlyV3)}}`,
  };
}

function unfit(sid: string, field: string, expected: string): StoreError {
  return new StoreError('unfit_record', `Call ${sid} cannot be stored: its ${field} is not ${expected}.`);
}

// Characters that JSON writes with a backslash. Most values have none and only need quotes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these.
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

function print(record: Readonly<Record<string, unknown>>, list: readonly Field[]): string {
  let text = '';
  for (const { name, key } of list) {
    const value = record[name] ?? null;
    const plain = typeof value === 'string' && !escaped.test(value);
    text += text === '' ? key : `,${key}`;
    text += plain ? `"${value}"` : JSON.stringify(value);
  }
  return text;
}

/** Fields that are not in the field table are kept as they came, in both versions. */
function unknownFields(record: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const name of Object.keys(record)) {
    if (!known.has(name) && record[name] !== undefined)
      text += `${JSON.stringify(name)}:${JSON.stringify(record[name])},`;
  }
  return text;
}

/** The neutral call of the three stored parts: the v3 record, and what only v2 has. */
export function fromStored(common: string, v2: string, v3: string): Call {
  const call = JSON.parse(common + v3) as Record<string, unknown>;
  const older = JSON.parse(`{${v2}`) as Record<string, unknown>;
  for (const { name, wire } of keptInV2) call[name] = older[wire];
  return call as unknown as Call;
}

/** A part as the driver returns it: bytes from SQLite, a string from PostgreSQL. */
type JsonPart = ArrayBuffer | string;

/** A part as a string, whichever driver read it. */
export function jsonText(part: unknown): string {
  return typeof part === 'string' ? part : Buffer.from(part as ArrayBuffer).toString('utf8');
}

/** A piece of a JSON array: the records separated by commas, with `before` at the start and `after` at the end. */
export function joinDocuments(
  rows: readonly Readonly<Record<string, unknown>>[],
  before: '[' | ',',
  after: ']' | '',
): Buffer {
  const records = rows as readonly { readonly head: JsonPart; readonly tail: JsonPart }[];
  if (typeof records[0]?.head === 'string') {
    let text = '';
    for (const { head, tail } of records)
      text += `${text === '' ? before : ','}${head as string}${tail as string}`;
    return Buffer.from(text + after);
  }
  let length = rows.length + after.length;
  for (const { head, tail } of records)
    length += (head as ArrayBuffer).byteLength + (tail as ArrayBuffer).byteLength;
  const page = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { head, tail } of records) {
    page[at] = at === 0 ? before.charCodeAt(0) : 0x2c;
    page.set(new Uint8Array(head as ArrayBuffer), at + 1);
    page.set(new Uint8Array(tail as ArrayBuffer), at + 1 + (head as ArrayBuffer).byteLength);
    at += 1 + (head as ArrayBuffer).byteLength + (tail as ArrayBuffer).byteLength;
  }
  if (after !== '') page[at] = after.charCodeAt(0);
  return page;
}
