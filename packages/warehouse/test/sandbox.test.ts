import { conversionOf } from '@call-attribution/conversions';
import { apiKeys, type Call, type Client, createClient } from '@call-attribution/core';
import { syncInto } from '@call-attribution/node-stream';
import { selectCalls } from '@call-attribution/questions';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../src/index.ts';
import { cleanUp, rowsOf, testWarehouse } from './support.ts';

let sandbox: Sandbox;
let client: Client;
let warehouse: Warehouse;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 3000, days: 40, to: '2026-11-01 00:00:00' });
  const [account] = sandbox.accounts;
  if (account === undefined) throw new Error('The sandbox has no account.');
  client = createClient({
    baseUrl: sandbox.url,
    version: 'v3',
    auth: apiKeys(account.accessKey, account.secretKey),
  });
  ({ warehouse } = await testWarehouse());
  await syncInto(client, warehouse.sink('main'), { filter: 'inc_gce:1' });
});
afterAll(async () => {
  await cleanUp();
  await client.close();
  await sandbox.close();
});

const total = async (q: string) => (await client.listCalls({ filter: q, rows: 1 })).range?.total;

describe('a warehouse that a sync filled', () => {
  test.each([
    'inc_gce:1',
    '',
    'talk_minutes:[2 TO *],inc_gce:1',
    'talk_minutes:[0 TO 0]',
    'talk_minutes:{0 TO 3.5}',
    'date_added:[2026-10-01 00:00:00 TO 2026-10-08 00:00:00},inc_gce:1',
    'date_added:[2026-10-10 12:00:00 TO *],talk_minutes:[1.5 TO 10}',
    'date_added:[* TO 2026-10-01 00:00:00]',
  ])('it counts as the API does: %s', async (q) => {
    expect((await warehouse.count({ q })).calls).toBe(await total(q));
  });

  test('each day has as many calls as the API says', async () => {
    const { rows } = await warehouse.analyze({ groupBy: ['day'], from: '2026-10-01', to: '2026-10-07' });
    expect(rows).toHaveLength(7);
    for (const { day, calls } of rows) {
      const next = `2026-10-0${Number(String(day).slice(-1)) + 1}`;
      expect(calls).toBe(await total(`date_added:[${day} 00:00:00 TO ${next} 00:00:00},inc_gce:1`));
    }
  });

  test('it gives back every call as the API sends it', async () => {
    const page = await client.listCalls({ filter: 'inc_gce:1', rows: 40 });
    const stored = await Promise.all(page.records.map(({ sid }) => warehouse.get(sid)));
    expect(stored).toEqual(page.records);
  });

  test('calls come in the order of their time, or in the one that is asked for', async () => {
    const times: string[] = [];
    for await (const { date_added, sid } of warehouse.calls()) times.push(`${date_added} ${sid}`);
    expect(times).toHaveLength(3000);
    expect(times).toEqual([...times].sort());
    const longest: number[] = [];
    for await (const { talk_minutes } of warehouse.calls({
      order: 'talk_minutes desc',
      limit: 50,
      offset: 5,
      where: 'NOT missed',
    }))
      longest.push(Number(talk_minutes));
    expect(longest).toHaveLength(50);
    expect(longest).toEqual([...longest].sort((a, b) => b - a));
    const latest: string[] = [];
    for await (const { date_added } of warehouse.calls({
      order: 'date_added desc',
      q: 'talk_minutes:[1 TO *]',
    }))
      latest.push(date_added);
    expect(latest).toEqual([...latest].sort().reverse());
    expect(latest.length).toBe(await total('talk_minutes:[1 TO *]'));
  });

  test.each([
    ['monday', [1, 2, 3, 4, 5, 6, 0]],
    ['sunday', [0, 1, 2, 3, 4, 5, 6]],
  ] as const)('days of a week that begins on %s come as they follow each other', async (weekStart, days) => {
    const { keyOf, compare } = selectCalls({ weekStart }, { order: 'weekday' });
    const found: Call[] = [];
    for await (const call of warehouse.calls({ weekStart, order: 'weekday' })) found.push(call);
    const places = found.map(({ date_added }) => days.indexOf(new Date(`${date_added}Z`).getUTCDay() as 0));
    expect([found.length, new Set(places).size]).toEqual([3000, 7]);
    expect(places).toEqual([...places].sort());
    const keys = found.map((call) => keyOf(call, 'main'));
    expect(keys).toEqual([...keys].sort(compare));
  });

  test('click ids are those that conversions are uploaded with', async () => {
    const rows = await rowsOf(warehouse, 'select sid, click_id, click_kind from calls');
    const bySid = new Map(rows.map((row) => [row.sid, row]));
    const accepts = {
      onlyExtensions: false,
      needsFinalStatus: false,
      takesValue: false,
      minTalk: 0,
      minAge: 0,
      clickWindow: null,
    };
    const rules = {
      timeZone: 'UTC',
      conversionName: '',
      now: Number.POSITIVE_INFINITY,
      unanswered: true,
    };
    const matchBy = ['gclid', 'gbraid', 'wbraid', 'msclkid'] as const;
    const clickOf = (call: Call) => {
      const found = conversionOf(call, { ...accepts, matchBy }, rules);
      return 'click' in found ? found.click : null;
    };
    const kinds = new Map<unknown, number>();
    const found: object[] = [];
    const expected: object[] = [];
    for await (const call of warehouse.calls()) {
      const click = clickOf(call);
      const row = bySid.get(call.sid);
      kinds.set(row?.click_kind, (kinds.get(row?.click_kind) ?? 0) + 1);
      found.push({ sid: call.sid, click_id: row?.click_id, click_kind: row?.click_kind });
      expected.push({ sid: call.sid, click_id: click?.id ?? null, click_kind: click?.kind ?? null });
    }
    expect(found).toHaveLength(3000);
    expect(found).toEqual(expected);
    for (const kind of ['gbraid', 'wbraid', 'msclkid']) expect(kinds.get(kind)).toBeGreaterThan(5);
    expect(kinds.get('gclid')).toBeGreaterThan(100);
  });

  test('later syncs bring changes, and the answer says when the last one was', async () => {
    const before = await warehouse.analyze({ groupBy: ['ppc_status'] });
    await sandbox.advance('30m');
    const { new: arrived } = await syncInto(client, warehouse.sink('main'), { filter: 'inc_gce:1' });
    expect(arrived).toBeGreaterThan(0);
    expect((await warehouse.count()).calls).toBe(3000 + arrived);
    expect((await warehouse.count()).calls).toBe(await total('inc_gce:1'));
    const after = await warehouse.analyze({ groupBy: ['ppc_status'] });
    expect(Date.parse(after.asOf ?? '')).toBeGreaterThanOrEqual(Date.parse(before.asOf ?? ''));
    for (const { ppc_status, calls } of after.rows) {
      const rows = await rowsOf(
        warehouse,
        `select count(*) as n from calls where ppc_status = '${ppc_status}'`,
      );
      expect(rows).toEqual([{ n: calls }]);
    }
  });
});
