import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { generate } from '@call-attribution/sandbox';
import { createService, type PageSummary } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { openDrill } from '@call-attribution/test-tools/drill';
import { openWarehouse } from '@call-attribution/warehouse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { warehousePage } from '../../src/serving/page-source.ts';

openDrill({
  name: 'page-sources',
  kind: 'whole programs',
  what: 'The page over a row store and the page over a warehouse show the same numbers and calls',
  countTests: true,
});

const folder = mkdtempSync(join(tmpdir(), 'page-sources-'));
const calls = [...generate({ records: 3_000, seed: 11, days: 120, to: '2026-11-01 00:00:00' })].map(
  (call, i): Call => {
    if (i % 97 === 0) return { ...call, ppc_campaign: i % 2 === 0 ? 'O\'Brien -- \\ "x"' : '' };
    if (i % 101 === 0) return { ...call, date_added: 'soon' };
    return i % 103 === 0 ? ({ ...call, talk_minutes: null } as unknown as Call) : call;
  },
);
const account = { id: '101', name: 'One', accessKey: 'a', secretKey: 's', bearerToken: 'b' };
const closing: (() => Promise<unknown>)[] = [];
const urls: string[] = [];

beforeAll(async () => {
  const store = await openStore('sqlite::memory:');
  const overStore = createService({ store, accounts: [account] });
  urls.push((await overStore.listen()).url);
  await store.upsert('101', calls);
  const warehouse = await openWarehouse(join(folder, 'calls.duckdb'));
  await warehouse.load('101', calls);
  const source = warehousePage(warehouse, async () => ({ id: 'w', name: 'W', disabled: false }));
  const overWarehouse = createService({ store: null, page: { source } });
  urls.push((await overWarehouse.listen()).url);
  closing.push(
    () => overStore.close(),
    () => overWarehouse.close(),
    () => store.close(),
    () => warehouse.close(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

async function both<T>(path: string, parameters: Record<string, string>): Promise<T[]> {
  return Promise.all(
    urls.map(async (url) => {
      const response = await fetch(`${url}/page/${path}?${new URLSearchParams(parameters)}`, {
        headers: { authorization: 'Bearer b' },
      });
      expect(response.status).toBe(200);
      return (await response.json()) as T;
    }),
  );
}

const october = 'date_added:[2026-10-01 00:00:00 TO 2026-11-01 00:00:00}';
test.each([
  {},
  { q: 'inc_gce:1' },
  { q: october },
  { q: `${october},talk_minutes:[2 TO 10],inc_gce:1`, by: 'week' },
  { q: october, version: 'v2', by: 'month' },
  { q: 'date_added:[2026-10-10 08:30:00 TO 2026-10-12 10:00:00]' },
  { q: 'date_added:{2026-10-10 08:30:00 TO *]', by: 'day' },
  { q: 'date_added:[2026-10-10 00:00:00 TO 2026-10-10 00:00:00]' },
  { q: 'date_added:{2026-10-10 00:00:00 TO 2026-10-10 00:00:01}', by: 'day' },
  { q: 'talk_minutes:[0 TO 0]' },
  { q: 'talk_minutes:[900 TO *]' },
  { q: october, only: '{"ppc_campaign":[null]}' },
  { q: october, only: '{"ppc_campaign":["",null]}', by: 'month' },
  { only: '{"ppc_campaign":[""]}', by: 'day' },
  { q: 'date_added:[0001-01-01 00:00:00 TO 9999-01-01 00:00:00}', by: 'day' },
  { q: 'inc_gce:1', only: '{"ppc_campaign":["O\'Brien -- \\\\ \\"x\\""]}' },
  { q: october, only: '{"landing_page":["/","/emergency"],"channel":["Tracker"],"referrer":[null]}' },
  { only: '{"ppc_keywords":["nobody has this"]}' },
])('a store and a warehouse give the same numbers for %j', async (parameters) => {
  const [store, warehouse] = await both<PageSummary>('summary.json', parameters as Record<string, string>);
  expect(warehouse).toEqual(store);
});

test('they list the same calls, newest first', async () => {
  const parameters = { q: october, only: '{"landing_page":["/"]}', fields: 'date_added,sid', rows: '500' };
  const { q, only } = parameters;
  const [numbers] = await both<PageSummary>('summary.json', { q, only });
  const [store, warehouse] = await both<{ total: number | null; calls: Record<string, string>[] }>(
    'calls.json',
    parameters,
  );
  // The numbers say how many there are.
  expect([store?.total, warehouse?.total]).toEqual([null, null]);
  expect(warehouse?.calls).toHaveLength(numbers?.total.calls ?? 0);
  expect(warehouse?.calls.map(({ date_added }) => date_added)).toEqual(
    store?.calls.map(({ date_added }) => date_added),
  );
  expect(new Set(warehouse?.calls.map(({ sid }) => sid))).toEqual(
    new Set(store?.calls.map(({ sid }) => sid)),
  );
});
