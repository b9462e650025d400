import { describe, expect, test } from 'vitest';
import {
  mostPerPage,
  type Order,
  orders,
  type Rhythm,
  readsWithin,
  rhythms,
} from '../laws/requests.ts';
import { planOf, playHistory, type Reader } from '../simulator/history.ts';
import { costlyMistakes, mistakes } from '../simulator/mistakes.ts';
import { withWrongFunctions, withWrongText } from '../simulator/planting.ts';
import { readerMistakes } from '../simulator/wrong-functions.ts';

const mostToFindAMistake = 6000;

describe('the simulator finds a planted mistake', () => {
  const file = './reader.ts';

  const isFound = async (reader: Reader): Promise<boolean> => {
    for (let seed = 0; seed < mostToFindAMistake; seed += 1)
      if ((await playHistory(planOf(seed), reader)).violations.length > 0) return true;
    return false;
  };

  test.each(Object.entries(readerMistakes))('%s', async (_, mistake) => {
    expect(await isFound(await withWrongFunctions<Reader>(file, mistake))).toBe(true);
  });

  test.each(mistakes)('%s', async (name) => {
    expect(await isFound(await withWrongText<Reader>(file, name))).toBe(true);
  });
});

describe('the law of requests finds a planted mistake', () => {
  test.each(costlyMistakes)('%s', async (name) => {
    const reader = await withWrongText<typeof import('../simulator/stream.ts')>(
      './stream.ts',
      name,
    );
    const readAll = async () => {
      for (const rhythm of Object.keys(rhythms) as Rhythm[])
        for (const order of Object.keys(orders) as Order[])
          for (const period of ['all times', 'from 2010 on'] as const) {
            const cell = { order, period, rows: 25, cap: null };
            const most = mostPerPage(order, rhythm);
            await readsWithin(rhythms[rhythm](1500), most, cell, reader.createCallStream);
          }
    };
    await expect(readAll()).rejects.toThrow();
  });
});
