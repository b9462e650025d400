/** Who asks. */
export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bearerToken: string;
}

/** A version of the API. */
export type Version = 'v2' | 'v3';

/** A call record as it came. */
export type CallRecord = Readonly<Record<string, string | number | null>>;

/** One page of an answer. */
export interface Page {
  readonly records: readonly CallRecord[];
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

/** A refusal, in the words of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
}

/** The address of a list request, relative to the page. */
export function listAddress(version: Version, q: string, rows: number, start: number): string {
  const filter = q.trim() === '' ? '' : `q=${encodeURIComponent(q.trim())}&`;
  return `${version}/user/bid-management?${filter}rows=${rows}${start > 0 ? `&start=${start}` : ''}`;
}

/** The headers that say who asks: v2 takes a bearer token only. */
export function authHeaders(version: Version, who: Credentials): Record<string, string> {
  if (version === 'v3' && who.accessKey !== '')
    return { access_key: who.accessKey, secret_key: who.secretKey };
  return { authorization: `Bearer ${who.bearerToken}` };
}

/** Asks for a page of calls. */
export async function listCalls(
  version: Version,
  who: Credentials,
  q: string,
  rows: number,
  start: number,
  signal: AbortSignal,
): Promise<Page> {
  const response = await ask(listAddress(version, q, rows, start), authHeaders(version, who), 'GET', signal);
  return { records: (await response.json()) as CallRecord[], ...rangeOf(response) };
}

/** Asks for the number of calls alone: a HEAD request, whose answer has the total but no body. */
export async function totalOf(
  version: Version,
  who: Credentials,
  q: string,
  signal: AbortSignal,
): Promise<number> {
  const response = await ask(listAddress(version, q, 1, 0), authHeaders(version, who), 'HEAD', signal);
  return rangeOf(response).total;
}

/** Asks for one call. */
export async function getCall(version: Version, who: Credentials, sid: string): Promise<CallRecord> {
  const address = `${version}/user/bid-management/${encodeURIComponent(sid)}`;
  const body = await (await ask(address, authHeaders(version, who), 'GET')).json();
  return (Array.isArray(body) ? body[0] : body) as CallRecord;
}

async function ask(
  address: string,
  headers: Record<string, string>,
  method: string,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const response = await fetch(address, { method, headers, signal });
  if (response.ok) return response;
  const problem = method === 'HEAD' ? null : await response.json().catch(() => null);
  throw new ApiError(problem?.detail ?? `The service answered ${response.status} ${response.statusText}.`);
}

function rangeOf(response: Response): { first: number; last: number; total: number } {
  const match = /^(?:(\d+)-(\d+)|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (!match) throw new ApiError('The answer has no Content-Range that can be read.');
  return { first: Number(match[1] ?? 0), last: Number(match[2] ?? 0), total: Number(match[3]) };
}
