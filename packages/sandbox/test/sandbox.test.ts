import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromCall } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { openStore } from '@call-attribution/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  generate,
  type Sandbox,
  type SandboxAccount,
  type SandboxOptions,
  startSandbox,
} from '../src/index.ts';

const list = '/v3/user/bid-management';
const open: Sandbox[] = [];

async function start(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ records: 300, ...options });
  open.push(sandbox);
  const [account] = sandbox.accounts;
  if (!account) throw new Error('no account');
  return { sandbox, account };
}

const keys = ({ accessKey, secretKey }: SandboxAccount) => ({
  access_key: accessKey,
  secret_key: secretKey,
});

afterAll(async () => {
  for (const sandbox of open) await sandbox.close();
});

test('a sandbox refuses a store with other accounts, and does not change it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-store-'));
  const url = `sqlite:${join(folder, 'calls.db')}`;
  const own = await openStore(url);
  await own.putAccount({ id: 'acme', name: 'Acme' });
  await own.close();
  await expect(startSandbox({ records: 5, store: url })).rejects.toMatchObject({
    code: 'store_url',
  });
  const after = await openStore(url);
  expect((await after.accounts()).map(({ id }) => id)).toEqual(['acme']);
  await after.close();
  rmSync(folder, { recursive: true });
});

describe('a sandbox', () => {
  let sandbox: Sandbox;
  let account: SandboxAccount;
  const get = (path: string, headers: Record<string, string> = keys(account)) =>
    fetch(sandbox.url + path, { headers });
  const control = (path: string, method = 'GET') => fetch(sandbox.url + path, { method });

  beforeAll(async () => {
    ({ sandbox, account } = await start({ accounts: 2, seed: 5, to: '2026-11-01 00:00:00' }));
  });

  test('it serves the generated calls of its seed, in both versions', async () => {
    const inOrder = [...generate({ records: 300, accounts: 2, seed: 5 })]
      .filter((call) => call.acct_id === account.id)
      .sort((a, b) => `${a.date_added} ${a.sid}`.localeCompare(`${b.date_added} ${b.sid}`, 'en'));
    const v3 = await (await get(`${list}?rows=1000&q=inc_gce:1`)).json();
    expect(v3).toEqual(inOrder.map((call) => fromCall(call, 'v3')));
    const bearer = { authorization: `Bearer ${account.bearerToken}` };
    const v2 = await (await get('/v2/user/bid-management?rows=1000', bearer)).json();
    expect(v2).toEqual(inOrder.map((call) => fromCall(call, 'v2')));
  });

  test('its accounts have the documented test keys and different calls', async () => {
    const keysFor = (id: string) => ({
      id,
      accessKey: `test_access_${id}`,
      secretKey: `test_secret_${id}`,
      bearerToken: `test_bearer_${id}`,
    });

    expect(sandbox.accounts).toMatchObject([keysFor('101'), keysFor('102')]);
    for (const own of sandbox.accounts) {
      const response = await get(`${list}?q=inc_gce:1`, keys(own));
      expect(response.headers.get('content-range')).toBe(`1-100/${own.records}`);
      for (const call of (await response.json()) as { acct_id: string }[])
        expect(call.acct_id).toBe(own.id);
    }
  });

  test('it lists SMS numbers', async () => {
    const query = `action=sms.get_numbers&access_key=${account.accessKey}&secret_access_key=${account.secretKey}`;
    const xml = await (await fetch(`${sandbox.url}/ibp_api.php?${query}`)).text();
    expect(xml).toContain('[3] Number(s) Returned');
    expect(xml).toContain('url="https://listener.example/');
  });

  test.each([
    ['clamp=7', '1-7/'],
    ['clamp=500', '1-50/'],
  ])('the fault "%s" sends fewer rows than requested', async (fault, range) => {
    const response = await get(`${list}?rows=50`, { ...keys(account), 'x-sandbox-faults': fault });
    expect(response.headers.get('content-range')).toContain(range);
  });

  test('the fault "shift" sends other records with the range that was requested', async () => {
    const plain = (await (await get(`${list}?rows=11`)).json()) as object[];
    const response = await get(`${list}?rows=10`, {
      ...keys(account),
      'x-sandbox-faults': 'shift=1',
    });
    expect(response.headers.get('content-range')).toMatch(/^1-10\//);
    expect(await response.json()).toEqual(plain.slice(1));
  });

  test('the fault "single" wraps a record', async () => {
    const [call] = (await (await get(`${list}?rows=1`)).json()) as { sid: string }[];
    const headers = { ...keys(account), 'x-sandbox-faults': 'single=array' };
    const response = await get(`${list}/${call?.sid}`, headers);
    expect(await response.json()).toEqual([call]);
  });

  test.each([
    ['object', (n: number) => ({ count: n })],
    ['number', (n: number) => n],
    ['text', (n: number) => String(n)],
    ['array', (n: number) => [{ count: n }]],
    ['header', () => []],
  ])('the fault "count=%s" sends the count in that shape', async (shape, expected) => {
    const headers = {
      authorization: `Bearer ${account.bearerToken}`,
      'x-sandbox-faults': `count=${shape}`,
    };
    const response = await get('/v2/user/bid-management/count', headers);
    expect(await response.json()).toEqual(expected(account.records));
    expect(response.headers.get('content-range')).toBe(`*/${account.records}`);
  });

  test('the fault "cut" also cuts a compressed response', async () => {
    const headers = { ...keys(account), 'x-sandbox-faults': 'cut=0.4', 'accept-encoding': 'gzip' };
    const response = await get(`${list}?rows=100`, headers);
    await expect(response.text()).rejects.toThrow();
    expect((await get(`${list}?rows=1`)).status).toBe(200);
  });

  test('another process can set faults for a key, and they count their times', async () => {
    const faults = encodeURIComponent('status=503, retry-after=0, times=2');
    const set = await control(`/sandbox/faults?key=${account.accessKey}&faults=${faults}`, 'PUT');
    expect(await set.json()).toEqual({
      test_access_101: [{ status: 503, retryAfter: '0', times: 2 }],
    });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await get(`${list}?rows=1`)).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect(await (await control('/sandbox/faults', 'DELETE')).json()).toEqual({});
  });

  test('another process can read and clear the journal', async () => {
    await control('/sandbox/requests', 'DELETE');
    await get(`${list}?rows=3`);
    while (sandbox.requests.total < 1) await new Promise((resolve) => setImmediate(resolve));
    const journal = await (await control('/sandbox/requests')).json();
    const request = { path: list, query: 'rows=3', status: 200, complete: true };
    expect(journal).toMatchObject({ total: 1, requests: [request] });
    expect(JSON.stringify(journal)).not.toContain(account.secretKey);
  });

  test.each([
    ['PUT', '/sandbox/faults?key=k', 'missing_parameter'],
    ['PUT', '/sandbox/faults?key=k&faults=explode', 'fault_syntax'],
    ['POST', '/sandbox/advance?by=-1h', 'out_of_range'],
    ['POST', '/sandbox/advance', 'missing_parameter'],
    ['POST', '/sandbox/requests', 'method_not_allowed'],
  ])('%s %s is refused: %s', async (method, path, code) => {
    const response = await control(path, method);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await response.json()).toMatchObject({ code });
  });
});

