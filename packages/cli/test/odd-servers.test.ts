import type { Call } from '@call-attribution/core';
import { type ApiFault, fakeApi, faults, fixtureCalls } from '@call-attribution/core/testing';
import { matcher, parse } from '@call-attribution/query-dsl';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStage } from './stage.ts';

// What a server may do that its API does not forbid, from the first request to the last line.

const stage = openStage();
const calls = fixtureCalls(400);

/** Exports everything from such a server. */
async function exported(list: Call[], fault: ApiFault = {}, rows = 50, more: string[] = []) {
  const server = await fakeApi({ calls: list, faults: () => fault }).listen();
  onTestFinished(() => server.close());
  const env = { CALLS_BASE_URL: server.url, CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' };
  const { code, stdout, stderr } = await stage.quick(
    ['export', '--format', 'ndjson', '--output', '-', '--rows', String(rows), ...more],
    { env },
  );
  const sids = stdout
    .split('\n')
    .filter(Boolean)
    .map((line): string => JSON.parse(line).sid)
    .sort();
  return { code, sids, stderr, requests: server.requests.length };
}

const sidsOf = (list: readonly Call[]): string[] => list.map(({ sid }) => sid).sort();

test('a server that lists the newest first, five test calls of 2019, then 800 of some days', async () => {
  const old = fixtureCalls(5, 2).map((call) => ({
    ...call,
    date_added: call.date_added.replace('2024', '2019'),
  }));
  const list = [...old, ...fixtureCalls(800)].reverse();
  const { code, sids, stderr, requests } = await exported(list, {}, 20);
  expect({ code, sids }).toEqual({ code: 0, sids: sidsOf(list) });
  expect(stderr).toMatch(/^complete: 805 calls/m);
  expect(requests).toBeLessThanOrEqual(2 * 41 + 10);
});

/** A response whose body and Content-Range are changed. */
const changing = (
  change: (answer: { body: string; first: number; last: number; total: number; url: string }) => {
    body?: string;
    range?: string;
  },
): ApiFault => ({
  change(response, { url }) {
    const sent = response.headers['content-range'] ?? '';
    const [first = 0, last = 0, total = 0] = (/(\d+)-(\d+)\/(\d+)/.exec(sent) ?? [])
      .slice(1)
      .map(Number);
    const text = response.body.toString();
    const { body = text, range = sent } = change({ body: text, first, last, total, url });
    return {
      ...response,
      body: Buffer.from(body),
      headers: { ...response.headers, 'content-range': range },
    };
  },
});

test('a row that comes twice, and that the totals count once: all calls arrive, and it is named', async () => {
  const list = calls.toSpliced(123, 0, calls[123] as Call);
  const isIn = (url: string): boolean => {
    const q = new URL(url, 'http://localhost').searchParams.get('q') ?? '';
    return matcher(parse(q))({ ...list[123] });
  };
  const once = changing(({ first, last, total, url }) =>
    total > 0 && isIn(url) ? { range: `items ${first}-${last}/${total - 1}` } : {},
  );
  for (const rows of [50, 90, 130, 500])
    for (const listed of [list, list.toReversed()]) {
      const { code, sids, stderr } = await exported(listed, once, rows);
      expect({ code, sids }).toEqual({ code: 3, sids: sidsOf(calls) });
      expect(stderr).toMatch(/^INCOMPLETE: 400 calls; the server gave 1 call twice/m);
      expect(stderr).toContain(`: ${list[123]?.sid}`);
    }
});

test('a server that never gives a part of its list right: nobody knows how many calls are missing', async () => {
  const at = calls[200]?.date_added ?? '';
  const hiding = changing(({ body, first, last, total }) =>
    body.includes(at) ? { range: `items ${first + 7}-${last + 7}/${total}` } : {},
  );
  const { code, stderr } = await exported(calls, hiding);
  expect(code).toBe(3);
  expect(stderr).toMatch(/INCOMPLETE: .* some calls are missing/);
});

test('totals that go no further than 100, and a second with 300 calls: all arrive, and nothing is said to be complete', async () => {
  const busy = calls.map((call, i) =>
    i >= 50 && i < 350 ? { ...call, date_added: calls[50]?.date_added ?? '' } : call,
  );
  const capped = changing(({ first, last, total }) =>
    total > 100 ? { range: `items ${first}-${last}/100` } : {},
  );
  for (const rows of [20, 30]) {
    const { code, sids, stderr } = await exported(busy, capped, rows);
    expect({ code, sids }).toEqual({ code: 3, sids: sidsOf(busy) });
    expect(stderr).toMatch(/^UNPROVEN: 400 calls/m);
  }
});

test('records with a sid and an acct_id in an object before their own, or with a key twice', async () => {
  const nesting = changing(({ body }) => ({
    body: body.replaceAll(
      /\{"sid"/g,
      '{"campaign":{"sid":"C1","acct_id":"7","date_added":"2020-01-01 00:00:00"},"acct_id":"8","sid":"C2","sid"',
    ),
  }));
  const { code, sids, stderr } = await exported(calls, nesting);
  expect({ code, sids }).toEqual({ code: 0, sids: sidsOf(calls) });
  expect(stderr).toMatch(/^complete: 400 calls/m);
});

describe('a server that gives no total on the last page', () => {
  const without = changing(({ first, last, total }) =>
    last === total ? { range: total === 0 ? '' : `items ${first}-${last}/*` } : {},
  );
  const at = calls[300]?.date_added ?? '';

  test.each<[string, string[], Call[]]>([
    ['all calls', [], calls],
    ['one of them', ['--q', `date_added:[${at} TO ${at}]`], calls.slice(300, 301)],
    ['none of them', ['--from', '2030-01-01', '--to', '2030-01-02'], []],
  ])('%s', async (_, more, list) => {
    const { code, sids, stderr, requests } = await exported(calls.toReversed(), without, 50, more);
    expect({ code, sids }).toEqual({ code: 0, sids: sidsOf(list) });
    expect(stderr).toMatch(/^complete: /m);
    expect(requests).toBeLessThanOrEqual(3 * Math.ceil(list.length / 50) + 4);
  });

  test('the only call of an account: nothing tells it from a server that gives no totals', async () => {
    const { code, sids, stderr } = await exported(calls.slice(0, 1), without);
    expect({ code, sids }).toEqual({ code: 3, sids: sidsOf(calls.slice(0, 1)) });
    expect(stderr).toMatch(/^UNPROVEN: 1 call; the server gives no total/m);
  });
});

test('a proxy that drops Content-Range of each seventh answer', async () => {
  let answers = 0;
  const dropping: ApiFault = {
    change(response, request) {
      answers += 1;
      const change = faults.range(() => undefined).change;
      return answers % 7 === 0 ? (change?.(response, request) ?? response) : response;
    },
  };
  const { code, sids } = await exported(calls, dropping, 20);
  expect({ code, sids }).toEqual({ code: 0, sids: sidsOf(calls) });
});
