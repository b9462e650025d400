import { builtFile } from '@call-attribution/test-tools/bundle';
import { describe, expect, test, vi } from 'vitest';
import type { Life } from '../simulator/account.ts';
import { playExports } from '../simulator/exports.ts';
import { copyMistakes, monthMistakes, plant } from '../simulator/mistakes.ts';
import { exportMistakes, type Plant, syncMistakes } from '../simulator/sync-mistakes.ts';
import { playSyncs } from '../simulator/syncs.ts';

const mostToFindAMistake = 4000;
const timeout = 600_000;

/** What is imported from now on has the wrong functions. Returns what puts the right ones back. */
function planting(mistake: (plant: Plant) => void): () => void {
  const files: string[] = [];
  vi.resetModules();
  mistake((file, wrong) => {
    files.push(`../../src/${file}`);
    vi.doMock(`../../src/${file}`, async (original) => {
      const right = (await original()) as never;
      return { ...(right as object), ...wrong(right) };
    });
  });
  return () => {
    for (const file of files) vi.doUnmock(file);
  };
}

/** The package with a mistake in its text. */
async function built(mistake: string): Promise<typeof import('../../src/index.ts')> {
  const source = new URL('../../src/index.ts', import.meta.url).href;
  return await import(await builtFile(source, [plant(mistake) as never]));
}

async function isFound(play: (seed: number) => Promise<Life>): Promise<boolean> {
  for (let seed = 0; seed < mostToFindAMistake; seed += 1)
    if ((await play(seed)).violations.length > 0) return true;
  return false;
}

describe('the lives of copies find a planted mistake', () => {
  test.each(Object.entries(syncMistakes))('%s', { timeout }, async (_, mistake) => {
    const restore = planting(mistake);
    const wrong = await import('../../src/index.ts');
    restore();
    expect(await isFound((seed) => playSyncs(seed, { crowd: 60, runs: 8 }, wrong))).toBe(true);
  });

  test.each(copyMistakes)('%s', { timeout }, async (name) => {
    const wrong = await built(name);
    expect(await isFound((seed) => playSyncs(seed, { crowd: 60, runs: 8 }, wrong))).toBe(true);
  });
});

describe('the lives of exports find a planted mistake', () => {
  test.each(Object.entries(exportMistakes))('%s', { timeout }, async (_, mistake) => {
    const restore = planting(mistake);
    const wrong = await import('../../src/index.ts');
    restore();
    expect(await isFound((seed) => playExports(seed, 60, wrong))).toBe(true);
  });

  test.each(monthMistakes)('%s', { timeout }, async (name) => {
    const wrong = await built(name);
    expect(await isFound((seed) => playExports(seed, 60, wrong))).toBe(true);
  });
});
