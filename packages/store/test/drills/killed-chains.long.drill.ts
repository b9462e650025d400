import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, test } from 'vitest';
import { type ChainCase, killChains } from '../killed-chains.ts';

const kills = rounds(4, 40);
const tally = openDrill({
  name: 'killed-chains',
  kind: 'kills',
  what: 'A process that reads through windows, groups, joins, dedupe, topN or encoders into a file, a loop, SQLite or PostgreSQL is killed with SIGKILL and started again; the output is that of a run nobody killed',
});
const kinds = ['window', 'group', 'join', 'dedupe', 'topN'];
const cases: ChainCase[] = ['file', 'function'].flatMap((sink) =>
  [...kinds, ...(sink === 'file' ? ['encode'] : [])].map((chain) => ({
    chain,
    sink,
    newUrl: async () => '',
  })),
);
const stores = testStores().flatMap(({ kind, newUrl }) =>
  kinds.map((chain): ChainCase => ({ chain, sink: kind, newUrl })),
);

describe(`after ${kills} kills each the output is that of a run nobody killed`, () => {
  test.each([...cases, ...stores])('$chain into $sink', { timeout: 3_600_000 }, (each) =>
    killChains(each, kills, tally),
  );
});
