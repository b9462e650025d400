// Pages of a list: requested, judged, and read into calls or into the places of records.
import { isUtf8 } from 'node:buffer';
import {
  type FilterInput,
  FilterSyntaxError,
  filterFields,
  printFilter,
  safeParse,
  toFilter,
} from '@call-attribution/query-dsl';
import { ConfigurationError, ResponseError } from '../errors/classes.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { headerText } from '../http/headers.ts';
import { checkNames, checkWhole } from '../options/check-names.ts';
import { countOf, type PageRange, parseContentRange } from '../page/content-range.ts';
import { judgePage, type PageRequest, type PageVerdict } from '../page/judge-page.ts';
import { brokenUtf8, expectArray, expectJson, parseJson, startsWith } from '../page/read-json.ts';
import { scanFields } from '../page/scan-fields.ts';
import { type ByteRange, splitRecords } from '../page/split-records.ts';
import type { Version } from '../record/fields.ts';
import type { Call } from '../record/generated/calls.ts';
import { parseNaive } from '../time/naive.ts';
import { apiRequest, queryString } from './api-request.ts';
import type { CallList, CallPage, PageItem, RawPage, ResponseMeta } from './client.ts';
import { clientDefaults, type ListQuery, type RequestOptions } from './options.ts';
import { type Context, responseInfo } from './request.ts';

/** A list query, checked. All pages of a list share its text. */
interface PageQuery extends PageRequest {
  readonly filter: FilterText;
  readonly options: RequestOptions;
}

/** Checks a list query and prints its filter. */
function readQuery({ settings }: Context, query: ListQuery, mayPassTotal: boolean): PageQuery {
  checkQuery(query);
  const { filter, rows = clientDefaults.rows, page = 0 } = query;
  checkWhole(rows, 'rows');
  checkWhole(page, 'page', 0);
  return {
    filter: filterText(filter, settings.version),
    rows,
    page,
    mayPassTotal,
    options: query,
  };
}

const queryNames = Object.keys({
  filter: 1,
  rows: 1,
  page: 1,
  signal: 1,
  timeout: 1,
  retry: 1,
  headers: 1,
  onResponse: 1,
} satisfies Record<keyof ListQuery, 1>);

/** A misspelled filter would be no filter, and all calls would be read or counted. */
export const checkQuery = (query: ListQuery): void => checkNames(query, queryNames);

/**
 * What a request for a page returned: its content in some form, and how it compares with the
 * request.
 */
interface PageResult<T> {
  readonly content: T;
  readonly count: number;
  readonly range: PageRange | null;
  readonly verdict: PageVerdict;
  readonly meta: ResponseMeta;
}

/** How the body of a page is read: into records, or into boundaries only. */
interface PageReader<T> {
  read(response: HttpResponse, range: PageRange | null): { content: T; count: number };
  readonly empty: T;
}

/**
 * Requests one page. Every check is part of the attempt, so a page that fails one is requested
 * again.
 */
export async function requestPage<T>(
  context: Context,
  query: PageQuery,
  reader: PageReader<T>,
): Promise<PageResult<T>> {
  const { requests, report, settings } = context;
  const { filter, rows, page, options } = query;
  const tailWith = (q: string | undefined) => queryString({ q, rows, start: page || undefined });
  const tail = tailWith(filter.q);
  const shown = filter.shownQ === filter.q ? tail : tailWith(filter.shownQ);
  const read = (response: HttpResponse) => readPage(response, query, reader);

  // Some servers say "not found" or "range not satisfiable" for a page past the end.
  const pastEnd = page > 0 ? [404, 416] : [];
  const job = apiRequest(settings, { operation: 'list', tail, shown, options, read }, pastEnd);
  const response = await requests.request(job);
  const { content, count, range, verdict } = response.value;
  const { status, headers, requestId, attempts } = responseInfo(response);
  const meta = { status, headers, requestId, attempts, rows, page };
  if (!verdict.clamped) return { content, count, range, verdict, meta };
  report({ type: 'clamped', requested: rows, received: count });
  return { content, count, range, verdict, meta: { ...meta, clampedTo: count } };
}

