import { apiKeys, createClient } from '@call-attribution/core';
import { syncInto } from '@call-attribution/node-stream';
import { createService } from '@call-attribution/service';
import { mirrorSink, openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { afterAll, expect, test } from 'vitest';
import { startSandbox, testKeys } from '../src/index.ts';

const stores = testStores();
const { accessKey, secretKey } = testKeys('101');
const headers = { access_key: accessKey, secret_key: secretKey };

/** All calls as a stranger reads them, page by page. */
async function everyCall(url: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let start = 0; ; start += 1) {
    const query = `q=inc_gce:1&rows=100&start=${start}`;
    const response = await fetch(`${url}/v3/user/bid-management?${query}`, { headers });
    const page = (await response.json()) as unknown[];
    if (page.length === 0) return found;
    found.push(...page);
  }
}

test.each(stores)(
  'a mirror in a $kind store serves the same records as the service it was synced from',
  async ({ newUrl }) => {
    const data = { records: 300, days: 3, to: '2026-11-01 00:00:00' };
    const sandbox = await startSandbox({ ...data, live: { callsPerMinute: 0.2 } });
    const client = createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) });
    const store = await openStore(await newUrl());
    const service = createService({
      store,
      accounts: [{ id: '101', name: 'Mirror', ...testKeys('101') }],
    });
    const { url } = await service.listen();
    afterAll(async () => {
      await Promise.all([client.close(), service.close()]);
      await Promise.all([store.close(), sandbox.close()]);
    });
    const sync = () =>
      syncInto(client, mirrorSink(store, '101'), { filter: 'inc_gce:1', lookback: '4d' });

    expect((await sync()).new).toBe(300);
    expect(await everyCall(url)).toEqual(await everyCall(sandbox.url));
    const { arrived } = await sandbox.advance('6h');
    const second = await sync();
    expect(second.new).toBe(arrived);
    expect(second.changed).toBeGreaterThan(0);
    expect(await everyCall(url)).toEqual(await everyCall(sandbox.url));
  },
);
