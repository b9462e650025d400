import type { ByteRange } from './split-records.ts';

const valueForm = /^(?:"((?:[^"\\]|\\.)*)"|([\d.eE+-]+))/;
const longest = 200;

/**
 * The values of some fields of each record as strings, a list for each field, found in the bytes,
 * which are gone through once: nothing is parsed unless a string or a key has escapes. They are those that
 * `JSON.parse` finds: not those of an object in the record, and the last one where a key comes
 * twice. Undefined for a record that does not have the field, has neither a number nor a string of
 * less than 200 bytes there.
 *
 * @example
 * const [sids, times] = scanFields(page.bytes, page.byteRanges(), ['sid', 'date_added']);
 */
export function scanFields(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  names: readonly string[],
): (string | undefined)[][] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const keys = names.map((name) => JSON.stringify(name));
  const found = names.map(() => new Array<string | undefined>(ranges.length).fill(undefined));
  const keyForm = new RegExp(`(${keys.map(quoted).join('|')})[ \\t\\r\\n]*:[ \\t\\r\\n]*`, 'g');

  let index = 0; // of the record that the key lies in
  let brace = -1; // where the first object in it may begin; -1: nobody has looked
  let walked = 0; // how far it was gone through
  let depth = 0; // objects in it that are open there
  for (let match = keyForm.exec(text); match !== null; match = keyForm.exec(text)) {
    const at = match.index;
    while (index < ranges.length && (ranges[index] as ByteRange).end <= at) {
      index += 1;
      brace = -1;
    }
    const range = ranges[index];
    if (range === undefined) break;

    // A quote after a backslash does not begin a key.
    if (at <= range.start || text[at - 1] === '\\') continue;
    if (brace < 0) {
      brace = text.indexOf('{', range.start + 1);
      if (brace < 0) brace = text.length;
      walked = range.start + 1;
      depth = 0;
    }

    // Nearly no record has an object in front of its keys: then nothing has to be gone through.
    for (; brace < at && walked < at; walked += 1) {
      const char = text[walked];
      if (char === '"') walked = stringEnd(text, walked);
      else if (char === '{') depth += 1;
      else if (char === '}') depth -= 1;
    }
    if (depth > 0) continue;
    const field = keys.indexOf(match[1] as string);
    const values = found[field] as (string | undefined)[];
    values[index] = valueAt(text, keyForm.lastIndex);
  }

  // Nobody writes such a letter with an escape but who hides a key.
  if (text.includes('\\u00') && escapedLetter.test(text))
    for (const [i, range] of ranges.entries())
      if (escapedLetter.test(text.slice(range.start, range.end)))
        parseFields(bytes.subarray(range.start, range.end), names, found, i);
  return found;
}

/** A letter, a digit or an underscore of a name, written as JSON also allows. */
const escapedLetter = /\\u00(?:3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** The same of a record that is parsed. One that cannot be parsed keeps what was found. */
function parseFields(
  bytes: Uint8Array,
  names: readonly string[],
  found: readonly (string | undefined)[][],
  index: number,
): void {
  let record: Readonly<Record<string, unknown>>;
  try {
    record = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return;
  }

  for (const [i, name] of names.entries()) {
    const value = record[name];
    const isShort = typeof value === 'string' && Buffer.byteLength(value) < longest;
    const isKnown = (isShort || typeof value === 'number') && Object.hasOwn(record, name);
    (found[i] as (string | undefined)[])[index] = isKnown ? String(value) : undefined;
  }
}

const quoted = (key: string): string => key.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');

/** Index of the quote that ends a string. */
function stringEnd(text: string, opening: number): number {
  let i = opening + 1;
  for (; i < text.length && text[i] !== '"'; i += 1) if (text[i] === '\\') i += 1;
  return i;
}

function valueAt(text: string, from: number): string | undefined {
  // Nearly every value is a short string without escapes.
  if (text[from] === '"') {
    const end = text.indexOf('"', from + 1);
    const string = end - from < longest ? text.slice(from + 1, end) : '\\';
    if (/^[^\\\x7f-\xff]*$/.test(string)) return string;
  }
  const [, string, number] = valueForm.exec(text.slice(from, from + longest)) ?? [];
  if (number !== undefined) return number;
  if (string === undefined) return undefined;
  try {
    return String(JSON.parse(Buffer.from(`"${string}"`, 'latin1').toString('utf8')));
  } catch {
    return undefined;
  }
}