function readPage<T>(
  response: HttpResponse,
  request: PageRequest,
  reader: PageReader<T>,
): Omit<PageResult<T>, 'meta'> {
  const range = parseContentRange(headerText(response.headers, 'content-range'));
  if (response.status === 404 || response.status === 416) {
    const past = range === null ? null : { first: 0, last: 0, total: range.total };
    return { content: reader.empty, count: 0, range: past, verdict: judgePage(request, past, 0) };
  }

  expectJson(response);
  const { content, count } = reader.read(response, range);
  return { content, count, range, verdict: judgePage(request, range, count) };
}

/** Reads a page into checked calls. */
export function recordReader({ adapt }: Context): PageReader<Call[]> {
  return {
    read(response) {
      const records = expectArray(parseJson(response), response);
      return { content: records.map(adapt), count: records.length };
    },
    empty: [],
  };
}

/**
 * A server that counts in smaller pages sends another part of the list than a caller of one page
 * wants.
 */
function refuseShifted({ verdict, count, meta }: PageResult<unknown>): void {
  if (!verdict.shifted) return;
  const { status, attempts, rows, page } = meta;
  throw new ResponseError(
    'wrong_page',
    `The server sends at most ${count} rows, not the ${rows} requested, so its page ${page} is another part of the list.`,
    {
      hint: `Request rows: ${count}, or iterate over listCalls(), which continues with the real page size.`,
      status,
      attempts,
    },
  );
}

/** A filter as it is sent, and as errors and events may show it. */
export interface FilterText {
  readonly q: string | undefined;
  readonly shownQ: string | undefined;
}

/**
 * The value of `q`, in its canonical form. A string that is not a filter is refused here, before a
 * lenient server can ignore it and send everything; so is a misspelled name of a field. Ranges of
 * other fields that this project does not know are for the server to judge; such a filter is not
 * shown, because it may name a caller.
 */
export function filterText(input: FilterInput | undefined, version: Version): FilterText {
  if (typeof input === 'string') return fromString(input, version);
  if (input === undefined) return textOf('', true);
  const fields = filterFields[version];
  const filter = toFilter(input);
  return textOf(
    printFilter(filter),
    filter.clauses.every(({ field }) => Object.hasOwn(fields, field)),
  );
}

/** A range, or a flag, of any field. */
const clauseForm = /^\w+:(?:[[{][^[\]{}]+ TO [^[\]{}]+[\]}]|1)$/;

function fromString(input: string, version: Version): FilterText {
  const result = safeParse(input, { version });
  if (result.ok) return textOf(printFilter(result.filter), true);
  const { code, suggestions, found, end } = result.problem;
  const isElsewhere = Object.hasOwn(filterFields.v3, found);
  const isNew = code === 'unknown_field' && suggestions.length === 0 && !isElsewhere;
  if (isNew && input.split(',').every((clause) => clauseForm.test(clause.trim())))
    return textOf(input.trim(), false);

  // What such a field is compared with may name a caller.
  const shown = isNew ? safeParse(`${input.slice(0, end)}:…`, { version }) : result;
  throw new FilterSyntaxError(shown.ok ? result.problem : shown.problem);
}

const textOf = (text: string, isKnown: boolean): FilterText => {
  const q = text || undefined;
  return { q, shownQ: isKnown ? q : '…' };
};

/**
 * How far the reading of a list has got. Never changed, so that `next()` of a page returns the same
 * page again.
 */
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
    const listing: Listing = {
      context,
      query: readQuery(context, query, false),
      reader: recordReader(context),
    };
    return { listing, page: await requestPage(context, listing.query, listing.reader) };
  };

  const begun = begin();
  const first = begun.then(({ listing, page }) => {
    refuseShifted(page);
    return pageOf(listing, advance(context, startOf(listing.query), page));
  });

  // Whoever iterates gets the error from the loop; an error of a list that nobody reads must not
  // crash the process.
  first.catch(() => {});

  async function* pages() {
    const { listing, page } = await begun;
    const place = startOf(listing.query);
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

  return Object.assign(Object.setPrototypeOf(first, listPrototype), {
    pages,
    [Symbol.asyncIterator]: calls,
  });
}

/**
 * What a page or an array has and a list that was not awaited does not: `undefined` would be wrong
 * in silence.
 */
const namesOfPages = [
  'records',
  'total',
  'range',
  'meta',
  'hasNext',
  'next',
  'items',
  'data',
  'at',
  'map',
  'filter',
  'forEach',
  'reduce',
  'find',
  Symbol.iterator,
];

