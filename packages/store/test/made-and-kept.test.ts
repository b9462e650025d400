import { type Call, fromCall, toCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { everything, openStore } from '../src/index.ts';

const odd = {
  first_name: 'Zoë \u0000 👩‍💻 \ud800',
  url_tag: 'a\nb\t"c"\\d',
  new_field: { nested: [1, null] },
};
const calls = fixtureCalls(600).map((call, i) => ({
  phone_number: null,
  super_id: null,
  call_logging_id: null,
  ...call,
  ...(i % 100 === 0 ? odd : {}),
})) as Call[];

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  test('several processes may make it at the same moment', async () => {
    const url = await newUrl();
    const stores = await Promise.all([openStore(url), openStore(url), openStore(url)]);
    await stores[0].putAccount({ id: '1', name: 'one' });
    await stores[1].upsert('1', calls);
    expect(await stores[2].count('1', everything)).toBe(calls.length);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('it returns records byte by byte as they were, whichever version they were read with', async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'calls' });
    await store.putAccount({ id: '2', name: 'of either version' });
    await store.upsert('1', calls);
    await store.upsert(
      '2',
      calls.map((call, i) => asRead(call, i % 2 === 0 ? 'v3' : 'v2')),
    );
    for (const call of calls.filter((_, i) => i % 25 < 2)) {
      expect(String(await store.document('1', call.sid, 'v2'))).toBe(recordOf(call, 'v2'));
      const version = calls.indexOf(call) % 2 === 0 ? 'v3' : 'v2';
      expect(String(await store.document('2', call.sid, version))).toBe(recordOf(call, version));
    }
    await store.close();
  });
});

const recordOf = (call: Call, version: 'v2' | 'v3') => JSON.stringify(fromCall(call, version));
const asRead = (call: Call, version: 'v2' | 'v3') =>
  toCall({ ...fromCall(call, version) }, version, { records: 'off' });
