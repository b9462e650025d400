import { expect, test } from 'vitest';
import { mistakesWithoutPlace } from './simulator/mistakes.ts';

test('each mistake that the drill plants still has its place in the sources of the reader', () => {
  expect(mistakesWithoutPlace()).toEqual([]);
});
