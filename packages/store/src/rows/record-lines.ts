import { isUtf8 } from 'node:buffer';
import { type Call, fields, toCall } from '@call-attribution/core';
import { StoreError } from '../database/errors.ts';
import { type LineForm, lineForm, packLine } from './line-form.ts';
import { rowOf, type StoredCall, toStored } from './stored-call.ts';

const neutralOfV2 = new Map(fields.flatMap((f) => (f.v2 === null ? [] : [[f.v2, f.name] as const])));
const replaced = Buffer.from('\ufffd');

/** Reads the JSON of records of either version, or of neutral calls. Throws `unfit_record` when a line is not the JSON of a call. */
export function createLineParser(): (line: string | Uint8Array) => StoredCall {
  let form: LineForm | null = null;
  const cut = (bytes: Buffer, known: LineForm): StoredCall | null => {
    const line = packLine(bytes, known);
    return line && rowOf(line.packed, line.valueIn);
  };
  return (line) => {
    const bytes = utf8Of(line);
    const found = bytes && form && cut(bytes, form);
    if (found) return found;
    const { record, isV2, call } = parse(typeof line === 'string' ? line : Buffer.from(line).toString());
    const stored = toStored(call);
    const next = lineForm(Object.keys(record), (key) => (isV2 ? neutralOfV2.get(key) : undefined) ?? key);
    // A form is trusted if cutting the line gives what parsing gave.
    if (bytes !== null && cut(bytes, next)?.packed.equals(stored.packed)) form = next;
    return stored;
  };
}

/** A line as UTF-8. Null when it has characters that UTF-8 cannot hold, such as half of a surrogate pair. */
function utf8Of(line: string | Uint8Array): Buffer | null {
  if (typeof line === 'string') {
    const bytes = Buffer.from(line);
    return bytes.includes(replaced) ? null : bytes;
  }
  return isUtf8(line) ? Buffer.from(line.buffer, line.byteOffset, line.byteLength) : null;
}

function parse(line: string): { record: object; isV2: boolean; call: Call } {
  try {
    const record: unknown = JSON.parse(line);
    const isV2 = typeof record === 'object' && record !== null && Object.hasOwn(record, 'baseuri');
    return { record: record as object, isV2, call: toCall(record, isV2 ? 'v2' : 'v3', { records: 'off' }) };
  } catch {
    // The cause may quote the line, and with it a caller's data.
    throw new StoreError('unfit_record', 'A record is not the JSON of a call, so it cannot be stored.');
  }
}
