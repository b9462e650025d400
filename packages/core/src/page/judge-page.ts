import { ResponseError } from '../errors/calls-error.ts';
import { countOf, type PageRange } from './content-range.ts';

/** Which page was requested. */
export interface PageRequest {
  /** Records of a page. */
  readonly rows: number;
  /** Number of the page, counted from 0. */
  readonly page: number;
}

/** How a page that passed its checks compares with the request. */
export interface PageVerdict {
  /** The server sent full pages, but smaller ones than requested. */
  readonly clamped: boolean;
  /** It also counts its pages by the smaller size, so this is not the page that was requested. */
  readonly shifted: boolean;
}

/**
 * Checks that this is the page that was requested, and all of it. Throws when range, count and request cannot all be
 * true; most of these errors are worth another try, since the server may have been in the middle of a change.
 */
export function judgePage(request: PageRequest, range: PageRange | null, count: number): PageVerdict {
  const { rows, page } = request;
  const expected = page * rows + 1;
  if (count > rows)
    throw new ResponseError(
      'wrong_page',
      `The server ignores rows: ${rows} were requested, ${count} were sent.`,
      {
        hint: 'Paging would repeat calls on this server. Use a filter, and rows large enough for one page.',
      },
    );
  if (range === null) return { clamped: false, shifted: false };
  const inRange = countOf(range) ?? count;
  if (inRange !== count) throw countDiffers(inRange, count);
  const { total } = range;
  if (count === 0) {
    if (total !== null && total >= expected)
      throw new ResponseError(
        'list_moved',
        `The page is empty, but it should start at call ${expected} of ${total}.`,
        {
          hint: 'The list may have changed in the meantime.',
          isRetryable: true,
        },
      );
    return { clamped: false, shifted: false };
  }
  if (total !== null && range.last > total)
    throw new ResponseError(
      'wrong_page',
      `Content-Range ends at ${range.last}, past its own total of ${total}.`,
      {
        hint: 'A proxy may have changed the response.',
        isRetryable: true,
      },
    );
  const clamped = count < rows && total !== null && range.last < total;
  if (range.first === expected) return { clamped, shifted: false };
  // Fewer rows than requested, in the right place for pages of that size: the server has a maximum of its own.
  if (clamped && range.first === page * count + 1) return { clamped, shifted: true };
  const isOffset = range.first === page + 1 && page > 0;
  throw new ResponseError(
    'wrong_page',
    `The page should start at call ${expected}; it starts at ${range.first}.`,
    {
      hint: isOffset
        ? 'This server seems to count start in records, not in pages.'
        : 'A cache may have responded with another page.',
      isRetryable: !isOffset,
    },
  );
}

/** The error for a body with another number of calls than Content-Range says. */
export function countDiffers(inRange: number, inBody: number): ResponseError {
  const message = `Content-Range says ${inRange} calls, the body has ${inBody}.`;
  const hint = 'A proxy may have cut or cached the response.';
  return new ResponseError('wrong_page', message, { hint, isRetryable: true });
}