describe('a sandbox in which time passes', () => {
  test('it gets new calls and changes the ad data of old ones, with exact totals', async () => {
    const { sandbox, account } = await start({ days: 3, to: '2026-11-01 00:00:00' });

    const total = async () => {
      const response = await fetch(`${sandbox.url}${list}?rows=1&q=inc_gce:1`, {
        headers: keys(account),
      });
      return Number(response.headers.get('content-range')?.split('/')[1]);
    };

    const before = await total();
    const [first, second] = await Promise.all([sandbox.advance('6h'), sandbox.advance('10m')]);
    expect(first.arrived).toBeGreaterThan(3000);
    expect(first.changed).toBeGreaterThan(0);
    expect(await total()).toBe(before + first.arrived + second.arrived);
  });

  test('it starts now and follows the clock when it is live', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const { sandbox, account } = await start({
      days: 2,
      live: { tick: 5, speed: 10, callsPerMinute: 60 },
      clock: { now: () => (now += 200) },
    });

    const newest = async () => {
      const headers = keys(account);
      const address = `${sandbox.url}${list}?q=inc_gce:1`;
      const head = await fetch(`${address},talk_minutes:[0 TO *]&rows=1`, {
        method: 'HEAD',
        headers,
      });
      const total = Number(head.headers.get('content-range')?.split('/')[1]);
      const [call] = (await (
        await fetch(`${address}&rows=1&start=${total - 1}`, { headers })
      ).json()) as {
        date_added: string;
      }[];
      return { total, time: parseNaive(call?.date_added) / 1000 };
    };

    const began = parseNaive('2026-03-01 12:00:00') / 1000;
    expect((await newest()).time).toBeLessThan(began);
    while ((await newest()).time < began) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await newest()).total).toBeGreaterThan(300);
  });

  test.each(['stall', 'latency=60000ms'])(
    'it closes although a client waits because of the fault "%s"',
    async (fault) => {
      const { sandbox, account } = await start({ faults: { '*': fault } });
      const read = async () =>
        (await fetch(`${sandbox.url}${list}`, { headers: keys(account) })).text();
      const gone = expect(read()).rejects.toThrow();
      await new Promise((resolve) => setTimeout(resolve, 50));
      await sandbox.close();
      open.splice(open.indexOf(sandbox), 1);
      await gone;
    },
  );

  test('it refuses wrong options and leaves nothing running', async () => {
    await expect(startSandbox({ records: -5 })).rejects.toThrow('records is -5');
    await expect(startSandbox('500' as unknown as SandboxOptions)).rejects.toThrow(
      'options must be an object with records',
    );
    const misspelled = { recrods: 5 } as SandboxOptions;
    await expect(startSandbox(misspelled)).rejects.toThrow('Did you mean records?');
    await expect(startSandbox({ faults: { '*': 'explode' } })).rejects.toThrow(
      '"explode" is not a fault',
    );
    await expect(startSandbox({ faults: { test_acces_101: 'html' } })).rejects.toThrow(
      'no account has the key "test_acces_101": expected *, test_access_101, test_bearer_101',
    );
    await expect(startSandbox({ records: 1, host: '203.0.113.9' })).rejects.toThrow(
      'cannot listen',
    );
  });
});
