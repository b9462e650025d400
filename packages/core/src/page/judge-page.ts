import { ResponseError } from '../errors/classes.ts';
import { countOf, type PageRange } from './content-range.ts';

/** Which page was requested. */
export interface PageRequest {
  /** Records of a page. */
  readonly rows: number;
  /** Number of the page, counted from 0. */
  readonly page: number;
  /** Whether a page may end past its own total: whoever asks compares records and totals. */
  readonly mayPassTotal: boolean;
}

/** How a page that passed its checks compares with the request. */
export interface PageVerdict {
  /** The server sent full pages, but smaller ones than requested. */
  readonly clamped: boolean;
  /** It also counts its pages by the smaller size, so this is not the page that was requested. */
  readonly shifted: boolean;
}

/**
 * Checks that this is the page that was requested, and all of it. Throws when range, count and
 * request cannot all be true; most of these errors are worth another try, since the server may have
 * been in the middle of a change.
 */
export function judgePage(
  { rows, page, mayPassTotal }: PageRequest,
  range: PageRange | null,
  count: number,
): PageVerdict {
  const expected = page * rows + 1;
  if (count > rows)
    throw wrongPage(
      `The server ignores rows: ${rows} were requested, ${count} were sent.`,
      'Paging would repeat calls on this server. Use a filter, and rows large enough for one page.',
      false,
    );

  if (range === null) return { clamped: false, shifted: false };
  if (countOf(range) !== count)
    throw wrongPage(
      `Content-Range says ${countOf(range)} calls, the body has ${count}.`,
      'A proxy may have cut or cached the response.',
    );

  const total = range.total ?? Number.POSITIVE_INFINITY;
  if (count === 0) {
    if (range.total === null || total < expected) return { clamped: false, shifted: false };
    throw new ResponseError(
      'list_moved',
      `The page is empty, but it should start at call ${expected} of ${total}.`,
      { hint: 'The list may have changed in the meantime.', isRetryable: true },
    );
  }

  if (range.last > total && !mayPassTotal)
    throw wrongPage(
      `Content-Range ends at ${range.last}, past its own total of ${total}.`,
      'A proxy may have changed the response.',
    );

  const clamped = count < rows && range.total !== null && range.last < total;
  if (range.first === expected) return { clamped, shifted: false };

  // Fewer rows than requested, in the right place for pages of that size: the server has a maximum
  // of its own.
  if (clamped && range.first === page * count + 1) return { clamped, shifted: true };
  const isOffset = range.first === page + 1 && page > 0;
  throw wrongPage(
    `The page should start at call ${expected}; it starts at ${range.first}.`,
    isOffset
      ? 'This server seems to count start in records, not in pages.'
      : 'A cache may have responded with another page.',
    !isOffset,
  );
}

const wrongPage = (message: string, hint: string, isRetryable = true): ResponseError =>
  new ResponseError('wrong_page', message, { hint, isRetryable });
