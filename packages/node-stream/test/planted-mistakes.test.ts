import { expect, test } from 'vitest';
import { mistakesWithoutPlace } from './simulator/mistakes.ts';

test('each mistake that the drills plant still has its place in the sources of the package', () => {
  expect(mistakesWithoutPlace()).toEqual([]);
});
