import { ResponseError } from '../errors/calls-error.ts';
import { headerText } from '../http/headers.ts';
import { queryString } from '../http/query.ts';
import type { Answer } from '../http/transport.ts';
import { channels, type PageEvent } from '../observe/channels.ts';
import { countOf, type PageRange, parseContentRange } from '../page/content-range.ts';
import { judgePage, type PageVerdict } from '../page/judge-page.ts';
import { parseInPieces } from '../page/parse-in-pieces.ts';
import { expectArray, expectJson, parseJson } from '../page/read-json.ts';
import type { Call } from '../record/generated/calls.ts';
import { type Asked, responseOf } from './ask.ts';
import type { CallPage, ListQuery, ResponseMeta } from './client.ts';
import type { Context } from './context.ts';
import { type FilterText, filterText } from './filter-text.ts';
import { whole } from './read-options.ts';

/** The page size used when none is asked for: what the maker of the API suggests for its sibling. */
const defaultRows = 250;

/** A list query, checked and ready to be sent page by page. */
export interface PageQuery extends FilterText {
  readonly rows: number;
  readonly start: number;
  readonly signal: AbortSignal | undefined;
  readonly onResponse: ListQuery['onResponse'];
}

/** Checks a list query and turns its filter into text. */
export function readQuery(context: Context, query: ListQuery): PageQuery {
  return {
    ...filterText(query.filter, context.settings.version),
    rows: whole(query.rows ?? defaultRows, 'rows', 1),
    start: whole(query.start ?? 0, 'start', 0),
    signal: query.signal,
    onResponse: query.onResponse,
  };
}

/** What one request for a page brought: its content in some form, and how it compares with what was asked. */
export interface PageAnswer<T> {
  readonly content: T;
  readonly count: number;
  readonly range: PageRange | null;
  readonly verdict: PageVerdict;
  readonly meta: ResponseMeta;
}

/** How the body of a page is read: into records, or into borders only. */
export interface PageReader<T> {
  read(answer: Answer, range: PageRange | null): { content: T; count: number };
  readonly empty: T;
}

/** Asks for one page; every check runs within the attempt, so that a page that fails one is asked for again. */
export async function askPage<T>(
  context: Context,
  query: PageQuery,
  reader: PageReader<T>,
): Promise<PageAnswer<T>> {
  const { q, shownQ, rows, start, signal, onResponse } = query;
  const place = { rows, start: start || undefined };
  const { requests } = context;
  const url = requests.shown(queryString({ q: shownQ, ...place }));
  const asked = await context.engine.ask({
    id: {},
    operation: 'list',
    request: requests.bidManagement(queryString({ q, ...place })),
    url,
    authHint: requests.authHint,
    // Some servers say "not found" or "range not satisfiable" for a page past the end.
    alsoRead: start > 0 ? [404, 416] : [],
    signal,
    onResponse,
    read: (answer) => readPage(answer, query, reader),
  });
  const { content, count, range, verdict } = asked.value;
  if (channels.page.hasSubscribers) {
    const event: PageEvent = {
      url,
      rows,
      start,
      count,
      total: range?.total ?? null,
      clamped: verdict.clamped,
    };
    channels.page.publish(event);
  }
  if (verdict.clamped) context.reporter.tell({ type: 'clamped', asked: rows, got: count });
  return { content, count, range, verdict, meta: metaOf(asked, query, verdict.clamped ? count : undefined) };
}

function readPage<T>(answer: Answer, asked: PageQuery, reader: PageReader<T>): Omit<PageAnswer<T>, 'meta'> {
  const range = parseContentRange(headerText(answer.headers, 'content-range'));
  if (answer.status === 404 || answer.status === 416) {
    const past = range === null ? null : { first: 0, last: 0, total: range.total };
    return { content: reader.empty, count: 0, range: past, verdict: judgePage(asked, past, 0) };
  }
  expectJson(answer);
  const { content, count } = reader.read(answer, range);
  return { content, count, range, verdict: judgePage(asked, range, count) };
}

/** The answer behind a page, and what was asked for. */
function metaOf(
  asked: Asked<unknown>,
  { rows, start }: PageQuery,
  clampedTo: number | undefined,
): ResponseMeta {
  const meta = { ...responseOf(asked), rows, start };
  return clampedTo === undefined ? meta : { ...meta, clampedTo };
}

/** Reads a page into checked calls. */
export function recordReader(context: Context): PageReader<Call[]> {
  return {
    read(answer, range) {
      const records = parseInPieces(answer.body, countOf(range)) ?? expectArray(parseJson(answer), answer);
      const content = records.map(context.adapt);
      // Parsing has copied every text out of the body; its memory can take the next page.
      context.engine.reuse(answer.body);
      return { content, count: records.length };
    },
    empty: [],
  };
}

/** One page of calls, and nothing but the page that was asked for. */
export async function listCalls(context: Context, query: ListQuery): Promise<CallPage> {
  const page = await askPage(context, readQuery(context, query), recordReader(context));
  refuseShifted(page);
  return { records: page.content, range: page.range, meta: page.meta };
}

/** A page from another place because the server counts in smaller pages is not what a caller of one page asked for. */
export function refuseShifted({ verdict, count, meta }: PageAnswer<unknown>): void {
  if (!verdict.shifted) return;
  throw new ResponseError(
    'page_clamped',
    `The server gives at most ${count} rows, ${meta.rows} were asked for, and page ${meta.start} is another one then.`,
    {
      status: meta.status,
      attempts: meta.attempts,
      hint: `Ask with rows: ${count}, or use pages() or calls(), which go on with the real page size.`,
    },
  );
}
