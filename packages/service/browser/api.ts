import type { Answer, AnswerColumn } from '@call-attribution/questions';
import type { State } from './state.ts';

export type {
  PageChange,
  PageGroup as Group,
  PageSummary as Summary,
} from '../src/page/question.ts';

/** The keys to send, or the account to name where the browser sends the password of the page. */
export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bearerToken: string;
  readonly account: string | null;
}

/** No keys. */
export const noKeys: Credentials = { accessKey: '', secretKey: '', bearerToken: '', account: null };

/** A call record, or some of its fields. */
export type CallRecord = Readonly<Record<string, string | number | null>>;

/** The calls of one page of the table. */
export interface Listed {
  /** Null when the numbers say it. */
  readonly total: number | null;
  readonly calls: readonly CallRecord[];
}

/** What a team has set up, as far as it is seen: names, and what happened when. */
export interface Setup {
  readonly definitions: readonly string[];
  readonly exclude: string | null;
  readonly reports: readonly { readonly name: string; readonly title: string }[];
  readonly annotations: readonly { readonly date: string; readonly text: string }[];
}

/** A report with a name. */
export interface Report {
  readonly title: string;
  readonly columns: readonly AnswerColumn[];
  readonly rows: Answer['rows'];
  readonly total: Answer['total'];
  readonly period: Answer['period'];
  readonly compared: Answer['compared'];
  readonly notes: readonly string[];
}

/** A failed request; the message is that of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The parameters that select calls. */
export function selection({ q, only, definitions, isExcluding }: State): Record<string, string> {
  return {
    ...(q.trim() === '' ? {} : { q: q.trim() }),
    ...(Object.keys(only).length === 0 ? {} : { only: JSON.stringify(only) }),
    ...(definitions.length === 0 ? {} : { definitions: definitions.join() }),
    ...(isExcluding ? {} : { exclude: 'no' }),
  };
}

/** Says that the page asks, which signs in by itself, so that the browser does not. */
export const fromPage = { 'x-calls-page': '1' };

/** The headers with the keys. */
function authHeaders(keys: Credentials): Record<string, string> {
  if (keys.account !== null) return fromPage;
  if (keys.accessKey !== '') return { access_key: keys.accessKey, secret_key: keys.secretKey };
  return { authorization: `Bearer ${keys.bearerToken}` };
}

/** Requests JSON of the page's own paths. */
export async function getJson<T>(
  path: string,
  parameters: Readonly<Record<string, string>>,
  keys: Credentials,
  signal: AbortSignal | null = null,
): Promise<T> {
  return (await send(path, parameters, keys, signal)).json();
}

/** Requests a file, as it is. */
export async function getFile(
  path: string,
  parameters: Readonly<Record<string, string>>,
  keys: Credentials,
): Promise<Blob> {
  return (await send(path, parameters, keys, null)).blob();
}

async function send(
  path: string,
  parameters: Readonly<Record<string, string>>,
  keys: Credentials,
  signal: AbortSignal | null,
): Promise<Response> {
  const { account } = keys;
  const query = new URLSearchParams(
    account === null ? parameters : { ...parameters, account },
  ).toString();
  const response = await fetch(query === '' ? path : `${path}?${query}`, {
    headers: authHeaders(keys),
    signal,
  });
  if (response.ok) return response;
  const problem: unknown = await response.json().catch(() => null);
  const isTold = typeof problem === 'object' && problem !== null && 'detail' in problem;
  throw new ApiError(
    response.status,
    isTold
      ? String(problem.detail)
      : `The service responded with ${response.status} ${response.statusText}.`,
  );
}

/** What went wrong, in a sentence. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return 'The service cannot be reached. Is it still running?';
}
