/** Longest line accepted from a client; a longer one is dropped and reported. */
const maxLineBytes = 4 * 1024 * 1024;

/** Cuts a byte stream into lines. Bytes are joined before decoding, so a character split over chunks survives. */
export interface LineReader {
  push(chunk: Uint8Array): void;
}

/** Calls `onLine` for each line without its line break, and `onTooLong` for a line over the limit. */
export function createLineReader(
  onLine: (line: string) => void,
  onTooLong: () => void,
  limit: number = maxLineBytes,
): LineReader {
  let parts: Uint8Array[] = [];
  let size = 0;
  let skipping = false;

  const keep = (part: Uint8Array): void => {
    if (skipping) return;
    size += part.length;
    if (size > limit) {
      skipping = true;
      parts = [];
    } else {
      parts.push(part);
    }
  };
  const endLine = (): void => {
    const line = skipping ? undefined : Buffer.concat(parts, size).toString('utf8').replace(/\r$/, '');
    parts = [];
    size = 0;
    skipping = false;
    if (line === undefined) onTooLong();
    else if (line.trim() !== '') onLine(line);
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10, from); at !== -1; at = chunk.indexOf(10, from)) {
        keep(chunk.subarray(from, at));
        endLine();
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
  };
}
