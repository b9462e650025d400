import { decodeText } from './read-json.ts';
import { type ByteRange, quickBorders } from './split-records.ts';

/** Smaller bodies are parsed in one go. */
const smallBody = 131_072;

/** A piece of about this size stays in the cache of the processor from decoding to parsing. */
const pieceSize = 49_152;

/** The records of a large page, if their boundaries are certain; undefined if the whole body has to be parsed. */
export function parseInPieces(body: Buffer, expected: number | null): unknown[] | undefined {
  if (expected === null || body.length < smallBody) return undefined;
  const ranges = quickBorders(body, expected);
  return ranges && parseRanges(body, ranges);
}

/**
 * Decodes and parses records some dozens at a time. That is faster than all at once: large strings are slow to allocate,
 * and a character outside ASCII slows only its own piece down. Undefined when something does not fit.
 */
export function parseRanges(body: Buffer, ranges: readonly ByteRange[]): unknown[] | undefined {
  const records: unknown[] = [];
  try {
    for (let first = 0; first < ranges.length; ) {
      const start = ranges[first]?.start ?? 0;
      let next = first + 1;
      while (next < ranges.length && (ranges[next]?.end ?? 0) - start <= pieceSize) next += 1;
      const piece = JSON.parse(`[${decodeText(body.subarray(start, ranges[next - 1]?.end))}]`) as unknown[];
      if (piece.length !== next - first) return undefined;
      for (const record of piece) records.push(record);
      first = next;
    }
  } catch {
    return undefined;
  }
  return records;
}
