import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operator } from '../src/operators/index.ts';
import {
  broken,
  type History,
  histories,
  type Item,
  type Link,
  mistakes,
  outcome,
} from './laws/chains.ts';

test('a chain that is killed and resumed, with other sizes of pages, gives what an oracle gives', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { found, expected } = await outcome(history);
      expect(found).toEqual(expected);
    }),
    { numRuns: Number(process.env.CALLS_RUNS ?? 500) },
  );
});

describe('the law finds', () => {
  const differs = async (history: History, make: (link: Link) => Operator<Item, Item>) => {
    try {
      const { found, expected } = await outcome(history, make);
      return JSON.stringify(found) !== JSON.stringify(expected);
    } catch {
      return true;
    }
  };
  test.each(Object.entries(mistakes))('an operator that %s', async (_, mistake) => {
    let isFound = false;
    for (const history of fc.sample(histories, { numRuns: 300, seed: 7 })) {
      isFound = await differs(history, ({ operator }) => broken(operator(), mistake));
      if (isFound) break;
    }
    expect(isFound).toBe(true);
  });
});
