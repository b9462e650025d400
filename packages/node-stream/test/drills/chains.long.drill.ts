import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { test } from 'vitest';
import { histories, outcome } from '../laws/chains.ts';

const runs = rounds(10_000, 100_000);
const tally = openDrill({
  name: 'chains',
  kind: 'kills',
  what: 'Random chains of operators over lists that grow are killed and resumed with other sizes of pages; the output is that of an oracle',
});

test(
  `${runs} chains give what an oracle gives, however often they are killed`,
  { timeout: 3_600_000 },
  () =>
    fc.assert(
      fc.asyncProperty(histories, async (history) => {
        tally.add({ runs: 1 });
        const { found, expected } = await outcome(history);
        if (JSON.stringify(found) === JSON.stringify(expected)) return;
        tally.add({ lost: 1 });
        throw new Error('the output differs');
      }),
      { numRuns: runs },
    ),
);
