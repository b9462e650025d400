import type { Call } from '@call-attribution/core';
import { Operator } from '../operators/operator.ts';
import { recordTexts } from './row-text.ts';
import { type TextOptions, textChunks, textOptions } from './text-chunks.ts';

/**
 * Writes one JSON object per line, in UTF-8. `createCallByteStream` gives the lines exactly as the API sent them, at a
 * fraction of the cost.
 *
 * @example
 * await pipeline(createCallStream(client), toNdjson(), fileSink('calls.ndjson'));
 */
export function toNdjson<T = Call>(options: TextOptions = {}): Operator<T, Uint8Array> {
  const settings = textOptions.read(options);
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, settings);
      return {
        push: (item) => chunks.add(`${JSON.stringify(item)}\n`),
        mark: chunks.flush,
        end: chunks.flush,
      };
    },
    { bytes: true, rows: { format: 'ndjson', fields: null, text: recordTexts() } },
  );
}

/**
 * Writes one JSON array with a record per line, and `[]` when there are no records.
 *
 * @example
 * await pipeline(createCallStream(client), toJsonArray(), fileSink('calls.json'));
 */
export function toJsonArray<T = Call>(options: TextOptions = {}): Operator<T, Uint8Array> {
  const settings = textOptions.read(options);
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, settings);
      let first = !(outlet.continued ?? settings.continued);
      return {
        push(item) {
          chunks.add(`${first ? '[' : ','}\n${JSON.stringify(item)}`);
          first = false;
        },
        mark: chunks.flush,
        end() {
          chunks.add(first ? '[]\n' : '\n]\n');
          chunks.flush();
        },
      };
    },
    { bytes: true, rows: { format: 'json', fields: null, text: recordTexts() } },
  );
}
