import { matcher, safeParse } from '@call-attribution/query-dsl';
import { fromCall } from '../record/from-call.ts';
import type { Call } from '../record/generated/calls.ts';
import type { SmsNumber } from '../sms/read-sms-numbers.ts';
import type { Version } from '../version.ts';

/** What a well-behaved server would answer; faults change it before it is sent. */
export interface PlannedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What the test server serves. The lists may be changed while it runs: pages shift, totals move. */
export interface Served {
  readonly calls: Call[];
  readonly smsNumbers: readonly Pick<SmsNumber, 'number' | 'url'>[];
  /** Most rows of a page; more are cut down to it. */
  readonly maxRows: number;
}

const json = { 'content-type': 'application/json; charset=utf-8' };

/** The answer to one request: list, single record, count or SMS numbers. Every call is in both versions' lists. */
export function planAnswer(served: Served, url: string): PlannedAnswer {
  const { pathname, searchParams } = new URL(url, 'http://server.invalid');
  if (pathname.endsWith('/ibp_api.php')) return planSms(served);
  const match = /\/(v2|v3)\/user\/bid-management(?:\/([^/]+))?$/.exec(pathname);
  if (!match) return { status: 404, headers: json, body: Buffer.from('{"error":"no such address"}') };
  const version = match[1] as Version;
  const item = match[2] === undefined ? undefined : decodeURIComponent(match[2]);
  const filter = safeParse(searchParams.get('q') ?? '');
  if (!filter.ok)
    return {
      status: 400,
      headers: json,
      body: Buffer.from(JSON.stringify({ error: filter.problem.message })),
    };
  const matches = matcher(filter.filter);
  const found = served.calls.filter((call) => matches(call));
  if (item === undefined) return planList(served, found, version, searchParams);
  if (item === 'count' && version === 'v2')
    return { status: 200, headers: json, body: Buffer.from(JSON.stringify({ count: found.length })) };
  const call = served.calls.find((one) => one.sid === item);
  if (!call) return { status: 404, headers: json, body: Buffer.from('{"error":"no such call"}') };
  return { status: 200, headers: json, body: Buffer.from(JSON.stringify(fromCall(call, version))) };
}

function planList(
  served: Served,
  found: readonly Call[],
  version: Version,
  query: URLSearchParams,
): PlannedAnswer {
  const rows = Math.min(Number(query.get('rows') ?? 100), served.maxRows);
  const first = Number(query.get('start') ?? 0) * rows;
  const part = found.slice(first, first + rows).map((call) => fromCall(call, version));
  const range = part.length > 0 ? `${first + 1}-${first + part.length}` : '*';
  return {
    status: 200,
    headers: { ...json, 'content-range': `${range}/${found.length}` },
    body: Buffer.from(JSON.stringify(part)),
  };
}

function planSms({ smsNumbers }: Served): PlannedAnswer {
  const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
  const lines = smsNumbers.map(
    ({ number, url }) => `<number sms_enabled="1" url="${escaped(url ?? '')}">${number}</number>`,
  );
  const told = `<result/><result_description>[${lines.length}] Number(s) Returned</result_description>`;
  return {
    status: 200,
    headers: { 'content-type': 'text/xml; charset=utf-8' },
    body: Buffer.from(
      `<?xml version="1.0" encoding="UTF-8"?><response>${told}<data>${lines.join('')}</data></response>`,
    ),
  };
}
