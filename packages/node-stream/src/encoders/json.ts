import { ItemError } from '../errors.ts';
import type { Operator } from '../operators/forms.ts';
import { recordTexts } from './row-text.ts';
import { type TextOptions, textEncoder, textOptions } from './text-chunks.ts';
import { jsonOf } from './unfit.ts';

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
    { name: 'toNdjson', rows, lines: () => ({ item: (item) => `${textOf(item)}\n` }) },
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
      lines: () => ({ item: (item, isFirst) => `${isFirst ? '[' : ','}\n${textOf(item)}` }),
      end: (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
    },
    textOptions.read(options),
  );
}

function textOf(item: unknown): string {
  const text = jsonOf(item, item, null);
  if (text !== undefined) return text;
  throw new ItemError('unfit_value', {
    message: `an item is ${typeof item}, which JSON has no form for`,
    hint: `leave it out`,
  });
}
