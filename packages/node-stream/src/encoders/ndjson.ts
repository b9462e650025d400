import type { Call } from '@call-attribution/core';
import { Operator } from '../operators/operator.ts';
import { type TextOptions, textChunks } from './text-chunks.ts';

/**
 * One JSON object a line, in UTF-8. For records that go straight to a file unread, `createCallByteStream` gives the same
 * lines as the API sent them, at a fraction of the cost.
 */
export function toNdjson<T = Call>(options: TextOptions = {}): Operator<T, Uint8Array> {
  return new Operator<T, Uint8Array>(
    (outlet) => {
      const chunks = textChunks(outlet, options);
      return {
        push: (item) => chunks.add(`${JSON.stringify(item)}\n`),
        mark: chunks.flush,
        end: chunks.flush,
      };
    },
    { bytes: true },
  );
}
