import type { Client } from '@call-attribution/core';
import { type BoundStyle, IncompleteError, sliceFilter, type TimeSlice } from '@call-attribution/node-stream';

/**
 * Returns a function that asks the server how many records a stretch has, with one request of one row. `bounds` is how the plan of
 * the account writes upper ends.
 */
export function serverTotal(
  client: Pick<Client, 'version' | 'fetchPage'>,
  set: { readonly filter: string; readonly bounds: BoundStyle; readonly signal?: AbortSignal | undefined },
): (stretch: TimeSlice) => Promise<number> {
  const { filter, bounds, signal } = set;
  return async (stretch) => {
    const page = await client.fetchPage({
      filter: sliceFilter(filter, stretch, bounds, client.version),
      rows: 1,
      page: 0,
      ...(signal === undefined ? {} : { signal }),
    });
    const total = page.range?.total ?? null;
    if (total !== null) return total;
    throw new IncompleteError({
      slice: stretch,
      expected: null,
      got: page.count,
      trouble: 'no_total',
      tries: 1,
    });
  };
}
