import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, test } from 'vitest';
import { agreesWithNaiveSql } from '../naive-sql.ts';

const runs = rounds(50, 500);

describe.each(testStores())('a $kind store', ({ kind, newUrl }) => {
  const tally = openDrill({
    name: `${kind}-counts`,
    kind: 'random histories',
    what: 'Random writes, moves and deletions; pages and totals are those of the simplest table and plain SQL',
  });
  test(`it returns what naive SQL returns, after ${runs} random histories of writes`, async () => {
    await agreesWithNaiveSql(await newUrl(), runs, tally);
  });
});
