/** Which records a page holds, counted from 1. An empty page has first and last 0. `total` is null when it was not told. */
export interface PageRange {
  readonly first: number;
  readonly last: number;
  readonly total: number | null;
}

const shape = /^\s*(?:[a-z]+[ =])?\s*(?:(\d{1,9})\s*-\s*(\d{1,9})|\*)\s*\/\s*(\d{1,9}|\*)\s*$/i;

/**
 * Reads `3-4/18` and its variants: a unit in front (`items 3-4/18`), an unknown total (a star after the slash), an empty
 * page (a star or `0-0` before it). Null when there is no header or it says something else.
 * Nine digits are enough for any list; a longer number is no position, but perhaps somebody's number.
 */
export function parseContentRange(header: string | undefined): PageRange | null {
  const match = shape.exec(header ?? '');
  if (!match) return null;
  const [, from, to, size] = match;
  const total = size === '*' ? null : Number(size);
  if (from === undefined) return { first: 0, last: 0, total };
  const range = { first: Number(from), last: Number(to), total };
  if (range.last === 0 || range.first > range.last) return { first: 0, last: 0, total };
  return range;
}

/** How many records a range tells of; null without a range. */
export function toldCount(range: PageRange | null): number | null {
  if (range === null) return null;
  return range.first === 0 ? 0 : range.last - range.first + 1;
}
