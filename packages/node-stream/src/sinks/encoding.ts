import type { Operator } from '../operators/forms.ts';

/** What turns the items of a sink into bytes: one encoder, or several in a row such as `[toCsv(), toGzip()]`. */
export type Encoding<T> =
  | Operator<T, Uint8Array>
  | readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]];

/** The encoders as a list. */
export function encoders<T>(
  encoding: Encoding<T>,
): readonly [Operator<T, Uint8Array>, ...Operator<Uint8Array, Uint8Array>[]] {
  return typeof encoding === 'function' ? [encoding] : encoding;
}
