import type { Batch } from '../slicing/run.ts';

const newline = 0x0a;
const return_ = 0x0d;
const blank = 0x20;

/**
 * The records of a batch as lines of JSON, cut out of the page. `mayReuse`: the page is read by nobody else, so that
 * the commas between its records may become line ends where they stand and nothing is copied.
 */
export function ndjsonOf({ page, keep }: Batch, mayReuse: boolean): Buffer {
  const borders = page.slices();
  const [first, last] = [borders[0], borders.at(-1)];
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  const bytes = Buffer.from(page.bytes.buffer, page.bytes.byteOffset, page.bytes.byteLength);
  const body = bytes.subarray(first.start, last.end);
  const isPretty = body.includes(newline) || body.includes(return_);
  const isTight =
    last.end < bytes.length &&
    borders.every(({ start }, i) => i === 0 || start === (borders[i - 1]?.end ?? 0) + 1);
  if (keep === null && !isPretty && isTight) {
    const lines = mayReuse ? bytes : Buffer.from(bytes);
    for (const { end } of borders) lines[end] = newline;
    return lines.subarray(first.start, last.end + 1);
  }
  const lines = [...(keep ?? borders.keys())].map((i) => {
    const { start, end } = borders[i] ?? first;
    const text = bytes.subarray(start, end);
    return isPretty ? onOneLine(text) : text;
  });
  return Buffer.concat(lines.flatMap((line) => [line, lineEnd]));
}

/** Line ends lie between the values only, for in a text they are escaped: as blanks they change no value. */
function onOneLine(text: Buffer): Buffer {
  return Buffer.from(text.map((byte) => (byte === newline || byte === return_ ? blank : byte)));
}

const lineEnd = Buffer.from('\n');
