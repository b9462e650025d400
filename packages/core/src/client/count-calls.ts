import { CallsError, ResponseError } from '../errors/calls-error.ts';
import { headerText, mediaType } from '../http/headers.ts';
import { queryString } from '../http/query.ts';
import type { Answer } from '../http/transport.ts';
import { parseContentRange } from '../page/content-range.ts';
import { decodeText, expectJson, notWhatWasAsked, parseJson } from '../page/read-json.ts';
import type { CallCount, ListQuery, SignalOptions } from './client.ts';
import type { Context } from './context.ts';
import { type FilterText, filterText } from './filter-text.ts';
import { askPage, recordReader } from './list-calls.ts';

/**
 * How many calls match. v2 has a count request, whose answer the API text does not show; v3 has none, so that the total
 * comes from the Content-Range of a list of one row. A v2 server without a count request is asked the same way.
 */
export async function countCalls(
  context: Context,
  query: Omit<ListQuery, 'rows' | 'start'>,
): Promise<CallCount> {
  const filter = filterText(query.filter, context.settings.version);
  if (context.settings.version === 'v3') return countByList(context, filter, query);
  try {
    return await countByRequest(context, filter, query);
  } catch (error) {
    if (error instanceof CallsError && error.code === 'not_found') return countByList(context, filter, query);
    throw error;
  }
}

async function countByRequest(
  context: Context,
  { q, shownQ }: FilterText,
  { signal, onResponse }: SignalOptions,
): Promise<CallCount> {
  const tail = `/count${queryString({ q })}`;
  const { requests } = context;
  const asked = await context.engine.ask({
    id: {},
    operation: 'count',
    request: requests.bidManagement(tail),
    url: requests.shown(`/count${queryString({ q: shownQ })}`),
    authHint: requests.authHint,
    signal,
    onResponse,
    read: readCount,
  });
  return asked.value;
}

async function countByList(
  context: Context,
  filter: FilterText,
  { signal, onResponse }: SignalOptions,
): Promise<CallCount> {
  const page = await askPage(
    context,
    { ...filter, rows: 1, start: 0, signal, onResponse },
    recordReader(context),
  );
  if (page.range !== null && page.range.total !== null)
    return { total: page.range.total, source: 'content-range' };
  if (page.count === 0) return { total: 0, source: 'content-range' };
  throw unreadable('The server tells no total in Content-Range', 'Count what client.calls() gives.');
}

function readCount(answer: Answer): CallCount {
  const total = fromBody(answer);
  if (total !== undefined) return { total, source: 'count' };
  const range = parseContentRange(headerText(answer.headers, 'content-range'));
  if (range !== null && range.total !== null) return { total: range.total, source: 'content-range' };
  throw unreadable('The answer of the count request holds no number', 'A v3 client counts another way.');
}

function unreadable(problem: string, hint: string): ResponseError {
  return new ResponseError('count_unreadable', `${problem}.`, { hint });
}

/** The number in a body: plain text, a JSON number or text, an object or an array around one. */
function fromBody(answer: Answer): number | undefined {
  if (answer.body.length === 0) return undefined;
  if (mediaType(answer.headers) === 'text/plain') {
    const total = asCount(decodeText(answer.body));
    if (total !== undefined) return total;
  }
  expectJson(answer);
  const value = parseJson(answer);
  const inner = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const total = asCount(inner) ?? fromObject(inner);
  if (total === undefined && typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    const problem = notWhatWasAsked(inner, answer, 'a count');
    if (problem.code === 'error_body') throw problem;
  }
  return total;
}

const countNames = [
  'count',
  'total',
  'total_count',
  'totalcount',
  'record_count',
  'recordcount',
  'num_records',
  'records',
  'rows',
  'calls',
];

function fromObject(value: unknown, depth = 0): number | undefined {
  if (depth > 3 || typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  for (const name of countNames) {
    const named = entries.find(([key]) => key.toLowerCase() === name);
    const total = named && (asCount(named[1]) ?? fromObject(named[1], depth + 1));
    if (total !== undefined) return total;
  }
  const [only] = entries;
  // An object around nothing but one number, whatever it is called.
  return entries.length === 1 && only ? asCount(only[1]) : undefined;
}

function asCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}
