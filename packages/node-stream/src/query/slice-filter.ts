import { type FilterInput, printFilter } from '@call-attribution/query-dsl';
import { spanOf, type TimeSlice } from './time-slice.ts';
import { type BoundStyle, windowQuery } from './window-query.ts';

/**
 * The filter of one slice of a query.
 *
 * @param bounds how the upper end is written, as in the plan the slice is from.
 * @example
 * sliceFilter('inc_gce:1', { from: null, to: '2026-11-01 00:00:00' }, 'half-open', 'v3');
 * // date_added:[* TO 2026-11-01 00:00:00},inc_gce:1
 */
export function sliceFilter(
  filter: FilterInput | undefined,
  slice: TimeSlice,
  bounds: BoundStyle,
  version: 'v2' | 'v3',
): string {
  return printFilter(windowQuery(filter, version).within(spanOf(slice), bounds));
}
