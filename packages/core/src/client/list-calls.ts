import { ConfigurationError, ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import type { Call } from '../record/generated/calls.ts';
import type { CallList, CallPage } from './client.ts';
import type { Context } from './context.ts';
import type { ListQuery } from './options.ts';
import {
  type PageQuery,
  type PageReader,
  type PageResult,
  readQuery,
  recordReader,
  refuseShifted,
  requestPage,
} from './page-request.ts';

/** How far the reading of a list has got. Never changed, so that `next()` of a page returns the same page again. */
interface ListPosition {
  /** Calls before the next one, counted from the start of the list. */
  readonly position: number;
  /** Page size in use: as requested, or what the server really sends. */
  readonly size: number;
  readonly total: number | null;
  /** Steps back since the last page with a new call. */
  readonly backSteps: number;
  /** Ids of the last two pages, to recognize calls that come again because the list has shifted. */
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
  return Object.assign(first, { pages, [Symbol.asyncIterator]: calls });
}

function pageOf(listing: Listing, { page, records, after, isLast }: Step): CallPage {
  return {
    records,
    range: page.range,
    total: after.total,
    meta: page.meta,
    hasNext: () => !isLast,
    async next() {
      if (isLast) throw new ConfigurationError('invalid_option', setupMessages.noNextPage());
      return pageOf(listing, await nextStep(listing, after));
    },
  };
}

const beginning = ({ page, rows }: PageQuery): ListPosition => ({
  position: page * rows,
  size: rows,
  total: null,
  backSteps: 0,
  recent: [],
});

/**
 * The next page that has new calls, or the last page. Continues with the real page size when the server clamps it, and
 * steps back when the list has shrunk, so that no call is missed.
 */
async function nextStep({ context, query, reader }: Listing, from: ListPosition): Promise<Step> {
  let place = from;
  for (;;) {
    const number = Math.floor(place.position / place.size);
    const page = await requestPage(context, { ...query, rows: place.size, page: number }, reader);
    if (page.verdict.shifted) {
      place = { ...place, size: page.count };
      continue;
    }
    const earlier = stepBack(context, place, page);
    if (earlier === null) {
      const step = advance(context, place, page);
      if (step.records.length > 0 || step.isLast) return step;
      place = step.after;
    } else place = earlier;
  }
}

/** Takes in a page. Drops the calls in it that come again because the list has grown before them. */
function advance(context: Context, place: ListPosition, page: PageResult<Call[]>): Step {
  const total = page.range?.total ?? place.total;
  const overlap = place.position % place.size;
  const gained = page.count - overlap;
  const { ids, records } = unseen(context, place, page.content.slice(overlap));
  // Without a total, nothing else would end the reading of a server that sends the same page again and again.
  if (records.length === 0 && gained > 0 && total === null)
    throw new ResponseError('wrong_page', messages.pageRepeated());
  const after: ListPosition = {
    position: place.position + Math.max(0, gained),
    // A short page without a total may be the last one or a clamped one; the next page of its size shows which.
    size: page.count > 0 && page.count < place.size ? page.count : place.size,
    total,
    backSteps: records.length > 0 ? 0 : place.backSteps,
    recent: [...place.recent.slice(-1), ids],
  };
  if (total !== null && after.position < total && page.count === 0)
    throw new ResponseError('list_moved', messages.listShort(after.position, total), { isRetryable: true });
  return { page, records, after, isLast: total === null ? gained <= 0 : after.position >= total };
}

const mostBackSteps = 10;

/** Notices a total that changes. An earlier place when the list has shrunk and a page has to be read again. */
function stepBack(
  { report }: Context,
  place: ListPosition,
  { range }: PageResult<unknown>,
): ListPosition | null {
  const to = range?.total ?? null;
  const from = place.total;
  if (to === null || from === null || to === from) return null;
  report({ type: 'total_moved', from, to });
  const gone = from - to;
  if (gone <= 0 || place.position === 0) return null;
  const backSteps = place.backSteps + 1;
  if (gone > place.recent.reduce((sum, { size }) => sum + size, 0))
    throw new ResponseError('list_moved', messages.listShrank(gone));
  // Servers that do not agree on the total would send the client back and forth without end.
  if (backSteps > mostBackSteps)
    throw new ResponseError('list_moved', messages.totalUnsteady(from, to, backSteps));
  return { ...place, position: Math.max(0, place.position - gone), total: to, backSteps };
}

/** The calls that were not in one of the last two pages, and the ids of all. */
function unseen(
  { report }: Context,
  { recent }: ListPosition,
  records: readonly Call[],
): { ids: ReadonlySet<string>; records: readonly Call[] } {
  const ids = new Set<string>();
  const found = records.filter(({ sid }) => {
    // Records without an id, which mode `off` lets pass, cannot be told apart.
    if (typeof sid !== 'string') return true;
    ids.add(sid);
    return !recent.some((seen) => seen.has(sid));
  });
  const repeated = records.length - found.length;
  if (repeated > 0) report({ type: 'repeated_calls', count: repeated });
  return { ids, records: repeated > 0 ? found : records };
}
