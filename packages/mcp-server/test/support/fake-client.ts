import {
  apiKeys,
  bearerToken,
  type Call,
  type Client,
  createClient,
  type Version,
} from '@call-attribution/core';
import { fromCall, isCallExtension } from '@call-attribution/core/record';
import { fixtureCalls } from '@call-attribution/core/testing';
import { matcher, parse } from '@call-attribution/query-dsl';

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

/** A client over an array, for tests of what the tools make of answers. */
export function fakeClient(calls: readonly Call[], options: FakeOptions = {}): Client {
  const { version = 'v3', maxRows = Number.POSITIVE_INFINITY, before, smsNumbers = [] } = options;
  const keys = apiKeys('a', 'b');
  const channels = {
    channel: 'channel',
    isExtension: (channel: unknown) => isCallExtension({ channel }),
  };
  return createClient({
    baseUrl: 'http://127.0.0.1:1',
    legacyBaseUrl: 'http://127.0.0.1:1',
    version,
    legacyAuth: keys,
    auth: version === 'v2' ? bearerToken('a') : keys,
    retry: { attempts: 1 },
    async fetch(address, init) {
      const { pathname, searchParams } = new URL(String(address));
      const item = /bid-management\/(.+)$/.exec(pathname)?.[1];
      const isList = item === undefined && !pathname.endsWith('.php');
      const q = searchParams.get('q') ?? '';
      const matches = matcher(parse(q), version === 'v3' ? { callExtensions: channels } : {});
      const rows = Math.min(maxRows, Number(searchParams.get('rows') ?? 100));
      const found = calls.filter(
        (call) => matches(call) && (rows === 1 || !options.hidden?.has(call.sid)),
      );
      const from = Number(searchParams.get('start') ?? 0) * rows;
      const page = found.slice(from, from + rows);
      const signal = init?.signal ?? undefined;
      const instead = await before?.({ q, rows: isList ? rows : null, signal }, page);
      if (instead instanceof Response) return instead;
      signal?.throwIfAborted();
      if (pathname.endsWith('.php')) return smsListing(smsNumbers);
      if (item === 'count') return Response.json({ count: found.length });
      if (item !== undefined) {
        const call = calls.find(({ sid }) => sid === decodeURIComponent(item));
        return call ? Response.json(fromCall(call, version)) : Response.json({}, { status: 404 });
      }

      const range = page.length === 0 ? '0-0' : `${from + 1}-${from + page.length}`;
      const headers =
        options.withoutTotal && rows > 1 ? {} : { 'content-range': `${range}/${found.length}` };
      const said = options.only === undefined ? {} : { 'x-calls-only': options.only };
      return Response.json(
        page.map((call) => fromCall(call, version)),
        { headers: { ...headers, ...said } },
      );
    },
  });
}

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