/**
 * A promise with them. They do not enumerate, so that loggers do not read them; libraries ask any
 * object for its `length`.
 */
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

const startOf = ({ page, rows }: PageQuery): ListPosition => ({
  position: page * rows,
  size: rows,
  total: null,
  recent: [],
});

/**
 * The next page that has new calls, or the last page. Continues with the real page size when the
 * server clamps it.
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
    const step = advance(context, place, page);
    if (step.records.length > 0 || step.isLast) return step;
    place = step.after;
  }
}

/**
 * Takes in a page. Calls in it that come again because the list has grown before them are dropped;
 * when it has shrunk, calls may have moved to pages that were read before, so that is an error.
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
  if (records.length < sent.length)
    report({ type: 'repeated_calls', count: sent.length - records.length });

  // Without a total, nothing else would end the reading of a server that sends the same page again
  // and again.
  if (records.length === 0 && gained > 0 && total === null)
    throw new ResponseError(
      'wrong_page',
      'The server sends the same calls again as the next page: it seems to ignore start.',
      { hint: 'Use a date filter, and rows large enough for one page.' },
    );

  const after: ListPosition = {
    position: place.position + Math.max(0, gained),
    // A short page without a total may be the last one or a clamped one; the next page of its size
    // shows which.
    size: page.count > 0 && page.count < place.size ? page.count : place.size,
    total,
    recent: [...place.recent.slice(-1), ids],
  };
  if (total !== null && after.position < total && page.count === 0)
    throw new ResponseError(
      'list_moved',
      `The list ends after ${after.position} calls, although the server reports ${total}.`,
      {
        hint: 'Read the list again. If it stays so, the server cannot page that far.',
        isRetryable: true,
      },
    );

  return { page, records, after, isLast: total === null ? gained <= 0 : after.position >= total };
}

interface Split {
  readonly bytes: Buffer;
  readonly ranges: readonly ByteRange[];
}

const splitReader: PageReader<Split> = {
  read(response, range) {
    // An object instead of an array is an error in disguise. Only then the body is parsed, to say
    // which.
    if (startsWith(response.body, '{')) expectArray(parseJson(response), response);
    if (!isUtf8(response.body)) throw brokenUtf8();
    const ranges = splitRecords(response.body, range ? countOf(range) : undefined);
    return { content: { bytes: response.body, ranges }, count: ranges.length };
  },
  empty: { bytes: Buffer.from('[]'), ranges: [] },
};

/**
 * One page as bytes: complete, the right one, its records counted, but not parsed before one of
 * them is read.
 */
export async function fetchPage(context: Context, query: ListQuery): Promise<RawPage> {
  // A row that comes twice, and is counted once, is for whoever reads the bytes to find.
  const page = await requestPage(context, readQuery(context, query, true), splitReader);
  refuseShifted(page);
  const { bytes, ranges } = page.content;
  let items: readonly PageItem[] | null = null;
  const raw: RawPage = {
    bytes,
    range: page.range,
    meta: page.meta,
    count: page.count,
    items() {
      items ??= itemsOf(raw, bytes, ranges, context);
      return items;
    },
  };
  return raw;
}

/** What tells the records of a page apart, where they lie, and whose they are. */
function itemsOf(
  page: RawPage,
  bytes: Buffer,
  ranges: readonly ByteRange[],
  { adapt }: Context,
): readonly PageItem[] {
  const fields = ['sid', 'date_added', 'acct_id'];
  const [sids = [], times = [], accounts = []] = scanFields(bytes, ranges, fields);
  return ranges.map((range, index) => ({
    id: sids[index] ?? bytes.toString('utf8', range.start, range.end),
    at: parseNaive(times[index]),
    account: accounts[index] ?? null,
    page,
    index,
    start: range.start,
    end: range.end,
    read: () => adapt(parsedRecord(bytes, range)),
  }));
}

/**
 * Record by record: most hold only ASCII, which is decoded and parsed in two thirds of the time of
 * a page that does not.
 */
function parsedRecord(bytes: Buffer, { start, end }: ByteRange): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end));
  } catch {
    throw new ResponseError('invalid_json', 'A record of the page is not valid JSON.', {
      hint: 'listCalls() requests such a page again.',
    });
  }
}
