import { type Call, fields, isCallExtension, isTooDeep } from '@call-attribution/core';
import { StoreError } from '../database/errors.ts';
import { stringOf } from './documents.ts';
import { currentLayout, literalOf, separator, slotOf, storedForm } from './layouts.ts';
import { keyOf } from './record-key.ts';
import { noTalk, noTime, secondsOf, tenthsOf } from './wire-values.ts';

/** A call as a row: what it is found and counted by, and its values. */
export interface StoredCall {
  readonly key: string;
  readonly at: number;
  readonly talk: number;
  readonly extension: 0 | 1;
  /** The values of the current layout and the unknown fields, as UTF-8. */
  readonly packed: Buffer;
}

const known = new Set(fields.flatMap((f) => [f.name, f.v2, f.v3]));

/** A call as the store keeps it. A call without a sid is refused, because it could not be told from others, and one nested too deep. */
export function toStored(call: Call): StoredCall {
  const record = call as unknown as Readonly<Record<string, unknown>>;
  for (const name in record)
    if (isTooDeep(record[name]))
      throw new StoreError(
        'unfit_record',
        'A call has a value nested more than 1,000 levels deep, so it cannot be stored.',
      );
  const values = currentLayout.map((name) => storedValue(record[name]));
  values.push(unknownFields(record));
  return rowOf(Buffer.from(values.join(separator)), (slot) => values[slot] ?? '');
}

/** A row from its values. A value that cannot be filtered by exactly is kept, and no filter on its field finds the call. */
export function rowOf(packed: Buffer, valueIn: (slot: number) => string): StoredCall {
  const sidValue = valueIn(slots.sid);
  // A few servers send it as a number.
  const sid = stringOf(sidValue) ?? /^=(\d+)$/.exec(sidValue)?.[1];
  if (!sid) {
    throw new StoreError('unfit_record', 'A call does not have a sid, so it cannot be stored.');
  }
  return {
    key: keyOf(sid),
    at: secondsOf(stringOf(valueIn(slots.date_added)) ?? '') ?? noTime,
    talk: tenthsOf(stringOf(valueIn(slots.talk_minutes)) ?? '') ?? noTalk,
    extension: isCallExtension({ channel: stringOf(valueIn(slots.channel)) }) ? 1 : 0,
    packed,
  };
}

/** The caller's number as it was sent, for those who asked to be erased. */
export function callerOf({ packed }: StoredCall): unknown {
  return callerIn(packed.toString().split(separator));
}

/** The sid among stored values, which a few servers send as a number. */
export function sidIn(values: readonly string[]): string {
  return String(JSON.parse(literalOf(values[slots.sid] ?? '')));
}

/** The caller's number among stored values: text, or whatever a server has sent instead. */
export function callerIn(values: readonly string[]): unknown {
  const stored = values[slots.ani] ?? '';
  return stringOf(stored) ?? JSON.parse(literalOf(stored));
}

const slots = {
  sid: slotOf('sid'),
  date_added: slotOf('date_added'),
  talk_minutes: slotOf('talk_minutes'),
  channel: slotOf('channel'),
  ani: slotOf('ani'),
};

// Characters that JSON writes with a backslash, and what `storedForm` looks for. Most values have neither.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these.
const special = /^=|["\\\u0000-\u001f\ud800-\udfff]/;

function storedValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string' && value !== '' && !special.test(value)) return value;
  return storedForm(JSON.stringify(value) ?? 'null');
}

/** Fields that are not in the field table are kept as they came, in both versions. */
function unknownFields(record: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const name in record) {
    if (!known.has(name) && record[name] !== undefined)
      text += `${JSON.stringify(name)}:${JSON.stringify(record[name])},`;
  }
  return text;
}
