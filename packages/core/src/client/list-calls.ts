import { ConfigurationError, ResponseError } from '../errors/calls-error.ts';
import type { Call } from '../record/generated/calls.ts';
import type { CallList, CallPage } from './client.ts';
import type { ListQuery } from './options.ts';
import type { Context } from './request.ts';
import {
  type PageQuery,
  type PageReader,
  type PageResult,
  readQuery,
  recordReader,
  refuseShifted,
  requestPage,
} from './request-page.ts';

/** How far the reading of a list has got. Never changed, so that `next()` of a page returns the same page again. */
interface ListPosition {
  /** Calls before the next one, counted from the start of the list. */
  readonly position: number;
  /** Page size in use: as requested, or what the server really sends. */
  readonly size: number;
  readonly total: number | null;
  /** Ids of the last two pages, to recognize calls that come again because the list has grown. */
  readonly recent: readonly ReadonlySet<string>[];
}

/** A page of the list, and the place after it. */
interface Step {
  readonly page: PageResult<Call[]>;
  /** The calls of the page that were not in one of the pages before it. */
  readonly records: readonly Call[];
  readonly after: ListPosition;
  /** Can there be more calls after this page? */
  readonly isLast: boolean;
}

/** What the requests for the pages of one list share. */
interface Listing {
  readonly context: Context;
  readonly query: PageQuery;
  readonly reader: PageReader<Call[]>;
}

/** The first page of a list at once, and the other pages when they are read. */
export function listCalls(context: Context, query: ListQuery): CallList {
  const begin = async () => {
    const listing: Listing = { context, query: readQuery(context, query), reader: recordReader(context) };
    return { listing, page: await requestPage(context, listing.query, listing.reader) };
  };
  const begun = begin();
  const first = begun.then(({ listing, page }) => {
    refuseShifted(page);
    return pageOf(listing, advance(context, beginning(listing.query), page));
  });
  // Whoever iterates gets the error from the loop; an error of a list that nobody reads is not worth the process.
  first.catch(() => {});
  async function* pages() {
    const { listing, page } = await begun;
    const place = beginning(listing.query);
    let step = page.verdict.shifted
      ? await nextStep(listing, { ...place, size: page.count })
      : advance(context, place, page);
    yield pageOf(listing, step);
    while (!step.isLast) {
      step = await nextStep(listing, step.after);
      if (step.records.length > 0) yield pageOf(listing, step);
    }
  }
  async function* calls() {
    for await (const page of pages()) yield* page.records;
  }
  return Object.assign(Object.setPrototypeOf(first, listPrototype), { pages, [Symbol.asyncIterator]: calls });
}

/** What a page or an array has and a list that was not awaited does not: `undefined` would be wrong in silence. */
const namesOfPages = [
  ...['records', 'total', 'range', 'meta', 'hasNext', 'next', 'items', 'data'],
  ...['at', 'map', 'filter', 'forEach', 'reduce', 'find', Symbol.iterator],
];

/** A promise with them. They do not enumerate, so that loggers do not read them; libraries ask any object for its `length`. */
const listPrototype: object = Object.create(Promise.prototype);
for (const name of namesOfPages)
  Object.defineProperty(listPrototype, name, {
    get() {
      const shown = typeof name === 'string' ? name : 'iterator';
      throw new ConfigurationError(
        'invalid_option',
        `listCalls() was not awaited, so its result has no ${shown}.`,
        {
          hint: 'Write `const page = await client.listCalls(…)` for one page, or `for await (const call of client.listCalls(…))` for all calls.',
        },
      );
    },
  });

function pageOf(listing: Listing, { page, records, after, isLast }: Step): CallPage {
  return {
    records,
    range: page.range,
    total: after.total,
    meta: page.meta,
    hasNext: () => !isLast,
    async next() {
      if (isLast)
        throw new ConfigurationError('invalid_option', 'There is no page after this one.', {
          hint: 'Check hasNext() before you call next().',
        });
      return pageOf(listing, await nextStep(listing, after));
    },
  };
}

const beginning = ({ page, rows }: PageQuery): ListPosition => ({
  position: page * rows,
  size: rows,
  total: null,
  recent: [],
});

/** The next page that has new calls, or the last page. Continues with the real page size when the server clamps it. */
async function nextStep({ context, query, reader }: Listing, from: ListPosition): Promise<Step> {
  let place = from;
  for (;;) {
    const number = Math.floor(place.position / place.size);
    const page = await requestPage(context, { ...query, rows: place.size, page: number }, reader);
    if (page.verdict.shifted) {
      place = { ...place, size: page.count };
      continue;
    }
    const step = advance(context, place, page);
    if (step.records.length > 0 || step.isLast) return step;
    place = step.after;
  }
}

/**
 * Takes in a page. Calls in it that come again because the list has grown before them are dropped; when it has shrunk, calls may
 * have moved to pages that were read before, so that is an error.
 */
function advance({ report }: Context, place: ListPosition, page: PageResult<Call[]>): Step {
  const total = page.range?.total ?? place.total;
  if (place.total !== null && total !== null && total !== place.total) {
    report({ type: 'total_moved', from: place.total, to: total });
    if (total < place.total && place.position > 0)
      throw new ResponseError(
        'list_moved',
        `${place.total - total} calls left the list while it was read: calls may have been missed.`,
        { hint: 'Read the list again, preferably with a date filter whose end lies in the past.' },
      );
  }
  const overlap = place.position % place.size;
  const gained = page.count - overlap;
  const sent = page.content.slice(overlap);
  const ids = new Set<string>();
  const records = sent.filter(({ sid }) => {
    // Records without an id, which mode `off` lets pass, cannot be told apart.
    if (typeof sid !== 'string') return true;
    ids.add(sid);
    return !place.recent.some((seen) => seen.has(sid));
  });
  if (records.length < sent.length) report({ type: 'repeated_calls', count: sent.length - records.length });
  // Without a total, nothing else would end the reading of a server that sends the same page again and again.
  if (records.length === 0 && gained > 0 && total === null)
    throw new ResponseError(
      'wrong_page',
      'The server sends the same calls again as the next page: it seems to ignore start.',
      { hint: 'Use a date filter, and rows large enough for one page.' },
    );
  const after: ListPosition = {
    position: place.position + Math.max(0, gained),
    // A short page without a total may be the last one or a clamped one; the next page of its size shows which.
    size: page.count > 0 && page.count < place.size ? page.count : place.size,
    total,
    recent: [...place.recent.slice(-1), ids],
  };
  if (total !== null && after.position < total && page.count === 0)
    throw new ResponseError(
      'list_moved',
      `The list ends after ${after.position} calls, although the server reports ${total}.`,
      { hint: 'Read the list again. If it stays so, the server cannot page that far.', isRetryable: true },
    );
  return { page, records, after, isLast: total === null ? gained <= 0 : after.position >= total };
}
