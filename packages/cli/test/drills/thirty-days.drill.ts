import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  changesToSend,
  conversions,
  type Journal,
  openLedger,
  sheetFormats,
} from '@call-attribution/conversions';
import {
  dataManagerAccepts,
  type PushTarget,
  pushConversions,
} from '@call-attribution/conversions/push';
import { apiKeys, createClient } from '@call-attribution/core';
import { formatNaive } from '@call-attribution/core/time';
import { syncInto } from '@call-attribution/node-stream';
import { startSandbox } from '@call-attribution/sandbox';
import { createService, readFeeds } from '@call-attribution/service';
import { mirrorSink, openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { expect, test } from 'vitest';

openDrill({
  name: 'thirty-days',
  kind: 'whole programs',
  what: 'Thirty days of calls are synced, fed and pushed while they change; each call counts once in the tool',
  countTests: true,
});

const day = 86_400_000;
const start = Date.UTC(2026, 8, 1, 6);
const days = 30;

/** A ledger in memory, which no other process sees. */
function memoryJournal(): Journal {
  const lines: string[] = [];
  return {
    async *read() {
      yield* lines;
    },
    append: async (line) => void lines.push(line),
    close: async () => {},
  };
}

test('over 30 days each call counts once in a tool that fetches a feed, and is sent once by a push', async () => {
  let now = start;
  const sandbox = await startSandbox({
    records: 30,
    days: 3,
    to: formatNaive(start),
    clock: { now: () => now },
    live: { callsPerMinute: 14 / (24 * 60) },
  });
  const { id, accessKey, secretKey } = sandbox.accounts[0] as (typeof sandbox.accounts)[number];
  const client = createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) });
  const store = await openStore('sqlite::memory:');
  await store.putAccount({ id, name: 'One' });

  const format = sheetFormats['google-ads-clicks'];
  const json = {
    path: '/clicks.csv',
    format: format.name,
    account: id,
    window: '14d',
    conversionName: 'Phone lead',
  };
  const folder = mkdtempSync(join(tmpdir(), 'thirty-days-'));
  const once = { ...json, path: '/once.csv', once: '1d', ledger: 'once.ledger' };
  const feeds = await readFeeds(JSON.stringify({ timeZone: 'UTC', feeds: [json, once] }), {
    source: 'feeds.json',
    folder,
    env: {},
  });
  const service = createService({ store, feeds, clock: { now: () => now }, page: false });
  const { url } = await service.listen();

  // The tool: it fetches once a day and counts each click, name and time once.
  const counted = new Map<string, number>();

  // A tool that adds what it gets fetches the feed that has each call on one day.
  const added: string[] = [];
  let rowsFetched = 0;

  // Google: it keeps one conversion for each transaction ID.
  const sentOn = new Map<string, number[]>();
  const google: PushTarget = {
    oneKind: false,
    most: 2_000,
    async send(entries) {
      for (const { sid } of entries) sentOn.set(sid, [...(sentOn.get(sid) ?? []), now]);
      return { isTaken: true, refusals: [], requestId: null };
    },
  };
  const ledger = await openLedger(memoryJournal(), { clock: { now: () => now } });
  const accepts = dataManagerAccepts({ phone: false });
  const rules = () => ({ timeZone: 'UTC', conversionName: 'Phone lead', now });

  for (let passed = 0; passed <= days; passed += 1) {
    await syncInto(client, mirrorSink(store, id), {
      filter: 'inc_gce:1',
      clock: { now: () => now },
    });
    const response = await fetch(`${url}/clicks.csv`);
    expect(response.status).toBe(200);
    for (const row of (await response.text()).trim().split('\r\n').slice(1)) {
      rowsFetched += 1;
      const key = row.split(',').slice(0, 3).join();
      if (!counted.has(key)) counted.set(key, now);
    }
    const news = await (await fetch(`${url}/once.csv`)).text();
    for (const row of news.trim().split('\r\n').slice(1))
      added.push(row.split(',').slice(0, 3).join());
    const known = ledger.delivered('google');
    const found = conversions(store.calls(id), rules(), { accepts }, known);
    await pushConversions(google, await changesToSend(found), {
      ledger,
      destination: 'google',
      clock: { now: () => now },
    });
    if (passed === days) break;
    now += day;
    await sandbox.advance(day);
  }

  // What should have been counted: every call that counts by now, as all the calls show.
  const expected: { sid: string; key: string; startedAt: number }[] = [];
  for await (const { conversion } of conversions(store.calls(id), rules(), format)) {
    if (conversion === null) continue;
    const { sid, startedAt, click } = conversion;
    const time = `${formatNaive(startedAt)}+0000`;
    expected.push({ sid, startedAt, key: [click?.id, 'Phone lead', time].join() });
  }

  expect(expected.length).toBeGreaterThan(60);
  expect([...counted.keys()].sort()).toEqual(expected.map(({ key }) => key).sort());
  expect(rowsFetched).toBeGreaterThan(5 * counted.size);
  expect(added.sort()).toEqual(expected.map(({ key }) => key).sort());

  const braids = dataManagerAccepts({ phone: false }).matchBy;
  expect(braids).toContain('wbraid');
  expect([...sentOn.values()].every((times) => times.length === 1)).toBe(true);
  for (const { sid } of expected) expect(sentOn.has(sid)).toBe(true);

  // Attribution of some was late: a tool that looked only at yesterday's calls would have missed
  // them.
  const late = expected.filter(
    ({ sid, startedAt }) => (sentOn.get(sid)?.[0] ?? 0) - startedAt > 1.5 * day,
  );
  expect(late.length).toBeGreaterThan(0);

  await ledger.close();
  await service.close();
  await client.close();
  await store.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});
