import { type Call, fields, toCall } from '@call-attribution/core';
import { StoreError } from '../database/errors.ts';
import { currentLayout, storedForm } from './layouts.ts';
import { fromValues, type StoredCall, toStored } from './stored-call.ts';

/**
 * The form of a line: its keys in order as they are written, and for each where its value goes. -1: to the unknown fields.
 * A file or a server writes all its records in one form, so that a line is cut at its keys and not parsed.
 */
interface Form {
  readonly keys: readonly string[];
  readonly slots: readonly number[];
}

const neutralOfV2 = new Map(fields.flatMap((f) => (f.v2 === null ? [] : [[f.v2, f.name] as const])));
const slotOf = new Map(currentLayout.map((name, i) => [name, i]));

/** Reads the JSON of records of either version, or of neutral calls. Throws `unfit_record` when a line is not the JSON of a call. */
export function createLineParser(): (line: string) => StoredCall {
  let form: Form | null = null;
  return (line) => {
    const values = form && cut(line, form);
    if (values) return fromValues(values);
    const { record, isV2, call } = parse(line);
    const stored = toStored(call);
    form = trustedForm(record, isV2, line, stored.packed) ?? form;
    return stored;
  };
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

/** The form of a parsed line, if cutting the line gives what parsing gave. */
function trustedForm(record: object, isV2: boolean, line: string, packed: string): Form | null {
  const names = Object.keys(record);
  const form = {
    keys: names.map((name) => `${JSON.stringify(name)}:`),
    slots: names.map((name) => slotOf.get((isV2 ? neutralOfV2.get(name) : undefined) ?? name) ?? -1),
  };
  const values = cut(line, form);
  return values && fromValues(values).packed === packed ? form : null;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
/** What a line must not have to be cut: characters that JSON does not allow in strings, and escapes that can be written shorter. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not allow exactly these.
const unusual = /[\u0000-\u001f]|\\[^"\\bfnrt]/;
/** Values that JSON.stringify writes as they are. */
const plainValue = /^(?:null|-?[1-9]\d{0,14}|0|true|false)$/;

/** The stored values of a line in this form. Null when it has another one, or when a value has to be parsed. */
function cut(line: string, { keys, slots }: Form): string[] | null {
  if (unusual.test(line)) return null;
  const values = new Array<string>(currentLayout.length + 1).fill('');
  let unknown = '';
  let at = 1;
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] as string;
    if (!line.startsWith(key, at)) return null;
    const from = at + key.length;
    const to = endOfValue(line, from);
    if (to < 0) return null;
    const literal = line.slice(from, to);
    if (literal.charCodeAt(0) !== quote && !plainValue.test(literal)) return null;
    const slot = slots[i] as number;
    if (slot >= 0) values[slot] = storedForm(literal);
    else unknown += `${key}${literal},`;
    if (i < keys.length - 1 && line.charCodeAt(to) !== comma) return null;
    at = to + 1;
  }
  if (line[0] !== '{' || line[at - 1] !== '}' || at !== line.length) return null;
  values[currentLayout.length] = unknown;
  return values;
}

/** The index after a value, or -1 when it has no end. */
function endOfValue(line: string, from: number): number {
  if (line.charCodeAt(from) !== quote) {
    for (let to = from; to < line.length; to += 1)
      if (line.charCodeAt(to) === comma || line[to] === '}') return to;
    return -1;
  }
  for (let to = line.indexOf('"', from + 1); to >= 0; to = line.indexOf('"', to + 1)) {
    let escapes = 0;
    while (line.charCodeAt(to - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return to + 1;
  }
  return -1;
}
