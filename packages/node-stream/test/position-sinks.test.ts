import { createManualClock } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';
import { type ChainCheckpoint, defineOperator, each, through } from '../src/operators/index.ts';
import { type ChainBatch, sink, storeSink } from '../src/sinks/index.ts';
import { growing, type Item } from './laws/chains.ts';

const list = Array.from(
  { length: 40 },
  (_, i): Item => ({
    id: `s${i}`,
    time: `2024-01-01 00:${String(i).padStart(2, '0')}:00`,
    key: null,
    n: i,
  }),
);
const ids = list.map(({ id }) => id);
const source = () => growing(list, [4], () => 1000);

/** Keeps a position as JSON, as a database does. */
function store() {
  let kept: string | null = null;
  return {
    load: (): ChainCheckpoint | null => (kept === null ? null : JSON.parse(kept)),
    save(checkpoint: ChainCheckpoint | null) {
      kept = checkpoint === null ? null : JSON.stringify(checkpoint);
    },
    get isEmpty() {
      return kept === null;
    },
  };
}

describe('sink', () => {
  test('calls the function again when it fails, after a pause that doubles', async () => {
    const clock = createManualClock();
    const attempts: number[] = [];
    const done = through(source()).into(
      sink<Item>(
        (items, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('busy');
          expect(items.map(({ id }) => id)).toEqual(ids);
        },
        { retries: 2, delay: '1s', clock },
      ),
    );
    for (const pause of [1000, 2000]) {
      while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(pause);
    }
    expect(await done).toMatchObject({ written: list.length, proof: null });
    expect(attempts).toEqual([1, 2, 3]);
  });

  test('fails with the error of the function when it has tried often enough, and stops the others', async () => {
    let signal: AbortSignal | undefined;
    const failing = sink<Item>(
      (items, context) => {
        signal = context.signal;
        if (items.some(({ id }) => id === 's9')) throw new Error('no');
      },
      { batch: 3, retries: 0, concurrency: 2 },
    );
    await expect(through(source()).into(failing)).rejects.toThrow('no');
    expect(signal?.aborted).toBe(true);
  });

  test.each([1, 4])(
    'goes on after a kill with each item at least once, in order (concurrency %i)',
    async (concurrency) => {
      const position = store();
      const seen: string[] = [];
      for (const killAt of ['s7', 's20', '']) {
        const deliver = sink<Item>(
          async (items) => {
            if (items.some(({ id }) => id === killAt)) throw new Error('killed');
            await new Promise((resolve) => setImmediate(resolve));
            seen.push(...items.map(({ id }) => id));
          },
          { batch: 3, retries: 0, concurrency, position },
        );
        const run = through(source()).into(deliver);
        if (killAt === '') await run;
        else await expect(run).rejects.toThrow('killed');
      }
      expect([...new Set(seen)].sort()).toEqual([...ids].sort());
      expect(position.isEmpty).toBe(true);
    },
  );

  test('says before it reads that a chain cannot be saved', async () => {
    const deliver = sink<number>(() => {}, { position: store() });
    await expect(deliver([1, 2])).rejects.toThrow(/cannot be resumed: its source has no positions/);
  });
});

describe('storeSink', () => {
  test('stores each item once, however often it is killed between two transactions', async () => {
    const rest = defineOperator<Item, Item>({
      name: 'last again',
      begin(state) {
        let last = state as Item | null;
        return {
          take: each((item, out) => {
            last = item;
            out.push(item);
          }),
          end: () => (last === null ? [] : [last]),
          save: () => last,
        };
      },
    });
    const rows: string[] = [];
    const position = store();
    let left = 0;
    const commit = ({ items, checkpoint }: ChainBatch<Item>) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      rows.push(...items.map(({ id }) => id));
      position.save(checkpoint);
    };
    for (let run = 0; run < 50; run += 1) {
      left = 1 + (run % 3);
      await through(source(), rest)
        .into(storeSink({ load: position.load, commit }))
        .catch(() => {});
    }
    expect(rows).toEqual([...ids, ids.at(-1)]);
  });
});
