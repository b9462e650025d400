import {
  type FilterInput,
  FilterSyntaxError,
  filterFields,
  printFilter,
  safeParse,
  toFilter,
} from '@call-attribution/query-dsl';
import { ResponseError } from '../errors/calls-error.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { headerText } from '../http/headers.ts';
import { checkWhole } from '../options/check-names.ts';
import { type PageRange, parseContentRange } from '../page/content-range.ts';
import { judgePage, type PageRequest, type PageVerdict } from '../page/judge-page.ts';
import { expectArray, expectJson, parseJson } from '../page/read-json.ts';
import type { Version } from '../record/fields.ts';
import type { Call } from '../record/generated/calls.ts';
import { apiRequest, queryString } from './api-request.ts';
import type { ResponseMeta } from './client.ts';
import { clientDefaults, type ListQuery, type RequestOptions } from './options.ts';
import { type Context, responseInfo } from './request.ts';

/** A list query, checked. All pages of a list share its text. */
export interface PageQuery extends PageRequest {
  readonly filter: FilterText;
  readonly options: RequestOptions;
}

/** Checks a list query and prints its filter. */
export function readQuery({ settings }: Context, query: ListQuery): PageQuery {
  const { filter, rows = clientDefaults.rows, page = 0 } = query;
  checkWhole(rows, 'rows');
  checkWhole(page, 'page', 0);
  return { filter: filterText(filter, settings.version), rows, page, options: query };
}

/** What a request for a page returned: its content in some form, and how it compares with the request. */
export interface PageResult<T> {
  readonly content: T;
  readonly count: number;
  readonly range: PageRange | null;
  readonly verdict: PageVerdict;
  readonly meta: ResponseMeta;
}

/** How the body of a page is read: into records, or into boundaries only. */
export interface PageReader<T> {
  read(response: HttpResponse, range: PageRange | null): { content: T; count: number };
  readonly empty: T;
}

/** Requests one page. Every check is part of the attempt, so a page that fails one is requested again. */
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

/** A server that counts in smaller pages sends another part of the list than a caller of one page wants. */
export function refuseShifted({ verdict, count, meta }: PageResult<unknown>): void {
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
 * The value of `q`, in its canonical form. A string that is not a filter is refused here, before a lenient server can
 * ignore it and send everything; so is a misspelled name of a field. Other fields that this project does not know are for
 * the server to judge; such a filter is not shown, because it may name a caller.
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

function fromString(input: string, version: Version): FilterText {
  const result = safeParse(input, { version });
  if (result.ok) return textOf(printFilter(result.filter), true);
  const { code, suggestions, found } = result.problem;
  const isElsewhere = Object.hasOwn(filterFields.v3, found);
  if (code === 'unknown_field' && suggestions.length === 0 && !isElsewhere)
    return textOf(input.trim(), false);
  throw new FilterSyntaxError(result.problem);
}

const textOf = (text: string, isKnown: boolean): FilterText => {
  const q = text || undefined;
  return { q, shownQ: isKnown ? q : '…' };
};
