import { type Call, fields, fromCall, toCall } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { testStores } from '@call-attribution/test-tools';
import { describe, expect, test } from 'vitest';
import { openStore } from '../src/index.ts';

const onlyV2 = { super_id: 'S1', phone_number: null, call_logging_id: null };
const call = { ...fixtureCalls(3)[1], ...onlyV2, ppc_campaign: 'Spring', ppc_gclid: 'G1' } as Call;
const recordOf = (version: 'v2' | 'v3', change: object = {}) => ({
  ...fromCall({ ...call, ...change } as Call, version),
});
const asRead = (version: 'v2' | 'v3', change: object = {}) =>
  toCall(recordOf(version, change), version);

describe.each(testStores())('a $kind store', ({ newUrl }) => {
  const opened = async () => {
    const store = await openStore(await newUrl());
    await store.putAccount({ id: '1', name: 'One' });
    return store;
  };

  test('what only one version has stays when calls of the other one are written', async () => {
    await using store = await opened();
    await store.upsert('1', [asRead('v3')]);
    await store.upsert('1', [asRead('v2', { city: 'Galena' })]);
    expect(await store.get('1', call.sid)).toEqual({ ...call, city: 'Galena' });
    expect(
      await store.upsert('1', [asRead('v3', { city: 'Peru', ppc_gclid: null })]),
    ).toMatchObject({
      changed: 1,
    });
    expect(await store.get('1', call.sid)).toEqual({ ...call, city: 'Peru', ppc_gclid: null });
    expect(await store.upsert('1', [asRead('v2', { city: 'Peru', super_id: null })])).toMatchObject(
      {
        changed: 1,
      },
    );
    expect(await store.get('1', call.sid)).toEqual({
      ...call,
      city: 'Peru',
      ppc_gclid: null,
      super_id: null,
    });
  });

  test('calls of both versions in one batch count as one call with the fields of both', async () => {
    await using store = await opened();
    expect(await store.upsert('1', [asRead('v2'), asRead('v3')])).toMatchObject({
      stored: 1,
      added: 1,
    });
    expect(await store.get('1', call.sid)).toEqual(call);
  });

  test('reading with another version changes nothing when the values are the same', async () => {
    await using store = await opened();
    await store.upsert('1', [asRead('v3'), asRead('v2')]);
    for (const version of ['v2', 'v3', 'v3', 'v2'] as const)
      expect(await store.upsert('1', [asRead(version)])).toEqual({
        stored: 1,
        added: 0,
        changed: 0,
        leftOut: 0,
      });

    for (const version of ['v2', 'v3'] as const)
      expect(String(await store.document('1', call.sid, version))).toBe(
        JSON.stringify(recordOf(version)),
      );
  });

  test('a field that v3 no longer sends is gone after a read with v3 alone', async () => {
    await using store = await opened();
    await store.upsert('1', [{ ...asRead('v3'), new_field: 1 } as Call]);
    await store.upsert('1', [asRead('v3')]);
    expect(await store.get('1', call.sid)).not.toHaveProperty('new_field');
  });

  test('a store that was read with v2 alone has no fields of v3, and loading them elsewhere does not remove those of another store', async () => {
    await using old = await opened();
    await old.upsert('1', [asRead('v2')]);
    const names = fields.filter(({ v2 }) => v2 === null).map(({ name }) => name);
    for (const name of names) expect(await old.get('1', call.sid)).not.toHaveProperty(name);
    await using full = await opened();
    await full.upsert('1', [asRead('v3')]);
    await full.upsert('1', old.calls('1'));
    expect(await full.get('1', call.sid)).toEqual(call);
  });
});
