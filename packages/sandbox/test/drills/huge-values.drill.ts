import { apiKeys, type Call, createClient } from '@call-attribution/core';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { createCallStream } from '@call-attribution/node-stream';
import { openStore } from '@call-attribution/store';
import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, expect, test } from 'vitest';

const megabytes = [1, 4, 16];

describe.each(testStores())('a $kind store', ({ kind, newUrl }) => {
  const tally = openDrill({
    name: `${kind}-huge-values`,
    kind: 'odd records',
    what: 'One record has a value of 1, 4 and 16 MB; client, stream and store return it exactly, and CPU time grows with its length, not faster',
  });

  test('a value of many megabytes is read, stored and returned exactly, in linear time', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'huge' });
    const best = new Map<number, number>();

    // Four times the length: 4 if linear, 16 if quadratic.
    const isLinear = () => (best.get(16) ?? Number.POSITIVE_INFINITY) / (best.get(4) ?? 1) < 8;
    const usual = rounds(3, 10);

    // The first round is for warming up. On a busy machine it takes more of them until one was not
    // disturbed.
    for (let round = 0; round <= usual || (round <= 5 * usual && !isLinear()); round += 1)
      for (const size of megabytes) {
        const milliseconds = await tally.run(() => readAndStore(size));
        if (round > 0)
          best.set(size, Math.min(best.get(size) ?? Number.POSITIVE_INFINITY, milliseconds));
      }

    await store.close();
    for (const size of megabytes)
      tally.happened(`ms of CPU time for ${size} MB`, Math.round(best.get(size) ?? 0));
    expect(isLinear()).toBe(true);

    async function readAndStore(size: number): Promise<number> {
      const value = 'a "quoted" value, \\u00e9\\n'.repeat((size * 1_000_000) / 26);
      const calls = fixtureCalls(3).map(
        (call, i) => (i === 1 ? { ...call, search_term: value } : call) as Call,
      );
      const server = await fakeApi({ calls }).listen();
      const client = createClient({ baseUrl: server.url, auth: apiKeys('key', 'secret') });
      const before = process.cpuUsage();
      const read: Call[] = [];
      for await (const call of createCallStream(client)) read.push(call);
      await store.upsert('1', read);
      const page = await store.page('1', {
        selection: {},
        version: 'v3',
        offset: 0,
        rows: 10,
      });
      const parts: Buffer[] = [];
      for await (const part of Buffer.isBuffer(page.body) ? [page.body] : page.body)
        parts.push(part);
      const { user, system } = process.cpuUsage(before);
      await client.close();
      await server.close();
      const stored = JSON.parse(Buffer.concat(parts).toString()) as Call[];
      tally.compare(
        calls.map(({ sid }) => sid),
        stored.map(({ sid }) => sid),
      );
      const found = stored.find(({ sid }) => sid === calls[1]?.sid);
      expect(found?.search_term === value).toBe(true);
      return (user + system) / 1000;
    }
  });
});
