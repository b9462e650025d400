import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { describe, test } from 'vitest';
import { killWriters } from '../killed-writer.ts';

const kills = rounds(6, 150);

describe.each(testStores())('a $kind store', ({ kind, newUrl }) => {
  const tally = openDrill({
    name: `${kind}-killed-writer`,
    kind: 'kills',
    what: 'A process that stores batches is killed with SIGKILL; each acknowledged batch is there, none in part, and the counts are exact',
  });
  test(`it loses no acknowledged batch when its writer is killed ${kills} times`, async () => {
    await killWriters(await newUrl(), kills, tally);
  });
});
