import { CallsError } from '../errors/calls-error.ts';
import { ResponseError } from '../errors/classes.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { headerText, mediaType } from '../http/headers.ts';
import { parseContentRange } from '../page/content-range.ts';
import { decodeText, expectJson, parseJson, unexpectedBody } from '../page/read-json.ts';
import { apiRequest, queryString } from './api-request.ts';
import type { CallCount } from './client.ts';
import type { ListQuery, RequestOptions } from './options.ts';
import { checkQuery, type FilterText, filterText, recordReader, requestPage } from './pages.ts';
import type { Context } from './request.ts';

/**
 * How many calls match. v2 has a count request, whose response the API does not show. v3 does not
 * have one, so the total comes from the Content-Range of a list of one row; so it does with a v2
 * server that has no count request.
 */
export async function countCalls(
  context: Context,
  query: Omit<ListQuery, 'rows' | 'page'>,
): Promise<CallCount> {
  checkQuery(query);
  const { version } = context.settings;
  const filter = filterText(query.filter, version);
  if (version === 'v3') return countByList(context, filter, query);
  const tailOf = (q: string | undefined) => `/count${queryString({ q })}`;
  const tail = tailOf(filter.q);
  const shown = tailOf(filter.shownQ);
  const asked = { operation: 'count', tail, shown, options: query, read: readCount } as const;
  try {
    return (await context.requests.request(apiRequest(context.settings, asked))).value;
  } catch (error) {
    if (error instanceof CallsError && error.code === 'not_found')
      return countByList(context, filter, query);
    throw error;
  }
}

async function countByList(
  context: Context,
  filter: FilterText,
  options: RequestOptions,
): Promise<CallCount> {
  const { range, count } = await requestPage(
    context,
    { filter, rows: 1, page: 0, mayPassTotal: false, options },
    recordReader(context),
  );
  const total = count === 0 ? 0 : (range?.total ?? null);
  if (total !== null) return { total, source: 'content-range' };
  throw new ResponseError(
    'unexpected_shape',
    'The server does not send a total in Content-Range.',
    {
      hint: 'Count the calls while you iterate over listCalls().',
      kind: 'data',
    },
  );
}

function readCount(response: HttpResponse): CallCount {
  const total = fromBody(response);
  if (total !== undefined) return { total, source: 'count' };
  const range = parseContentRange(headerText(response.headers, 'content-range'));
  if (range !== null && range.total !== null)
    return { total: range.total, source: 'content-range' };
  throw new ResponseError(
    'unexpected_shape',
    'The response of the count request does not hold a number.',
    {
      hint: "A client with version: 'v3' counts in another way.",
      kind: 'data',
    },
  );
}

/**
 * The number in a body: plain text, a JSON number or string, or an object or an array around one.
 */
function fromBody(response: HttpResponse): number | undefined {
  if (response.body.length === 0) return undefined;
  if (mediaType(response.headers) === 'text/plain') {
    const total = asCount(decodeText(response.body));
    if (total !== undefined) return total;
  }

  expectJson(response);
  const value = parseJson(response);
  const inner = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const total = asCount(inner) ?? fromObject(inner);
  const problem = total === undefined ? unexpectedBody(inner, response, 'a count') : undefined;
  if (problem?.code === 'error_body') throw problem;
  return total;
}

/** The number under one of these names, in an object or one within it. */
function fromObject(value: unknown, depth = 0): number | undefined {
  if (depth > 3 || typeof value !== 'object' || value === null || Array.isArray(value))
    return undefined;
  return Object.entries(value)
    .filter(([name]) => /^(?:count|total|total_?count|data|result)$/i.test(name))
    .map(([, item]) => asCount(item) ?? fromObject(item, depth + 1))
    .find((total) => total !== undefined);
}

function asCount(value: unknown): number | undefined {
  const number =
    typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}
