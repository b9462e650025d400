import type { Call } from '@call-attribution/core';
import { fixtureCalls, startHostileServer } from '@call-attribution/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { openStage } from './stage.ts';

// What a server may do that its API does not forbid, from the first request to the last line.

const stage = openStage();

/** Exports everything from such a server. */
async function exported(list: Call[], rows = 50) {
  const server = await startHostileServer({ calls: list });
  onTestFinished(() => server.close());
  const env = { CALLS_BASE_URL: server.url, CALLS_ACCESS_KEY: 'a', CALLS_SECRET_KEY: 'b' };
  const { code, stdout, stderr } = await stage.quick(
    ['export', '--format', 'ndjson', '--output', '-', '--rows', String(rows)],
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

test('a server that lists the newest first, five test calls of 2019, then 2,000 of two weeks', async () => {
  const old = fixtureCalls(5, 2).map((call) => ({
    ...call,
    date_added: call.date_added.replace('2024', '2019'),
  }));
  const list = [...old, ...fixtureCalls(2000)].reverse();
  const { code, sids, stderr, requests } = await exported(list);
  expect({ code, sids }).toEqual({ code: 0, sids: sidsOf(list) });
  expect(stderr).toMatch(/^complete: 2,005 calls/m);
  expect(requests).toBeLessThanOrEqual(2 * 41 + 10);
});
