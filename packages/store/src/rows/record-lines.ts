import { type Call, fields, toCall } from '@call-attribution/core';
import { StoreError } from '../database/errors.ts';
import { currentLayout, slotOf, storedForm, storedString } from './layouts.ts';
import { fromValues, type StoredCall, toStored } from './stored-call.ts';

/**
 * The form of a line: a pattern of its keys in order, with groups for the values, and where each value goes (-1: to the unknown
 * fields). A file or a server writes all its records in one form, so that a line is cut at its keys and not parsed.
 */
interface Form {
  readonly pattern: RegExp;
  readonly keys: readonly string[];
  readonly slots: readonly number[];
}

const neutralOfV2 = new Map(fields.flatMap((f) => (f.v2 === null ? [] : [[f.v2, f.name] as const])));

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
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  const form = {
    pattern: new RegExp(`^\\{${keys.map((key) => literally(key) + value).join(',')}\\}$`),
    keys,
    slots: names.map((name) => slotOf((isV2 ? neutralOfV2.get(name) : undefined) ?? name)),
  };
  const values = cut(line, form);
  return values && fromValues(values).packed === packed ? form : null;
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// Only values as JSON.stringify writes them: other escapes and numbers are parsed, so that equal values are stored equally.
const plain = '[^"\\\\\\u0000-\\u001f]*';
const value = `(?:null|"(${plain}(?:\\\\["\\\\bfnrt]${plain})*)"|(-?[1-9]\\d{0,14}|0|true|false))`;

/** Longer lines are parsed: a pattern needs memory for what it may have to try again. */
const longest = 100_000;

/** The stored values of a line in this form. Null when it has another one, or when a value has to be parsed. */
function cut(line: string, { pattern, keys, slots }: Form): string[] | null {
  const found = line.length > longest ? null : pattern.exec(line);
  if (found === null) return null;
  const values = new Array<string>(currentLayout.length + 1).fill('');
  let unknown = '';
  for (let i = 0; i < keys.length; i += 1) {
    const text = found[2 * i + 1];
    const other = found[2 * i + 2];
    const slot = slots[i] as number;
    if (slot < 0) unknown += `${keys[i]}${text === undefined ? (other ?? 'null') : `"${text}"`},`;
    else if (text !== undefined) values[slot] = storedString(text);
    else if (other !== undefined) values[slot] = storedForm(other);
  }
  values[currentLayout.length] = unknown;
  return values;
}
