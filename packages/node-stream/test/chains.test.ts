import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineOperator, each, through } from '../src/operators/index.ts';
import {
  broken,
  growing,
  type History,
  histories,
  type Item,
  type Link,
  lists,
  mistakes,
  outcome,
} from './laws/chains.ts';

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 500) };

test('a chain that is killed and resumed, with other sizes of pages, gives what an oracle gives', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { found, expected } = await outcome(history);
      expect(found).toEqual(expected);
    }),
    runs,
  );
});

describe('the law finds', () => {
  const differs = async (history: History, make: (link: Link) => ReturnType<Link['operator']>) => {
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

test('a read that fails goes on from the checkpoint of its error, with each row once', async () => {
  const failing = (at: number) => {
    let taken = 0;
    return defineOperator<Item, Item>({
      name: 'failing',
      begin: () => ({
        take: each((item, out) => {
          if (taken === at) throw new Error('broken');
          taken += 1;
          out.push(item);
        }),
      }),
    });
  };
  await fc.assert(
    fc.asyncProperty(lists, fc.nat(60), fc.integer({ min: 1, max: 15 }), async (list, at, size) => {
      const source = () => growing(list, [size], () => 1000);
      const seen: string[] = [];
      let checkpoint = null;
      try {
        for await (const { id } of through(source(), failing(at))) seen.push(id);
      } catch (error) {
        checkpoint = (error as { checkpoint?: object | null }).checkpoint ?? null;
        expect(seen).toHaveLength(at);
        for await (const page of through(source(), failing(1000)).pages({ checkpoint }))
          seen.push(...page.items.map(({ id }) => id));
      }
      expect(seen).toEqual(list.map(({ id }) => id));
    }),
    { numRuns: 100 },
  );
});
