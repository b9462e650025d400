import { isAscii } from 'node:buffer';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';

const lineBreak = 0x0a;
const carriageReturn = 0x0d;

const lineOptions = defineOptions({
  /** Longest line, in bytes without its line break. Default: no limit. */
  maxBytes: option.whole(1).or(option.only(Number.POSITIVE_INFINITY)).default(Number.POSITIVE_INFINITY),
});
const readerOptions = defineOptions({
  ...lineOptions.entries,
  /** Called with the first and the last bytes of a line that is too long. Default: it is left out. */
  onTooLong: option.callback<(first: Buffer, last: Buffer) => void>().default(() => {}),
});

/** Options of `readLines`. */
export interface LineOptions extends OptionsOf<typeof lineOptions> {}
/** Options of `createLineReader`. */
export interface LineReaderOptions extends OptionsOf<typeof readerOptions> {}

/** Bytes of a line that is too long that are still reported, from each end. */
const edge = 256;

/** Takes bytes as they come and reports the lines in them. */
export interface LineReader {
  /** Takes the next bytes. */
  push(chunk: Uint8Array): void;
  /** Ends the input: a last line without a line break is reported too. */
  end(): void;
}

/**
 * Cuts chunks of bytes into lines, in time proportional to their length however long a line is. A line ends with LF or
 * CR LF and is reported without it. Bytes are joined before they are decoded, so a character that is split between two
 * chunks stays whole.
 *
 * @example
 * const reader = createLineReader((line) => handle(JSON.parse(line)));
 * socket.on('data', reader.push).on('end', reader.end);
 */
export function createLineReader(
  onLine: (line: string) => void,
  options: LineReaderOptions = {},
): LineReader {
  // For plain ASCII both give the same, and latin1 is faster.
  return createByteLineReader((line) => onLine(line.toString(isAscii(line) ? 'latin1' : 'utf8')), options);
}

/**
 * Like `createLineReader`, but reports lines as bytes. They are a view of the chunk where possible, not a copy.
 *
 * @example
 * const reader = createByteLineReader((line) => lines.push(line));
 * for await (const chunk of createReadStream('calls.ndjson')) reader.push(chunk);
 * reader.end();
 */
export function createByteLineReader(
  onLine: (line: Buffer) => void,
  options: LineReaderOptions = {},
): LineReader {
  const { maxBytes, onTooLong } = readerOptions.read(options);
  let parts: Uint8Array[] = [];
  let size = 0;
  let edges: [first: Buffer, last: Buffer] | null = null;

  const keep = (part: Uint8Array): void => {
    size += part.length;
    // One byte more than the limit may be the CR of a CR LF.
    if (size <= maxBytes + 1) parts.push(part);
    else {
      const kept = joined([...parts, part], parts.reduce((sum, each) => sum + each.length, 0) + part.length);
      edges = [Buffer.from(edges?.[0] ?? kept.subarray(0, edge)), Buffer.from(kept.subarray(-edge))];
      parts = [edges[1]];
    }
  };
  const endLine = (): void => {
    const bytes = size <= maxBytes + 1 ? joined(parts, size) : null;
    const [first, last] = edges ?? [Buffer.alloc(0), Buffer.alloc(0)];
    parts = [];
    size = 0;
    edges = null;
    const end = bytes?.at(-1) === carriageReturn ? bytes.length - 1 : bytes?.length;
    if (bytes === null || end === undefined || end > maxBytes)
      onTooLong(bytes?.subarray(0, edge) ?? first, bytes?.subarray(-edge) ?? last);
    else onLine(end === bytes.length ? bytes : bytes.subarray(0, end));
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(lineBreak); at >= 0; at = chunk.indexOf(lineBreak, from)) {
        keep(chunk.subarray(from, at));
        endLine();
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end() {
      if (size > 0) endLine();
    },
  };
}

/** Parts as one buffer. Most lines are in one part, which is not copied. */
function joined(parts: readonly Uint8Array[], size: number): Buffer {
  const [first] = parts;
  if (parts.length !== 1 || first === undefined) return Buffer.concat(parts, size);
  if (Buffer.isBuffer(first)) return first;
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

/**
 * The lines of a stream of bytes or strings, without their line breaks. Throws an `ItemError` with the number of the
 * line when one is longer than `maxBytes`.
 *
 * @example
 * for await (const line of readLines(createReadStream('calls.ndjson'))) handle(JSON.parse(line));
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  options: LineOptions = {},
): AsyncGenerator<string, void, undefined> {
  const { maxBytes } = lineOptions.read(options);
  let count = 0;
  let ready: (string | null)[] = [];
  const reader = createLineReader((line) => ready.push(line), {
    maxBytes,
    onTooLong: () => ready.push(null),
  });
  const taken = function* (): Generator<string, void, undefined> {
    const lines = ready;
    ready = [];
    for (const line of lines) {
      count += 1;
      if (line === null)
        throw new ItemError('line_too_long', `Line ${count} is longer than ${maxBytes} bytes.`);
      yield line;
    }
  };
  for await (const chunk of source) {
    reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    yield* taken();
  }
  reader.end();
  yield* taken();
}
