import { ResponseError } from '../errors/classes.ts';

/** Where one record is in the bytes of a page. */
export interface ByteRange {
  /** Index of its `{`. */
  readonly start: number;
  /** Index just after its `}`. */
  readonly end: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the records of a JSON array without parsing it. Throws a `ResponseError` when the bytes are
 * not an array of objects, or end too early.
 *
 * @param expected how many records there should be: then a quicker way may find them.
 * @example
 * for (const { start, end } of splitRecords(bytes)) lines.push(bytes.subarray(start, end));
 */
export function splitRecords(bytes: Uint8Array, expected?: number): ByteRange[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const inner = innerRange(buffer);
  if (inner === undefined) return [];
  const quick = expected === undefined ? undefined : quickSplit(buffer, inner, expected);
  return quick ?? exactSplit(buffer, inner);
}

/** From the first `{` to after the last `}`; undefined for an empty array. */
function innerRange(buffer: Buffer): ByteRange | undefined {
  // A byte order mark is not part of the text.
  let start = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0;
  let end = buffer.length;
  while (start < end && isSpace(buffer[start])) start += 1;
  while (end > start && isSpace(buffer[end - 1])) end -= 1;
  if (end - start < 2 || buffer[start] !== 0x5b || buffer[end - 1] !== 0x5d)
    throw broken('it is not a complete array');
  start += 1;
  end -= 1;
  while (start < end && isSpace(buffer[start])) start += 1;
  while (end > start && isSpace(buffer[end - 1])) end -= 1;
  if (start === end) return undefined;
  if (buffer[start] !== 0x7b)
    throw new ResponseError(
      'invalid_record',
      'A call record must be an object; found something else in the array.',
      { hint: 'Check that the base URL points to the call-attribution API.' },
    );

  if (buffer[end - 1] !== 0x7d) throw broken('its last record has no end');
  return { start, end };
}

/**
 * Records of one server begin with the same key, so this looks for `},{"key":` with the byte search
 * of Node.js. It cannot occur inside a string, where its quotes would be escaped, but it can
 * between nested objects in an array. If there may be an array, or the number of records is not the
 * expected one, the exact way decides.
 */
function quickSplit(
  buffer: Buffer,
  { start, end }: ByteRange,
  expected: number,
): ByteRange[] | undefined {
  const keyEnd = buffer[start + 1] === quote ? buffer.indexOf('":', start + 2) : -1;
  if (keyEnd < 0 || keyEnd - start > 64 || mayHoldArray(buffer, start, end)) return undefined;
  const border = Buffer.concat([Buffer.from('},'), buffer.subarray(start, keyEnd + 2)]);
  const ranges: ByteRange[] = [];
  let from = start;
  for (let at = buffer.indexOf(border, from); at >= 0; at = buffer.indexOf(border, from)) {
    ranges.push({ start: from, end: at + 1 });
    if (ranges.length >= expected) return undefined;
    from = at + 2;
  }

  ranges.push({ start: from, end });
  return ranges.length === expected ? ranges : undefined;
}

/**
 * An array within a record follows a colon, a comma or another array; in a string, a bracket mostly
 * follows something else.
 */
function mayHoldArray(buffer: Buffer, start: number, end: number): boolean {
  for (
    let at = buffer.indexOf(0x5b, start);
    at >= 0 && at < end;
    at = buffer.indexOf(0x5b, at + 1)
  ) {
    let before = at - 1;
    while (before > start && isSpace(buffer[before])) before -= 1;
    const byte = buffer[before];
    if (byte === 0x3a || byte === 0x2c || byte === 0x5b) return true;
  }
  return false;
}

/** Goes through every byte: skips strings and counts braces. */
function exactSplit(buffer: Buffer, { start, end }: ByteRange): ByteRange[] {
  const ranges: ByteRange[] = [];
  let depth = 0;
  let from = start;
  let comma = true;
  for (let i = start; i < end; i += 1) {
    const byte = buffer[i];
    if (byte === quote) {
      if (depth === 0) throw broken('it holds something other than objects');
      i = skipString(buffer, i, end);
    } else if (byte === 0x7b || byte === 0x5b) {
      if (depth === 0) {
        if (!comma || byte === 0x5b) throw broken('it holds something other than objects');
        from = i;
        comma = false;
      }
      depth += 1;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
      if (depth < 0) throw broken('its brackets do not match');
      if (depth === 0) ranges.push({ start: from, end: i + 1 });
    } else if (depth === 0) {
      if (byte === 0x2c && !comma) comma = true;
      else if (!isSpace(byte)) throw broken('it holds something other than objects');
    }
  }

  if (depth !== 0 || comma) throw broken('it ends in the middle of a record');
  return ranges;
}

function skipString(buffer: Buffer, opening: number, end: number): number {
  for (let i = opening + 1; i < end; i += 1) {
    const byte = buffer[i];
    if (byte === quote) return i;
    if (byte === backslash) i += 1;
  }
  throw broken('it ends in the middle of a string');
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function broken(how: string): ResponseError {
  return new ResponseError('invalid_json', `The body is not a JSON array of calls: ${how}.`, {
    hint: 'A proxy may have cut the response; fewer rows may help.',
    isRetryable: true,
  });
}
