import { apiKeys, createClient } from '@call-attribution/core';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { describe as inWords } from '@call-attribution/node-stream/copies';
import { testStores } from '@call-attribution/test-tools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markUnread, openStore, syncAccount } from '../src/index.ts';

const calls = fixtureCalls(300).map((call) => ({ ...call, acct_id: '101' }));
let server: FakeApiServer;
let client: ReturnType<typeof createClient>;
beforeAll(async () => {
  server = await fakeApi({ calls }).listen();
  client = createClient({ baseUrl: server.url, auth: apiKeys('key-one', 'key-two') });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

describe.each(testStores())('the sync of an account into a $kind store', ({ newUrl }) => {
  test('adds the account by the ID of its calls, and goes on where a limit of pages has ended it', async () => {
    await using store = await openStore(await newUrl());
    const first = await syncAccount(client, store, { rows: 100, maxPages: 1 });
    expect(first.account).toBe('101');
    expect(inWords(first).lacks).toMatch(/were not read$/);
    const second = await syncAccount(client, store, { rows: 100 });
    expect(second).toMatchObject({ account: '101', proof: 'whole' });
    expect(first.new + second.new).toBe(300);
    expect(await syncAccount(client, store, { restart: true })).toMatchObject({
      new: 0,
      same: 300,
    });
  });

  test('of two at the same time the later one goes on, and the earlier one says so', async () => {
    await using store = await openStore(await newUrl());
    let overtake = true;
    const earlier = syncAccount(client, store, {
      account: '101',
      rows: 50,
      holder: 'the earlier one',
      onProgress: () => {
        if (overtake)
          later = syncAccount(client, store, { account: '101', holder: 'the later one' });
        overtake = false;
      },
    });
    let later: Promise<unknown> = Promise.resolve();
    await expect(earlier).rejects.toMatchObject({
      code: 'claim_lost',
      summary: expect.stringMatching(/the later one/),
    });
    expect(await later).toMatchObject({ proof: 'whole' });
    expect(await store.count('101')).toBe(300);
  });

  test('brings back calls that were lost, once their period is marked as unread', async () => {
    await using store = await openStore(await newUrl());
    const options = { account: '101', rows: 50, lookback: '1s', settle: '1s' } as const;
    await syncAccount(client, store, options);
    const [lost] = calls;
    if (lost === undefined) throw new Error('There is no such call.');
    await store.remove('101', [lost.sid]);
    expect(await syncAccount(client, store, options)).toMatchObject({ new: 0 });
    await markUnread(store, '101', { from: lost.date_added, to: lost.date_added });
    expect(inWords((await store.verdict('101')) ?? { gaps: [] }).lacks).toMatch(/were not read/);
    expect(await syncAccount(client, store, options)).toMatchObject({ new: 1, proof: 'whole' });
    expect(await store.get('101', lost.sid)).toMatchObject({ sid: lost.sid });
  });
});

/** A value that is nested too deep for a store. */
function nested(depth: number): unknown {
  let value: unknown = null;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

test('a call that the store refuses is missing in the state that is stored with its page, whatever becomes of the run', async () => {
  const deep = calls.map((call, i) => (i === 120 ? { ...call, path: nested(1001) } : call));
  const other = await fakeApi({ calls: deep }).listen();
  await using reader = createClient({ baseUrl: other.url, auth: apiKeys('key-one', 'key-two') });
  try {
    for (let most = 1, hasEnded = false; !hasEnded; most += 1) {
      await using store = await openStore('sqlite::memory:');
      let pages = 0;
      const dying = {
        version: reader.version,
        listCalls: reader.listCalls.bind(reader),
        fetchPage(query: Parameters<typeof reader.fetchPage>[0]) {
          pages += 1;
          if (pages > most) throw new Error('connection lost');
          return reader.fetchPage(query);
        },
      };
      const refused: string[] = [];
      const options = {
        account: '101',
        rows: 50,
        lookback: '1s',
        settle: '1s',
        onError: 'skip',
        onRefused: ({ sid }: { readonly sid: string }) => refused.push(sid),
      } as const;
      const first = await syncAccount(dying, store, options).catch(() => null);
      hasEnded = first !== null;
      for (let run = 1; run <= 2; run += 1)
        expect({ most, ...(await syncAccount(reader, store, options)) }).toMatchObject({
          most,
          proof: 'short',
          missing: 1,
        });
      expect(await store.count('101')).toBe(299);
      expect(new Set(refused)).toEqual(new Set([deep[120]?.sid]));
    }
  } finally {
    await other.close();
  }
});

test('an account whose ID the server sends as a number is added by it', async () => {
  const numbers = calls.slice(0, 3).map((call) => ({ ...call, acct_id: 101 as unknown as string }));
  const other = await fakeApi({ calls: numbers }).listen();
  await using reader = createClient({ baseUrl: other.url, auth: apiKeys('key-one', 'key-two') });
  await using store = await openStore('sqlite::memory:');
  expect(await syncAccount(reader, store)).toMatchObject({ account: '101', new: 3 });
  await other.close();
});
