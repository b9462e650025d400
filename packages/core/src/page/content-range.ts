/** Which records of a list a page holds. */
export interface PageRange {
  /** Number of the first record, counted from 1; 0 for an empty page. */
  readonly first: number;
  /** Number of the last record; 0 for an empty page. */
  readonly last: number;
  /** How many records the list has; null when the server does not say. */
  readonly total: number | null;
}

const shape = /^\s*(?:[a-z]+[ =])?\s*(?:(\d{1,9})\s*-\s*(\d{1,9})|\*)\s*\/\s*(\d{1,9}|\*)\s*$/i;

/**
 * Reads the Content-Range header of a page: `3-4/18` and its variants with a unit in front (`items
 * 3-4/18`), an unknown total (a star after the slash), or an empty page (a star or `0-0` before
 * it). Null when there is no such header or it says something else. Nine digits are enough for any
 * list; a longer number may be somebody's phone number.
 *
 * @example
 * parseContentRange('3-4/18'); // { first: 3, last: 4, total: 18 }
 */
export function parseContentRange(header: string | null | undefined): PageRange | null {
  const match = shape.exec(header ?? '');
  if (!match) return null;
  const [, from, to, size] = match;
  const total = size === '*' ? null : Number(size);
  if (from === undefined) return { first: 0, last: 0, total };
  const range = { first: Number(from), last: Number(to), total };
  if (range.last === 0 || range.first > range.last) return { first: 0, last: 0, total };
  return range;
}

/**
 * Writes the Content-Range header of a page.
 *
 * @param offset how many records come before the page.
 * @param count how many records the page has.
 * @example
 * formatContentRange(2, 2, 18); // 3-4/18
 * formatContentRange(0, 0, 18); // *\/18
 */
export function formatContentRange(offset: number, count: number, total: number): string {
  return count === 0 ? `*/${total}` : `${offset + 1}-${offset + count}/${total}`;
}

/** How many records the page has, according to its range. */
export const countOf = ({ first, last }: PageRange): number => (first === 0 ? 0 : last - first + 1);
