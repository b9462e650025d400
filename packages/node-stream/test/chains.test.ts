import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCsv } from '../src/encoders/index.ts';
import {
  aggregate,
  count,
  dedupe,
  defineOperator,
  distinct,
  each,
  mapCalls,
  percentile,
  sessions,
  sum,
  through,
  topN,
  tumbling,
} from '../src/operators/index.ts';
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
    for (const history of fc.sample(histories, { numRuns: 300, seed: 8 })) {
      isFound = await differs(history, ({ operator }) => broken(operator(), mistake));
      if (isFound) break;
    }
    expect(isFound).toBe(true);
  });
});

const rowAt = (i: number) => ({
  sid: `s${i}`,
  ani: i % 7,
  n: i / 4,
  date_added: `2024-05-01 0${i % 8}:00:00`,
});
type Row = ReturnType<typeof rowAt>;
const measures = {
  calls: count<Row>(),
  total: sum<Row>('n'),
  median: percentile<Row>('n', 50),
  callers: distinct<Row>('ani'),
};
type Measures = typeof measures;
const day = { lateness: '1d', time: 'date_added', measures } as const;
test.each([
  ['dedupe', dedupe<Row>({ key: 'sid' })],
  ['dedupe that forgets', dedupe<Row>({ key: 'sid', capacity: 4 })],
  ['topN', topN<Row>({ count: 30, by: 'n' })],
  ['aggregate', aggregate<Measures, 'ani', Row>({ by: ['ani'], measures })],
  ['tumbling', tumbling<Measures, 'ani', Row>({ ...day, size: '1h', by: ['ani'] })],
  ['sessions', sessions<Measures, 'ani', Row>({ ...day, gap: '1h', by: ['ani'] })],
  ['mapCalls', mapCalls(async (row: Row) => row, { concurrency: 3 })],
  ['toCsv', toCsv<Row>({ columns: ['sid', 'n'] })],
])('a checkpoint of %s stays as it is while the read goes on', async (_, operator) => {
  const source = {
    async *pages() {
      for (let at = 0; at < 60; at += 5)
        yield { items: Array.from({ length: 5 }, (_, i) => rowAt(at + i)), checkpoint: { at: at + 5 } };
    },
  };
  const kept: { readonly checkpoint: unknown; readonly text: string }[] = [];
  for await (const { checkpoint } of through(source, operator).pages())
    kept.push({ checkpoint, text: JSON.stringify(checkpoint) });
  expect(kept.length).toBeGreaterThan(10);
  for (const { checkpoint, text } of kept) expect(JSON.stringify(checkpoint)).toBe(text);
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
