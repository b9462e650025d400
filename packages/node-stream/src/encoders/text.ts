import { defineOperator } from '../operators/chain.ts';
import type { Operator } from '../operators/operator.ts';
import { jsonOf, recordTexts } from './row-text.ts';

/**
 * Writes one JSON object per line, in UTF-8. `createCallByteStream` gives the lines exactly as the
 * API sent them, at a fraction of the cost.
 *
 * @example
 * await pipeline(createCallStream(client), toNdjson(), process.stdout);
 */
export function toNdjson<T = unknown>(): Operator<T, Uint8Array> {
  return defineOperator<T, Uint8Array>({
    name: 'toNdjson',
    gives: 'other',
    rows: { format: 'ndjson', fields: null, text: recordTexts() },
    begin: () => ({ page: (items) => chunksOf(items, (item) => `${jsonOf(item, item, null)}\n`) }),
  });
}

/**
 * Writes one JSON array with a record per line, and `[]` when there are no records.
 *
 * @example
 * await pipeline(createCallStream(client), toJsonArray(), process.stdout);
 */
export function toJsonArray<T = unknown>(): Operator<T, Uint8Array> {
  return defineOperator<T, Uint8Array>({
    name: 'toJsonArray',
    gives: 'other',
    rows: { format: 'json', fields: null, text: recordTexts() },
    begin(state) {
      let isEmpty = state === null;
      return {
        page: (items) =>
          chunksOf(items, (item) => {
            const text = `${isEmpty ? '[' : ','}\n${jsonOf(item, item, null)}`;
            isEmpty = false;
            return text;
          }),
        end: () => [Buffer.from(isEmpty ? '[]\n' : '\n]\n')],
        save: () => (isEmpty ? null : 'begun'),
      };
    },
  });
}

/** Size of a chunk in bytes, unless a single text is longer. */
const chunkBytes = 65_536;

/**
 * The texts of items as bytes. Each is encoded into a chunk at once: that is twice as fast as
 * joining many short strings first, and a string with characters outside Latin-1 does not slow down
 * the others.
 */
export function chunksOf<T>(items: readonly T[], textOf: (item: T) => string): Uint8Array[] {
  const full: Uint8Array[] = [];
  let chunk = Buffer.alloc(0);
  let used = 0;

  const cut = (): void => {
    if (used > 0) full.push(chunk.subarray(0, used));
    chunk = chunk.subarray(used);
    used = 0;
  };

  for (const item of items) {
    const text = textOf(item);
    const most = text.length * 3;
    if (chunk.length - used < most) {
      cut();
      chunk = Buffer.allocUnsafeSlow(Math.max(chunkBytes, most));
    }
    used += chunk.write(text, used);
    if (used >= chunkBytes) cut();
  }

  cut();
  return full;
}
