import { apiKeys, bearerToken, type Call, createClient } from '@call-attribution/core';
import { type SyncBatch, type SyncOptions, type SyncState, syncInto } from '@call-attribution/node-stream';
import { createService } from '@call-attribution/service';
import { mirrorSink, openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { afterAll, expect, test } from 'vitest';
import { startSandbox, testKeys } from '../src/index.ts';

const stores = testStores();
const { accessKey, secretKey, bearerToken: token } = testKeys('101');
const headers = { access_key: accessKey, secret_key: secretKey };

/** All calls as a stranger reads them, page by page. */
async function everyCall(url: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let start = 0; ; start += 1) {
    const response = await fetch(`${url}/v3/user/bid-management?q=inc_gce:1&rows=100&start=${start}`, {
      headers,
    });
    const page = (await response.json()) as unknown[];
    if (page.length === 0) return found;
    found.push(...page);
  }
}

test.each(stores)(
  'a mirror in a $kind store serves the same records as the service it was synced from',
  async ({ newUrl }) => {
    const sandbox = await startSandbox({
      records: 300,
      days: 3,
      to: '2026-11-01 00:00:00',
      live: { callsPerMinute: 0.2 },
    });
    const client = createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) });
    const store = await openStore(await newUrl());
    const service = createService({ store, accounts: [{ id: '101', name: 'Mirror', ...testKeys('101') }] });
    const { url } = await service.listen();
    afterAll(async () => {
      await Promise.all([client.close(), service.close()]);
      await Promise.all([store.close(), sandbox.close()]);
    });
    const sync = () => syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1', lookback: '4d' });

    expect((await sync()).new).toBe(300);
    expect(await everyCall(url)).toEqual(await everyCall(sandbox.url));
    const { arrived } = await sandbox.advance('6h');
    const second = await sync();
    expect(second.new).toBe(arrived);
    expect(second.changed).toBeGreaterThan(0);
    expect(await everyCall(url)).toEqual(await everyCall(sandbox.url));
  },
);

test('a v2 sync finds ad data that came weeks late, because it reads records again by their age', async () => {
  const [{ newUrl }] = stores as [(typeof stores)[number]];
  const url = await newUrl();
  const sandbox = await startSandbox({ records: 300, days: 40, store: url });
  const store = await openStore(url);
  const settings = { baseUrl: sandbox.url, version: 'v2', auth: bearerToken(token) } as const;
  const client = createClient(settings);
  afterAll(async () => {
    await client.close();
    await store.close();
    await sandbox.close();
  });
  const mirror = (options: SyncOptions) => {
    const rows = new Map<string, Call>();
    let state: SyncState | null = null;
    const commit = async (batch: SyncBatch) => {
      state = batch.state;
      const isOld = ({ sid }: Call) => rows.has(sid);
      const isSame = (call: Call) => JSON.stringify(rows.get(call.sid)) === JSON.stringify(call);
      const old = batch.calls.filter(isOld);
      const changed = old.filter((call) => !isSame(call)).length;
      for (const call of batch.calls) rows.set(call.sid, call);
      return { added: batch.calls.length - old.length, changed };
    };
    const sink = { load: async () => state, commit };
    return { rows, sync: () => syncInto(client, sink, options) };
  };
  const usual = mirror({ rows: 20 });
  const short = mirror({ rows: 20, settle: '5d' });
  expect([(await usual.sync()).new, (await short.sync()).new]).toEqual([300, 300]);

  const calls: Call[] = [];
  for await (const call of store.calls('101')) calls.push(call);
  const newest = Math.max(...calls.map(({ date_added }) => Date.parse(date_added)));
  const daysOld = ({ date_added }: Call) => (newest - Date.parse(date_added)) / 86_400_000;
  const find = (from: number, to: number) =>
    calls.find((call) => daysOld(call) > from && daysOld(call) < to) as Call;
  const [late, settled] = [find(20, 25), find(32, 38)];
  await store.upsert(
    '101',
    [late, settled].map((call) => ({ ...call, ppc_status: 'Processed', ppc_keyword_id: '4711' })),
  );

  expect(await usual.sync()).toMatchObject({ new: 0, changed: 1, proof: 'whole' });
  expect(usual.rows.get(late.sid)).toMatchObject({ ppc_keyword_id: '4711' });
  // Older than `settle`, which is 30 days by default: nobody looks there again.
  expect(usual.rows.get(settled.sid)).not.toMatchObject({ ppc_keyword_id: '4711' });
  expect(await short.sync()).toMatchObject({ new: 0, changed: 0 });
});
