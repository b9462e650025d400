import { builtFile } from '@call-attribution/test-tools/bundle';
import { describe, expect, test } from 'vitest';
import type { createCallStream } from '../../src/read.ts';
import {
  mostPerPage,
  type Order,
  orders,
  type Rhythm,
  readsWithin,
  rhythms,
} from '../laws/requests.ts';
import { planOf, playHistory, type Reader } from '../simulator/history.ts';
import { costlyMistakes, mistakes, plant } from '../simulator/mistakes.ts';

const mostToFindAMistake = 6000;

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

describe('the law of requests finds a planted mistake', () => {
  test.each(costlyMistakes)('%s', async (name) => {
    const source = new URL('../simulator/stream.ts', import.meta.url).href;
    const reader: { createCallStream: typeof createCallStream } = await import(
      await builtFile(source, [plant(name) as never])
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
