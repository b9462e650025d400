import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { RaceTrack, races } from '../bucket-races.ts';

const tally = openDrill({
  name: 'bucket-races',
  kind: 'random histories',
  what: 'Up to four workers read one parcel into a bucket while requests fail, get lost or are done late; one part lies there in the end, with its verdict',
});
const track = await RaceTrack.open();
afterAll(() => track.close());

test('of several workers on one parcel, one has committed in the end, whatever happens to their requests', async () => {
  await fc.assert(
    fc.asyncProperty(
      races,
      tally.counted((race) => track.run(race, tally)),
    ),
    { numRuns: rounds(100, 5_000) },
  );
});
