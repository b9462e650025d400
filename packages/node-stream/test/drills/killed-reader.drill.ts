import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KilledReader, prepareKilledReader } from '../laws/killed-reader.ts';

const kills = Number(process.env.CALLS_DRILLS ?? 12);
let reader: KilledReader;
beforeAll(async () => {
  reader = await prepareKilledReader();
});
afterAll(() => reader.close());

test(`a store that upserts by sid holds each record after ${kills} kills`, async () => {
  for (const sids of await reader.run('upsert', kills))
    expect([...new Set(sids)].sort()).toEqual([...reader.expected].sort());
});

test.each(['file', 'bytes', 'transaction'] as const)(
  `each record is there once after ${kills} kills (%s)`,
  async (mode) => {
    for (const sids of await reader.run(mode, kills)) expect(sids).toEqual(reader.expected);
  },
);
