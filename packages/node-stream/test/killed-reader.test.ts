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
    expect([...new Set(await reader.run('upsert', 1))].sort()).toEqual([...reader.expected].sort());
  });

  test.each(['file', 'bytes'] as const)('a file that is resumed has each record once (%s)', async (mode) => {
    expect(await reader.run(mode, 1)).toEqual(reader.expected);
  });

  test('a sink that commits records and checkpoint together has each record once', async () => {
    expect(await reader.run('transaction', 1)).toEqual(reader.expected);
  });
});
