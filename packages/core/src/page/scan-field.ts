import type { ByteRange } from './split-records.ts';

// A string is a key where a colon follows.
const valueForm = /^[ \t\r\n]*:[ \t\r\n]*(?:"((?:[^"\\]|\\.)*)"|([\d.eE+-]+))/;
const longest = 200;

/**
 * The value of one field of each record as a string, found in the bytes, which are gone through
 * once: nothing is parsed unless a string has escapes. Undefined for a record that does not have
 * the field, or has neither a number nor a string of less than 200 bytes there.
 *
 * @example
 * const sids = scanField(page.bytes, page.byteRanges(), 'sid');
 */
export function scanField(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  name: string,
): (string | undefined)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const key = Buffer.from(JSON.stringify(name));
  let at = buffer.indexOf(key);
  return ranges.map(({ start, end }) => {
    if (at >= 0 && at < start) at = buffer.indexOf(key, start);
    for (; at >= 0 && at < end; at = buffer.indexOf(key, at + key.length)) {
      // A quote after a backslash does not begin a key.
      if (buffer[at - 1] === 0x5c) continue;
      const from = at + key.length;
      const [, string, number] =
        valueForm.exec(buffer.toString('latin1', from, from + longest)) ?? [];
      if (number !== undefined) return number;
      if (string === undefined) continue;
      if (/^[^\\\x7f-\xff]*$/.test(string)) return string;
      try {
        return String(JSON.parse(Buffer.from(`"${string}"`, 'latin1').toString('utf8')));
      } catch {}
    }

    return undefined;
  });
}
