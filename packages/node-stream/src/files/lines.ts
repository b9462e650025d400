const lineBreak = 0x0a;
const carriageReturn = 0x0d;

/** Options of `createLineReader`. */
export interface LineReaderOptions {
  /** Longest line, in bytes without its line break. Default: no limit. */
  maxBytes?: number;
  /** Called with the first and the last bytes of a line that is too long. Default: it is left out. */
  onTooLong?: (first: Buffer, last: Buffer) => void;
}

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
 * CR LF and is reported without it: as bytes, which are a view of the chunk where possible, not a copy.
 *
 * @example
 * const reader = createLineReader((line) => handle(JSON.parse(line.toString())));
 * socket.on('data', reader.push).on('end', reader.end);
 */
export function createLineReader(
  onLine: (line: Buffer) => void,
  { maxBytes = Number.POSITIVE_INFINITY, onTooLong = () => {} }: LineReaderOptions = {},
): LineReader {
  let parts: Uint8Array[] = [];
  let size = 0;
  /** The begin of a line that is too long. Of such a line only the end is kept. */
  let first: Buffer | null = null;

  const keep = (part: Uint8Array): void => {
    parts.push(part);
    size += part.length;
    // One byte more than the limit may be the CR of a CR LF.
    if (size <= maxBytes + 1) return;
    const kept = joined(parts);
    first ??= Buffer.from(kept.subarray(0, edge));
    parts = [Buffer.from(kept.subarray(-edge))];
  };
  const endLine = (): void => {
    const bytes = joined(parts);
    const begin = first;
    parts = [];
    size = 0;
    first = null;
    const line = bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes;
    if (begin === null && line.length <= maxBytes) onLine(line);
    else onTooLong(begin ?? bytes.subarray(0, edge), bytes.subarray(-edge));
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
function joined(parts: readonly Uint8Array[]): Buffer {
  const [first] = parts;
  if (parts.length !== 1 || first === undefined) return Buffer.concat(parts);
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}
