import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KilledReader, prepareKilledReader } from './laws/killed-reader.ts';

let reader: KilledReader;
beforeAll(async () => {
  reader = await prepareKilledReader();
});
afterAll(() => reader.close());

// One kill each; the drills kill over and over.
describe('a reader that is killed and started again', () => {
  test('a store that upserts by sid holds each record', async () => {
    for (const sids of await reader.run('upsert', 1))
      expect([...new Set(sids)].sort()).toEqual([...reader.expected].sort());
  });

  test.each(['file', 'bytes'] as const)('a file that is resumed has each record once (%s)', async (mode) => {
    for (const sids of await reader.run(mode, 1)) expect(sids).toEqual(reader.expected);
  });

  test('a sink that commits records and checkpoint together has each record once', async () => {
    for (const sids of await reader.run('transaction', 1)) expect(sids).toEqual(reader.expected);
  });
});
