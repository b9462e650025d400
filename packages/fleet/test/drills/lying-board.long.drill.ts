import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testStores } from '@call-attribution/test-tools';
import { openDrill, rounds } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { test } from 'vitest';
import {
  everyRecordOnce,
  type Place,
  placeInFolder,
  placeInMemory,
  placeInStore,
  schedules,
} from '../lying-law.ts';

const tally = openDrill({
  name: 'lying-board',
  kind: 'random histories',
  what: 'Three workers die and stand still wherever they wait, while their board lets two win, loses entries, repeats old ones and forgets signs of life; the target has every record once and every account is proved',
});

/** Schedules that run at the same time: each mostly waits for workers to be believed dead. */
const atOnce = 4;

async function inFolder(check: (place: Place) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lying-'));
  try {
    await check(placeInFolder(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const places: Record<string, (check: (place: Place) => Promise<void>) => Promise<void>> = {
  memory: (check) => check(placeInMemory()),
  folder: inFolder,
};
for (const { kind, newUrl } of testStores())
  places[kind] = async (check) => check(placeInStore(await newUrl()));

test.each(Object.keys(places))('%s: every record once', { timeout: 3_600_000 }, async (kind) => {
  const inPlace = places[kind] as (typeof places)[string];
  const law = (): Promise<void> =>
    fc.assert(
      fc.asyncProperty(schedules, (schedule) =>
        inPlace((place) =>
          tally.run(async () => {
            const { told, deaths, stalls } = await everyRecordOnce(place, schedule, (must, found) =>
              tally.compare(must, found),
            );
            tally.happened(
              'lies',
              Object.values(told).reduce((sum, count) => sum + count, 0),
            );
            tally.happened('deaths', deaths);
            tally.happened('stalls', stalls);
          }),
        ),
      ),
      { numRuns: Math.ceil(rounds(20, 1000) / atOnce), endOnFailure: true },
    );
  await Promise.all(Array.from({ length: atOnce }, law));
});
