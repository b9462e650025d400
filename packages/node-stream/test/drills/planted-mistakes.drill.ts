import { builtFile } from '@call-attribution/test-tools/bundle';
import { describe, expect, test } from 'vitest';
import { planOf, playHistory, type Reader } from '../simulator/history.ts';
import { mistakes, plant } from '../simulator/mistakes.ts';

const mostToFindAMistake = 4000;

describe('the simulator finds a planted mistake', () => {
  test.each(mistakes)('%s', async (name) => {
    const source = new URL('../simulator/reader.ts', import.meta.url).href;
    const reader = (await import(await builtFile(source, [plant(name) as never]))) as Reader;
    let found: string | undefined;
    for (let seed = 0; seed < mostToFindAMistake && found === undefined; seed += 1)
      [found] = (await playHistory(planOf(seed), reader)).violations;
    expect(found).toBeDefined();
  });
});
