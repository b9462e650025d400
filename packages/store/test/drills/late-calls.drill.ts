import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, test } from 'vitest';
import { readDuringLateCalls } from '../late-calls.ts';

const reads = rounds(200, 10_000);

describe.each(testStores())('a $kind store', ({ kind, newUrl }) => {
  const tally = openDrill({
    name: `${kind}-late-calls`,
    kind: 'moving lists',
    what: 'Long pages are read while 250 late calls a second arrive and others go; each page is one snapshot, as many calls as its total says',
  });
  test(`${reads} reads under 250 late calls a second are whole`, {
    timeout: 3_600_000,
  }, async () => {
    await readDuringLateCalls(await newUrl(), reads, 250, tally);
  });
});
