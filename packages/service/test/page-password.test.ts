import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type Service } from '../src/index.ts';
import { accountOf, heldTimers, keysOf } from './stage.ts';

let store: Store;
let service: Service;
let url = '';
const keys = keysOf('101');
const basic = (password: string, user = 'anybody') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  service = createService({
    store,
    accounts: [accountOf('101')],
    page: { password: 'correct horse' },
  });
  ({ url } = await service.listen());
  await store.putAccount({ id: '102', name: 'Two' });
  await store.upsert('101', [callWith({ sid: 'A' })]);
  await store.upsert('102', [callWith({ sid: 'B' }), callWith({ sid: 'C' })]);
});
afterAll(async () => {
  await service.close();
  await store.close();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers });

describe('a page with a password', () => {
  test('every path of it asks for the password, from someone with keys too', async () => {
    for (const path of ['/', '/page/about.json', '/page/calls.json'])
      for (const headers of [{}, keys, { authorization: 'Bearer bearer_101_key' }]) {
        const { status, headers: answer } = await get(path, headers);
        expect({ path, status, asks: answer.get('www-authenticate') }).toEqual({
          path,
          status: 401,
          asks: 'Basic realm="calls", charset="UTF-8"',
        });
      }
    expect((await get('/page/calls.json', basic('wrong'))).status).toBe(401);
  });

  test('the password shows the calls of each account that is chosen, under any user name', async () => {
    const about = await (await get('/page/about.json', basic('correct horse'))).json();
    expect(about).toMatchObject({
      hasPassword: true,
      accounts: [
        { id: '101', name: 'Account 101' },
        { id: '102', name: 'Two' },
      ],
    });

    const sids = async (query: string) => {
      const answer = await get(`/page/calls.json?fields=sid${query}`, basic('correct horse', ''));
      const { calls } = (await answer.json()) as { calls: { sid: string }[] };
      return calls.map(({ sid }) => sid).sort();
    };

    expect(await sids('')).toEqual(['A']);
    expect(await sids('&account=102')).toEqual(['B', 'C']);
    expect(await sids('&account=Two')).toEqual(['B', 'C']);
    const unknown = await get('/page/calls.json?account=103', basic('correct horse'));
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ parameter: 'account' });
  });

  test('the API and its health answer as without it', async () => {
    expect((await get('/v3/user/bid-management', keys)).status).toBe(200);
    expect((await get('/v3/user/bid-management', basic('correct horse'))).status).toBe(401);
    expect((await get('/healthz')).status).toBe(200);
  });

  test('fewer than 12 characters are refused where others can reach the page', async () => {
    const short = (proxies: string[] = []) =>
      createService({ store, proxies, page: { password: 'hunter2' } });
    const said = /The password of the page has fewer than 12 characters, and others can reach it/;
    await expect(short().listen({ host: '0.0.0.0' })).rejects.toThrow(said);
    await expect(short(['127.0.0.1']).listen()).rejects.toThrow(/through a proxy/);
    await expect(short().fetch(new Request('http://calls.example/'))).rejects.toThrow(said);
    await expect(short().listen({ host: '0.0.0.0' })).rejects.not.toThrow(/hunter2/);

    await using local = short();
    await local.listen();
  });

  test('many guesses from one address at once are refused, and the right password works after them', async () => {
    const { clock, waiting, letGo } = heldTimers();
    await using own = createService({
      store,
      page: { password: 'correct horse' },
      clock,
    });
    const { url: at } = await own.listen();
    const ask = async (password: string) =>
      (await fetch(`${at}/page/about.json`, { headers: basic(password) })).status;
    const statuses: number[] = [];
    const guesses = Array.from({ length: 30 }, async () => statuses.push(await ask('guess')));
    await expect.poll(() => statuses.length, { timeout: 20_000 }).toBe(10);
    expect([new Set(statuses), waiting()]).toEqual([new Set([429]), 20]);
    letGo();
    await Promise.all(guesses);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(await ask('correct horse')).toBe(200);
  });
});
