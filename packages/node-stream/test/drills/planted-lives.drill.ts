import { describe, expect, test } from 'vitest';
import type { Life } from '../simulator/account.ts';
import { playExports } from '../simulator/exports.ts';
import { copyMistakes, monthMistakes } from '../simulator/mistakes.ts';
import { withWrongFunctions, withWrongText } from '../simulator/planting.ts';
import { playSyncs } from '../simulator/syncs.ts';
import { exportMistakes, syncMistakes } from '../simulator/wrong-functions.ts';

type Package = typeof import('../../src/index.ts');

const mostToFindAMistake = 4000;
const timeout = 600_000;
const index = '../../src/index.ts';

async function isFound(play: (seed: number) => Promise<Life>): Promise<boolean> {
  for (let seed = 0; seed < mostToFindAMistake; seed += 1)
    if ((await play(seed)).violations.length > 0) return true;
  return false;
}

describe('the lives of copies find a planted mistake', () => {
  test.each(Object.entries(syncMistakes))('%s', { timeout }, async (_, mistake) => {
    const wrong = await withWrongFunctions<Package>(index, mistake);
    expect(await isFound((seed) => playSyncs(seed, { crowd: 60, runs: 8 }, wrong))).toBe(true);
  });

  test.each(copyMistakes)('%s', { timeout }, async (name) => {
    const wrong = await withWrongText<Package>(index, name);
    expect(await isFound((seed) => playSyncs(seed, { crowd: 60, runs: 8 }, wrong))).toBe(true);
  });
});

describe('the lives of exports find a planted mistake', () => {
  test.each(Object.entries(exportMistakes))('%s', { timeout }, async (_, mistake) => {
    const wrong = await withWrongFunctions<Package>(index, mistake);
    expect(await isFound((seed) => playExports(seed, 60, wrong))).toBe(true);
  });

  test.each(monthMistakes)('%s', { timeout }, async (name) => {
    const wrong = await withWrongText<Package>(index, name);
    expect(await isFound((seed) => playExports(seed, 60, wrong))).toBe(true);
  });
});
