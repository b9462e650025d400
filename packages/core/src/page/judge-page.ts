import { ResponseError } from '../errors/calls-error.ts';
import { countOf, type PageRange } from './content-range.ts';

/** What was asked of a page: its size and its number, counted from 0. */
export interface PageAsked {
  readonly rows: number;
  readonly start: number;
}

/** How a page that passed compares with what was asked. */
export interface PageVerdict {
  /** The server gave full pages, but smaller ones than asked. */
  readonly clamped: boolean;
  /** It also counts its pages by the smaller size, so that this is not the page that was asked for. */
  readonly shifted: boolean;
}

/**
 * Is this the page that was asked for, and all of it? Throws where range, count and request cannot all be true; those
 * answers are worth another try, for the server may have been caught in the middle of a change.
 */
export function judgePage(asked: PageAsked, range: PageRange | null, count: number): PageVerdict {
  const { rows, start } = asked;
  const wanted = start * rows + 1;
  if (count > rows)
    throw new ResponseError(
      'wrong_page',
      `${rows} rows were asked for, ${count} came: the server ignores rows.`,
      {
        hint: 'Paging would repeat calls on this server; ask with a filter and rows large enough for one page.',
      },
    );
  if (range === null) return { clamped: false, shifted: false };
  const told = countOf(range);
  if (told !== count)
    throw new ResponseError(
      'range_mismatch',
      `Content-Range tells of ${told} calls, the body has ${count}.`,
      {
        isRetryable: true,
        hint: 'A proxy may have cut or cached the answer.',
      },
    );
  const { total } = range;
  if (count === 0) {
    if (total !== null && total >= wanted)
      throw new ResponseError(
        'list_short',
        `The page is empty, though it should begin at call ${wanted} of ${total}.`,
        {
          isRetryable: true,
        },
      );
    return { clamped: false, shifted: false };
  }
  if (total !== null && range.last > total)
    throw new ResponseError(
      'range_mismatch',
      `Content-Range ends at ${range.last}, past its own total ${total}.`,
      {
        isRetryable: true,
      },
    );
  const clamped = count < rows && total !== null && range.last < total;
  if (range.first === wanted) return { clamped, shifted: false };
  // Fewer rows than asked, and the place is right for pages of that size: the server has a maximum of its own.
  if (clamped && range.first === start * count + 1) return { clamped, shifted: true };
  const offset = range.first === start + 1 && start > 0;
  throw new ResponseError(
    'wrong_page',
    `The page should begin at call ${wanted}; it begins at ${range.first}.`,
    {
      isRetryable: !offset,
      hint: offset
        ? 'This server seems to count start in records, not in pages.'
        : 'A cache may have answered with another page.',
    },
  );
}
