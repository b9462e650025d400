import { compare } from './bounds.ts';
import type { FilterInput } from './filter.ts';
import { intersect, type Range } from './ranges.ts';

/**
 * What a filter asks for, as one English sentence. Ranges on one field are said as the one range
 * that they leave.
 *
 * @example
 * explain('talk_minutes:[2 TO *],inc_gce:1');
 * // Calls whose talk_minutes is at least 2, including calls through call extensions.
 */
export function explain(filter: FilterInput): string {
  const { ranges, flagged } = intersect(filter);
  const empty = ranges.find(isEmpty);
  if (empty !== undefined) return `No calls: no ${empty.field} ${sayRange(empty)}.`;
  const said = ranges.map((range) => ` whose ${range.field} ${sayRange(range)}`).join(' and');
  const flag = flagged ? ', including calls through call extensions' : '';
  return `${said === '' ? 'All calls' : 'Calls'}${said}${flag}.`;
}

function sayRange({ lower, upper }: Range): string {
  const isDate = (lower ?? upper)?.text.includes(':') === true;
  const [from, above, until, below] = isDate
    ? ['at or after', 'after', 'at or before', 'before']
    : ['at least', 'more than', 'at most', 'less than'];
  if (
    lower !== null &&
    upper !== null &&
    compare(lower, upper) === 0 &&
    lower.inclusive &&
    upper.inclusive
  )
    return `is exactly ${lower.text}`;

  const ends: string[] = [];
  if (lower !== null) ends.push(`${lower.inclusive ? from : above} ${lower.text}`);
  if (upper !== null) ends.push(`${upper.inclusive ? until : below} ${upper.text}`);
  return ends.length === 0 ? 'has any value' : `is ${ends.join(' and ')}`;
}

/** Whether no value can be in a range. */
function isEmpty({ lower, upper }: Range): boolean {
  if (lower === null || upper === null) return false;
  const order = compare(lower, upper);
  return order > 0 || (order === 0 && !(lower.inclusive && upper.inclusive));
}
