import { inCall } from '../accumulators/decimal.ts';
import { ItemError } from '../errors.ts';
import type { Operator } from '../operators/forms.ts';
import { recordTexts } from './row-text.ts';
import { type TextOptions, textEncoder, textOptions } from './text-chunks.ts';

/**
 * Writes one JSON object per line, in UTF-8. `createCallByteStream` gives the lines exactly as the API sent them, at a
 * fraction of the cost.
 *
 * @example
 * await pipeline(createCallStream(client), toNdjson(), fileSink('calls.ndjson'));
 */
export function toNdjson<T = unknown>(options: TextOptions = {}): Operator<T, Uint8Array> {
  const rows = { format: 'ndjson', fields: null, text: recordTexts() } as const;
  return textEncoder<T>(
    { name: 'toNdjson', rows, lines: () => ({ item: (item) => `${jsonOf(item)}\n` }) },
    textOptions.read(options),
  );
}

/**
 * Writes one JSON array with a record per line, and `[]` when there are no records.
 *
 * @example
 * await pipeline(createCallStream(client), toJsonArray(), fileSink('calls.json'));
 */
export function toJsonArray<T = unknown>(options: TextOptions = {}): Operator<T, Uint8Array> {
  return textEncoder<T>(
    {
      name: 'toJsonArray',
      rows: { format: 'json', fields: null, text: recordTexts() },
      lines: () => ({ item: (item, isFirst) => `${isFirst ? '[' : ','}\n${jsonOf(item)}` }),
      end: (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
    },
    textOptions.read(options),
  );
}

/** The JSON of an item. What JSON has no form for is refused with the name of its column. */
function jsonOf(item: unknown): string {
  try {
    const text = JSON.stringify(item);
    if (text !== undefined) return text;
  } catch (cause) {
    const entries = typeof item === 'object' && item !== null ? Object.entries(item) : [];
    const [column] = entries.find(([, value]) => typeof value === 'bigint') ?? [];
    if (column === undefined) throw cause;
    throw new ItemError(
      'unfit_value',
      `column ${column}${inCall(item)} is a bigint, which JSON has no form for; turn it into a string first: mapCalls((row) => ({ ...row, ${column}: String(row.${column}) }))`,
      { cause },
    );
  }
  throw new ItemError('unfit_value', `an item is ${typeof item}, which JSON has no form for; leave it out`);
}
