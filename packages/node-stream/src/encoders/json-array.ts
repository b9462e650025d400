import type { Call } from '@call-attribution/core';
import { Operator } from '../operators/operator.ts';
import { type TextOptions, textChunks } from './text-chunks.ts';

/** One JSON array, a record a line, written as it comes: `[]` when there is none. */
export function toJsonArray<T = Call>(options: TextOptions = {}): Operator<T, Uint8Array> {
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, options);
      let first = (outlet.continued ?? options.continued) !== true;
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
    { bytes: true },
  );
}
