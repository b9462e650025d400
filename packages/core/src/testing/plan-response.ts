import { createRequire } from 'node:module';
import { matcher, safeParse } from '@call-attribution/query-dsl';
import type { MockAgent } from 'undici';
import { formatContentRange } from '../page/content-range.ts';
import { isCallExtension, type Version } from '../record/fields.ts';
import { fromCall } from '../record/from-call.ts';
import type { Call } from '../record/generated/calls.ts';
import type { CountForm, Fault } from './fault.ts';
import { fixtureCalls } from './fixture-calls.ts';
import type { PlannedResponse } from './send-response.ts';

const json = (
  status: number,
  value: unknown,
  headers: PlannedResponse['headers'] = {},
): PlannedResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify(value)),
});

/** What decides which calls a response is about, besides its request. */
interface Choice extends Omit<Fault, 'clamp'> {
  readonly clamp?: number | undefined;
  /** Sids that are counted and not given. A list of one row is a count. */
  readonly hidden?: ReadonlySet<string>;
  /** Calls from call extensions are in no answer of v3 that does not ask for them. */
  readonly leavesOutExtensions?: boolean | undefined;
}

const channels = {
  channel: 'channel',
  isExtension: (channel: unknown) => isCallExtension({ channel }),
};

/**
 * The right response to a request: a list, a single record, a count or SMS numbers. Of a fault only
 * the choice of records and their form is carried out here.
 */
export function planResponse(
  calls: readonly Call[],
  url: string,
  fault: Choice = {},
): PlannedResponse {
  const { pathname, searchParams } = new URL(url, 'http://server.invalid');
  if (pathname.endsWith('/ibp_api.php')) return smsListing;
  const match = /\/(v2|v3)\/user\/bid-management(?:\/([^/]+))?$/.exec(pathname);
  if (!match) return json(404, { error: 'no such path' });
  const version = match[1] === 'v2' ? 'v2' : 'v3';
  const item = match[2] === undefined ? undefined : decodeURIComponent(match[2]);
  const filter = safeParse(searchParams.get('q') ?? '');
  if (!filter.ok) return json(400, { error: filter.problem.message });
  const isNarrow = version === 'v3' && fault.leavesOutExtensions === true;
  const matches = matcher(filter.filter, isNarrow ? { callExtensions: channels } : {});
  const found = calls.filter((call) => matches(call));
  if (item === undefined) return planList(found, version, searchParams, fault);
  if (item === 'count' && version === 'v2') return planCount(found.length, fault.count ?? 'object');
  const call = calls.find((one) => one.sid === item);
  if (!call) return json(404, { error: 'no such call' });
  const record = fromCall(call, version);
  return json(200, fault.single === 'array' ? [record] : record);
}

function planList(
  found: readonly Call[],
  version: Version,
  query: URLSearchParams,
  { clamp = Number.POSITIVE_INFINITY, shift = 0, hidden }: Choice,
): PlannedResponse {
  const asked = Number(query.get('rows') ?? 100);
  const rows = Math.min(asked, clamp);
  const given = asked === 1 ? found : found.filter(({ sid }) => !hidden?.has(sid));
  const first = Number(query.get('start') ?? 0) * rows;
  // A shifted page still names the range that was requested.
  const from = Math.max(0, first + shift);
  const part = given.slice(from, from + rows).map((call) => fromCall(call, version));
  return json(200, part, { 'content-range': formatContentRange(first, part.length, given.length) });
}

function planCount(total: number, form: CountForm): PlannedResponse {
  const forms = {
    object: { count: total },
    number: total,
    text: String(total),
    array: [{ count: total }],
    header: [],
  };
  const range = form === 'header' ? { 'content-range': `*/${total}` } : {};
  return json(200, forms[form], range);
}

const number =
  '<number sms_enabled="1" url="https://listener.example.com/?a=1&amp;b=2">0015555550100</number>';
const smsListing: PlannedResponse = {
  status: 200,
  headers: { 'content-type': 'text/xml; charset=utf-8' },
  body: Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><response><result/><result_description>[1] Number(s) Returned</result_description><data>${number}</data></response>`,
  ),
};

// The sandbox uses its neighbors in each start; undici takes a fifth of one.
const load = createRequire(import.meta.url);

/** See `createMockAgent`. */
export interface MockOptions {
  /** The base URL of the client under test. */
  readonly baseUrl: string;
  /** The calls it serves. @default fixtureCalls(20) */
  readonly calls?: Call[] | undefined;
}

/**
 * An undici MockAgent that responds as the API would, without a socket: pass it as `dispatcher`.
 * Other origins are refused. Further intercepts can be added to it as to any MockAgent.
 *
 * @example
 * const dispatcher = createMockAgent({ baseUrl });
 * const client = createClient({ baseUrl, dispatcher, auth: apiKeys('a', 'b') });
 */
export function createMockAgent(options: MockOptions): MockAgent {
  const { baseUrl, calls = fixtureCalls(20) } = options;
  const undici: typeof import('undici') = load('undici');
  const agent = new undici.MockAgent();
  agent.disableNetConnect();
  agent
    .get(new URL(baseUrl).origin)
    .intercept({ path: () => true, method: () => true })
    .reply(({ path }) => {
      const { status, headers, body } = planResponse(calls, path);
      return { statusCode: status, data: body, responseOptions: { headers } };
    })
    .persist();
  return agent;
}
