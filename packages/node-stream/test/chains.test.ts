import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Operator } from '../src/operators/index.ts';
import {
  broken,
  type History,
  histories,
  type Item,
  type Link,
  links,
  lists,
  mistakes,
  outcome,
  seenToGive,
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

const named = Object.entries(links);

test.each(named)(
  '%s gives what it says, so that windows behind it close in time, and never too early',
  async (_, link) => {
    const ranks = ['same', 'new', 'other'] as const;
    const drawn = fc.record({ link, pages: fc.array(lists, { maxLength: 3 }) });
    let seen = 0;
    let said = '';
    for (const { link, pages } of fc.sample(drawn, { numRuns: 100, seed: 7 })) {
      const operator = link.operator();
      said = operator.gives;
      seen = Math.max(seen, ranks.indexOf(await seenToGive(operator, pages)));
    }

    expect(said).toBe(ranks[seen]);
  },
);

test.each(named)(
  '%s with settings that give other items is another operator to a checkpoint',
  (_, link) => {
    const drawn = fc.record({ one: link, other: link, list: lists });
    for (const { one, other, list } of fc.sample(drawn, { numRuns: 100, seed: 7 })) {
      const { settings } = one.operator();

      // Functions are not compared.
      if (settings === null) continue;
      const isOther = JSON.stringify(one.oracle(list)) !== JSON.stringify(other.oracle(list));
      if (isOther) expect(other.operator().settings).not.toEqual(settings);
    }
  },
);

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
