import {
  apiKeys,
  bearerToken,
  type Call,
  type Client,
  createClient,
  type Version,
} from '@call-attribution/core';
import { fakeApi, faults, fixtureCalls } from '@call-attribution/core/testing';

/** Calls that all came from a website. */
export const websiteCalls = (count: number): readonly Call[] =>
  fixtureCalls(count).map((call) => ({ ...call, channel: 'Tracker' }));

/** A request, as far as tests look at it. */
export interface Asked {
  /** Its filter; empty without one. */
  readonly q: string;
  /** Rows of its page; null when it is for no list. A count is a list of one row. */
  readonly rows: number | null;
  readonly signal: AbortSignal | undefined;
}

/** How the fake API misbehaves. */
export interface FakeOptions {
  readonly version?: Version;
  /** Most rows a page has, however many are asked. */
  readonly maxRows?: number;
  /** Calls that are counted, and not given. */
  readonly hidden?: ReadonlySet<string>;
  /** Which calls it says it has, as the header of a service over a filtered copy. */
  readonly only?: string;
  /** Pages have no total. */
  readonly withoutTotal?: boolean;
  /**
   * Called before each response with the calls that it has; may wait, or respond in another way.
   */
  readonly before?: (asked: Asked, page: readonly Call[]) => unknown;
  readonly smsNumbers?: readonly { number: string; smsEnabled: boolean | string; url: string }[];
}

/** The response of an API that fails. */
export const failed = (status: number): Response =>
  Response.json({ error: 'Not now.' }, { status });

/** A client of a fake API, for tests of what the tools make of answers. */
export function fakeClient(calls: readonly Call[], options: FakeOptions = {}): Client {
  const { version = 'v3', maxRows, hidden, only, withoutTotal, before, smsNumbers = [] } = options;
  const api = fakeApi({
    // Tests change the list that they gave.
    calls: calls as Call[],
    cap: maxRows,
    leavesOutExtensions: true,
    faults: ({ query }) => (withoutTotal && query.get('rows') !== '1' ? noTotal : undefined),
  });
  api.hidden = hidden ?? api.hidden;
  const keys = apiKeys('a', 'b');
  return createClient({
    baseUrl: 'http://127.0.0.1:1',
    legacyBaseUrl: 'http://127.0.0.1:1',
    version,
    legacyAuth: keys,
    auth: version === 'v2' ? bearerToken('a') : keys,
    retry: { attempts: 1 },
    async fetch(address, init) {
      const { pathname, searchParams } = new URL(String(address));
      const isList = pathname.endsWith('/bid-management');
      const rows = Math.min(maxRows ?? 1e9, Number(searchParams.get('rows') ?? 100));
      const signal = init?.signal ?? undefined;
      const asked = { q: searchParams.get('q') ?? '', rows: isList ? rows : null, signal };
      const response = await api.fetch(address);
      const hasPage = before !== undefined && isList && response.ok;
      const page = hasPage ? ((await response.clone().json()) as Call[]) : [];

      const instead = await before?.(asked, page);
      if (instead instanceof Response) return instead;
      signal?.throwIfAborted();
      if (pathname.endsWith('.php')) return smsListing(smsNumbers);
      if (isList && only !== undefined) response.headers.set('x-calls-only', only);
      return response;
    },
  });
}

const noTotal = faults.range(() => undefined);

function smsListing(numbers: Required<FakeOptions>['smsNumbers']): Response {
  const escaped = (text: string) => text.replace(/&/g, '&amp;');
  const entries = numbers.map(
    ({ number, smsEnabled, url }) =>
      `<number sms_enabled="${smsEnabled}" url="${escaped(url)}">${number}</number>`,
  );
  const said = `<result/><result_description>[${numbers.length}] Number(s) Returned</result_description>`;
  return new Response(`<response>${said}<data>${entries.join('')}</data></response>`, {
    headers: { 'content-type': 'text/xml' },
  });
}

/** A client that fails inside, with an error of its own. */
export function brokenClient(error: Error): Client {
  const fail = async () => Promise.reject(error);
  return {
    ...fakeClient([]),
    fetchPage: fail,
    countCalls: fail,
    getCall: fail,
    listSmsNumbers: fail,
  };
}
