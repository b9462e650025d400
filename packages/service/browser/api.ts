import { parseContentRange } from '@call-attribution/core/page';

/** The keys to send. */
export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bearerToken: string;
}

/** A version of the API. */
export type Version = 'v2' | 'v3';

/** A call record as the service sent it. */
export type CallRecord = Readonly<Record<string, string | number | null>>;

/** One page of calls. */
export interface Page {
  readonly records: readonly CallRecord[];
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

/** A failed request; the message is that of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
}

/** The URL of a list request, relative to the page. */
export function listAddress(version: Version, q: string, rows: number, start: number): string {
  const filter = q.trim() === '' ? '' : `q=${encodeURIComponent(q.trim())}&`;
  return `${version}/user/bid-management?${filter}rows=${rows}${start > 0 ? `&start=${start}` : ''}`;
}

/** The headers with the keys: v2 accepts a bearer token only. */
export function authHeaders(version: Version, keys: Credentials): Record<string, string> {
  if (version === 'v3' && keys.accessKey !== '')
    return { access_key: keys.accessKey, secret_key: keys.secretKey };
  return { authorization: `Bearer ${keys.bearerToken}` };
}

/** Requests a page of calls. */
export async function listCalls(
  version: Version,
  keys: Credentials,
  q: string,
  rows: number,
  start: number,
  signal: AbortSignal,
): Promise<Page> {
  const response = await send(
    listAddress(version, q, rows, start),
    authHeaders(version, keys),
    'GET',
    signal,
  );
  return { records: (await response.json()) as CallRecord[], ...rangeOf(response) };
}

/** Requests the number of calls only, with a HEAD request: the total is in a header. */
export async function totalOf(
  version: Version,
  keys: Credentials,
  q: string,
  signal: AbortSignal,
): Promise<number> {
  const response = await send(listAddress(version, q, 1, 0), authHeaders(version, keys), 'HEAD', signal);
  return rangeOf(response).total;
}

/** Requests one call. */
export async function getCall(version: Version, keys: Credentials, sid: string): Promise<CallRecord> {
  const address = `${version}/user/bid-management/${encodeURIComponent(sid)}`;
  const body = await (await send(address, authHeaders(version, keys), 'GET')).json();
  return (Array.isArray(body) ? body[0] : body) as CallRecord;
}

async function send(
  address: string,
  headers: Record<string, string>,
  method: string,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const response = await fetch(address, { method, headers, signal });
  if (response.ok) return response;
  const problem = method === 'HEAD' ? null : await response.json().catch(() => null);
  throw new ApiError(
    problem?.detail ?? `The service responded with ${response.status} ${response.statusText}.`,
  );
}

function rangeOf(response: Response): { first: number; last: number; total: number } {
  const range = parseContentRange(response.headers.get('content-range'));
  if (range === null || range.total === null)
    throw new ApiError('The response does not have a readable Content-Range.');
  return { ...range, total: range.total };
}
