import { sliceOf } from '../query/time-slice.ts';
import type { StreamOptions } from './options.ts';
import type { Batch } from '../slicing/run.ts';

/** Hands the bytes of a record that could not be read to whoever collects them. */
export function bury(
  { page, slice, index: pageIndex }: Batch,
  index: number,
  error: unknown,
  onError: NonNullable<StreamOptions['onError']>,
): void {
  if (typeof onError !== 'function') return;
  const border = page.slices()[index];
  // A copy: the page's memory is used again.
  const bytes = new Uint8Array(border === undefined ? [] : page.bytes.subarray(border.start, border.end));
  onError({ bytes, error, slice: sliceOf(slice.span), page: pageIndex, index });
}
