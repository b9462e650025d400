import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import { expect, it } from 'vitest';
import { fuzz } from '../support/fuzz.ts';

const fuzzed = openDrill({
  name: 'fuzzed-requests',
  kind: 'hostile clients',
  what: 'A client sends requests with members of any form, thousands of each family of revisions; each gets a result or an error in a sentence',
});

it.each(['handshake', 'stateless'] as const)(
  'every request of the %s revisions gets a response that says what is wrong',
  (era) =>
    fuzzed.run(async () => {
      const { sent, faults } = await fuzz(era, rounds(2500, 20_000), 15);
      fuzzed.happened('requests', sent);
      expect(faults).toEqual([]);
    }),
);
