import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { RaceTrack, races } from './bucket-races.ts';

const track = await RaceTrack.open();
afterAll(() => track.close());

test('of several workers on one parcel, one has committed in the end, whatever happens to their requests', async () => {
  await fc.assert(
    fc.asyncProperty(races, (race) => track.run(race)),
    { numRuns: 3 },
  );
});
