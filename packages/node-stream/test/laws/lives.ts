import type { Tally } from '@call-attribution/test-tools/drill';
import type { Life } from '../simulator/account.ts';
import { playExports } from '../simulator/exports.ts';
import { playSyncs } from '../simulator/syncs.ts';

/** Seconds with thousands of calls take their time, on a busy machine above all. */
const limit = 600_000;

/**
 * Plays one after the other until so many runs were made. None of them calls whole what is not, and
 * in the end each is whole.
 *
 * @param play plays the one of a seed; its name and the seed replay it.
 */
async function playAll(
  runs: number,
  tally: Tally,
  name: string,
  play: (seed: number) => Promise<Life>,
): Promise<void> {
  for (let seed = 0, done = 0; done < runs; seed += 1)
    await tally.run(async () => {
      const played = await play(seed);
      done += played.runs;
      tally.happened('runs that died', played.deaths);
      tally.happened('runs called whole', played.whole);
      tally.happened('calls compared', played.compared);
      tally.add({
        lost: played.violations.filter((one) => one.endsWith('is missing')).length,
        doubled: played.violations.filter((one) => one.endsWith('is there twice')).length,
      });
      if (played.violations.length > 0)
        throw new Error(`${name}(${seed}): ${played.violations.slice(0, 5).join('; ')}`);
    }, limit);
}

/** Plays the lives of copies, until so many syncs were made. */
export const copiesLive = (runs: number, crowd: number, tally: Tally): Promise<void> =>
  playAll(runs, tally, 'playSyncs', (seed) => playSyncs(seed, { crowd, runs: 8 }));

/** Plays exports by month, until so many were made. */
export const exportsLive = (runs: number, crowd: number, tally: Tally): Promise<void> =>
  playAll(runs, tally, 'playExports', (seed) => playExports(seed, crowd));
