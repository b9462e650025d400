import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KilledReader, prepareKilledReader } from '../laws/killed-reader.ts';

const kills = rounds(5, 60);
const tally = openDrill({
  name: 'killed-reader',
  kind: 'kills',
  what: 'A process that reads into a file, a store or a transaction is killed with SIGKILL and started again; the result has each record once',
});
let reader: KilledReader;
beforeAll(async () => {
  reader = await prepareKilledReader(tally);
});
afterAll(() => reader.close());

test(`a store that upserts by sid holds each record after ${kills} kills`, async () => {
  for (const sids of await reader.run('upsert', kills))
    expect([...new Set(sids)].sort()).toEqual([...reader.expected].sort());
});

test.each(['file', 'chain', 'bytes', 'transaction'] as const)(
  `each record is there once after ${kills} kills (%s)`,
  async (mode) => {
    for (const sids of await reader.run(mode, kills)) expect(sids).toEqual(reader.expected);
  },
);
