import { once } from 'node:events';
import { Duplex, PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { dedupe, mapCalls, type Operator } from '../src/operators/index.ts';
import { all } from './calls-of.ts';

const numbers = [1, 2, 2, 3, 4, 5];

/** Both forms of an operator over the same input. */
async function bothForms<O>(make: () => Operator<number, O>, source: readonly number[]) {
  const over = await all(make()(source));
  const piped: unknown[] = [];
  await pipeline(Readable.from(source), make(), async (items) => {
    for await (const item of items) piped.push(item);
  });
  return { over, piped };
}

/** Counts up, and tells whether it was ended. */
function counting() {
  const state = { given: 0, ended: false };
  async function* count() {
    try {
      for (;;) {
        state.given += 1;
        // A source that never rests would not let a timer ring if someone read it without end.
        if (state.given % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        yield state.given;
      }
    } finally {
      state.ended = true;
    }
  }
  return { state, source: count() };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe('every operator', () => {
  const cases: [string, () => Operator<number, unknown>, unknown[]][] = [
    ['mapCalls', () => mapCalls((n: number) => n * 10), [10, 20, 20, 30, 40, 50]],
    ['mapCalls leaving out null', () => mapCalls((n: number) => (n % 2 ? n : null)), [1, 3, 5]],
    ['mapCalls async', () => mapCalls(async (n: number) => n + 1), [2, 3, 3, 4, 5, 6]],
    ['mapCalls concurrent', () => mapCalls(async (n: number) => n, { concurrency: 3 }), [1, 2, 2, 3, 4, 5]],
    ['dedupe', () => dedupe<number>({ key: String }), [1, 2, 3, 4, 5]],
  ];
  it.each(cases)('%s gives the same in a pipeline and as an iterable', async (_, make, expected) => {
    const { over, piped } = await bothForms(make, numbers);
    expect(over).toEqual(expected);
    expect(piped).toEqual(expected);
  });

  it.each(cases)('%s ends its source when the loop is left', async (_, make) => {
    const { state, source } = counting();
    for await (const item of make()(source)) if (item !== undefined) break;
    // A source that was asked for more ends when it has answered.
    await until(() => state.ended);
  });

  it.each(cases)('%s fails when its source fails', async (_, make) => {
    async function* broken() {
      yield 1;
      throw new Error('source broke');
    }
    await expect(all(make()(broken()))).rejects.toThrow('source broke');
    await expect(
      pipeline(Readable.from(broken()), make(), new PassThrough({ objectMode: true }).resume()),
    ).rejects.toThrow('source broke');
  });

  it.each(cases)('%s reads no further than it must when nobody takes the output', async (_, make) => {
    const { state, source } = counting();
    const items = make()(source)[Symbol.asyncIterator]();
    await items.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.given).toBeLessThan(600);
    await items.return?.();
  });
});

describe('mapCalls', () => {
  it.each([1, 8])('does not hang in a pipeline into a slow sink (concurrency %i)', async (concurrency) => {
    let taken = 0;
    const slow = new Writable({
      objectMode: true,
      highWaterMark: 1,
      write(_item, _encoding, done) {
        taken += 1;
        setImmediate(done);
      },
    });
    const input = Array.from({ length: 3000 }, (_, i) => i);
    await pipeline(
      Readable.from(input),
      mapCalls(async (n: number) => n, { concurrency }),
      slow,
    );
    expect(taken).toBe(3000);
  });

  it('begins no more than it may ahead of its reader', async () => {
    let begun = 0;
    const work = mapCalls(
      async (n: number) => {
        begun += 1;
        return n;
      },
      { concurrency: 4 },
    );
    for await (const n of work(Array.from({ length: 100 }, (_, i) => i + 1))) if (n === 2) break;
    expect(begun).toBeLessThanOrEqual(6);
  });

  it('runs no more than `concurrency` at the same time and keeps the order', async () => {
    let running = 0;
    let most = 0;
    const slowFirst = mapCalls(
      async (n: number) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, n === 1 ? 20 : 1));
        running -= 1;
        return n;
      },
      { concurrency: 4 },
    );
    const input = Array.from({ length: 40 }, (_, i) => i + 1);
    expect(await all(slowFirst(input))).toEqual(input);
    expect(most).toBe(4);
  });

  it.each([1, 4])('delivers what came before a failure (concurrency %i)', async (concurrency) => {
    const work = async (n: number) => {
      if (n === 3) throw new Error('three');
      await new Promise((resolve) => setTimeout(resolve, 5));
      return n;
    };
    const seen: number[] = [];
    const run = async () => {
      for await (const n of mapCalls(work, { concurrency })([1, 2, 3, 4, 5, 6, 7, 8])) seen.push(n);
    };
    await expect(run()).rejects.toThrow('three');
    expect(seen).toEqual([1, 2]);
  });

  it('delivers what came before an error that is thrown while other work is running', async () => {
    const seen: number[] = [];
    const throws = mapCalls(
      (n: number) => {
        if (n === 3) throw new Error('three');
        return new Promise<number>((resolve) => setTimeout(resolve, 5, n));
      },
      { concurrency: 4 },
    );
    const run = async () => {
      for await (const n of throws([1, 2, 3, 4])) seen.push(n);
    };
    await expect(run()).rejects.toThrow('three');
    expect(seen).toEqual([1, 2]);
  });

  it('ends a pipeline when the function fails', async () => {
    const fails = mapCalls(async () => Promise.reject(new Error('no')), { concurrency: 2 });
    await expect(
      pipeline(Readable.from([1, 2, 3]), fails, new PassThrough({ objectMode: true })),
    ).rejects.toThrow('no');
  });

  it('gives the function a signal that aborts when the stream is destroyed', async () => {
    const signals: AbortSignal[] = [];
    const hangs = mapCalls((_: number, signal) => {
      signals.push(signal);
      return new Promise<number>(() => {});
    });
    const stream = Duplex.from(hangs);
    stream.resume().write(1);
    while (signals.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stream.destroy();
    await once(stream, 'close');
    while (signals[0]?.aborted !== true) await new Promise((resolve) => setImmediate(resolve));
    expect(signals[0]?.aborted).toBe(true);
  });
});

describe('dedupe', () => {
  it('lets each key through once and reports the others', async () => {
    const doubled: string[] = [];
    const calls = ['a', 'b', 'a', 'c', 'b'].map((sid) => ({ sid }));
    const once = dedupe<{ sid: string }>({ key: 'sid', onDuplicate: ({ sid }) => doubled.push(sid) });
    expect((await all(once(calls))).map(({ sid }) => sid)).toEqual(['a', 'b', 'c']);
    expect(doubled).toEqual(['a', 'b']);
  });

  it('remembers no more than `capacity` keys', async () => {
    const once = dedupe<number>({ key: String, capacity: 2 });
    expect(await all(once([1, 2, 1, 3, 1]))).toEqual([1, 2, 3, 1]);
  });
});

describe('settings out of range', () => {
  const cases: [string, () => unknown, RegExp][] = [
    [
      'mapCalls concurrency 0',
      () => mapCalls((n) => n, { concurrency: 0 }),
      /concurrency must be a number of at least 1; got 0/,
    ],
    ['dedupe capacity 0', () => dedupe({ key: 'ani', capacity: 0 }), /capacity must be a whole number/],
  ];
  it.each(cases)('%s is refused with what was expected', (_, make, message) => {
    expect(make).toThrow(message);
  });
});
