import { once } from 'node:events';
import { Duplex, PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call } from '@call-attribution/core';
import { FilterSyntaxError, where } from '@call-attribution/query-dsl';
import { describe, expect, it, test } from 'vitest';
import { toCsv, toParquet } from '../src/encoders/index.ts';
import {
  type AnyOperator,
  aggregate,
  count,
  dedupe,
  defineOperator,
  distinct,
  filterCalls,
  join,
  type Measure,
  mapCalls,
  max,
  type Operator,
  percentile,
  sessions,
  sum,
  through,
  topN,
  tumbling,
} from '../src/operators/index.ts';
import type { Checkpoint } from '../src/page.ts';
import { all, callOf } from './calls-of.ts';
import { Paged, pagesOf } from './paged.ts';

const numbers = [1, 2, 2, 3, 4, 5];
const turn = () => new Promise((resolve) => setImmediate(resolve));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn();
};

/** Counts up, and tells whether it was ended. */
function counting() {
  const state = { given: 0, ended: false };

  async function* numbers() {
    try {
      for (;;) {
        state.given += 1;
        if (state.given % 50 === 0) await turn();
        yield state.given;
      }
    } finally {
      state.ended = true;
    }
  }

  return { state, source: numbers() };
}

describe('every operator', () => {
  const cases: [string, () => Operator<number, unknown>, unknown[]][] = [
    ['mapCalls', () => mapCalls((n: number) => n * 10), [10, 20, 20, 30, 40, 50]],
    ['mapCalls leaving out null', () => mapCalls((n: number) => (n % 2 ? n : null)), [1, 3, 5]],
    ['mapCalls async', () => mapCalls(async (n: number) => n + 1), [2, 3, 3, 4, 5, 6]],
    [
      'mapCalls concurrent',
      () => mapCalls(async (n: number) => n, { concurrency: 3 }),
      [1, 2, 2, 3, 4, 5],
    ],
    ['dedupe', () => dedupe<number>({ key: String }), [1, 2, 3, 4, 5]],
    ['filterCalls', () => filterCalls((n: number) => n > 2), [3, 4, 5]],
  ];
  it.each(cases)(
    '%s gives the same in a pipeline and as an iterable',
    async (_, make, expected) => {
      const piped: unknown[] = [];
      await pipeline(Readable.from(numbers), make(), async (items) => {
        for await (const item of items) piped.push(item);
      });
      expect(piped).toEqual(expected);
      expect(await make()(numbers).toArray()).toEqual(expected);
      expect(await all(Readable.from(make()(numbers)))).toEqual(expected);
    },
  );

  it.each(cases)('%s ends its source when the loop is left', async (_, make) => {
    const { state, source } = counting();
    for await (const item of make()(source)) if (item !== undefined) break;
    await until(() => state.ended);
    expect(state.given).toBeLessThan(600);
  });

  it.each(cases)('%s fails when its source fails', async (_, make) => {
    async function* broken() {
      yield 1;
      throw new Error('source broke');
    }

    await expect(all(make()(broken()))).rejects.toThrow('source broke');
    const output = new PassThrough({ objectMode: true }).resume();
    await expect(pipeline(Readable.from(broken()), make(), output)).rejects.toThrow('source broke');
  });

  test.each(['async', 'plain'])(
    'what came before the failure of an %s source is delivered before it',
    async (kind) => {
      const plain = function* () {
        yield* [1, 2];
        throw new Error('broke');
      };

      const later = async function* () {
        yield* plain();
      };

      const seen: number[] = [];

      const read = async () => {
        for await (const n of through<number>(kind === 'plain' ? plain() : later())) seen.push(n);
      };

      await expect(read()).rejects.toThrow('broke');
      expect(seen).toEqual([1, 2]);
    },
  );
});

describe('mapCalls', () => {
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
    expect(await slowFirst(input).toArray()).toEqual(input);
    expect(most).toBe(4);
  });

  it.each([1, 4])(
    'a failure is that of its page, and no more is begun (concurrency %i)',
    async (concurrency) => {
      const begun: number[] = [];

      const work = async (n: number) => {
        begun.push(n);
        await turn();
        if (n === 5) throw new Error('five');
        return n;
      };

      const seen: number[] = [];

      const read = async () => {
        const source = pagesOf(
          Array.from({ length: 60 }, (_, i) => i + 1),
          3,
        );
        for await (const n of through(source, mapCalls(work, { concurrency }))) seen.push(n);
      };

      await expect(read()).rejects.toThrow('five');
      expect(seen).toEqual([1, 2, 3]);
      expect(Math.max(...begun)).toBeLessThanOrEqual(6);
    },
  );

  it('gives the function a signal that aborts when the stream is destroyed, and does not wait for it', async () => {
    const signals: AbortSignal[] = [];
    const stream = Duplex.from(
      mapCalls((_: number, signal) => {
        signals.push(signal);
        return new Promise<number>(() => {});
      }),
    );
    stream.resume().write(1);
    await until(() => signals.length > 0);
    stream.destroy();
    await once(stream, 'close');
    await until(() => signals[0]?.aborted === true);
  });
});

describe('filterCalls and dedupe', () => {
  const calls = ['1.0', '10.0', '20.0'].map((talk_minutes, i) =>
    callOf({ sid: `s${i}`, talk_minutes }),
  );
  it.each([
    ['text', 'talk_minutes:[10 TO *]'],
    ['a builder', where('talk_minutes').atLeast(10)],
    ['a function', ({ talk_minutes }: { talk_minutes: string }) => Number(talk_minutes) >= 10],
  ])('lets through what matches %s', async (_, filter) => {
    expect(await filterCalls<Call>(filter)(calls).toArray()).toEqual(calls.slice(1));
  });

  it('refuses a filter that does not parse before anything runs', () => {
    expect(() => filterCalls('talk_minutes:5')).toThrow(FilterSyntaxError);
  });
});

describe('join', () => {
  const calls = ['1', '2', null, '3'].map((id, i) => callOf({ sid: `s${i}`, ppc_campaign_id: id }));
  const costs = [
    { ppc_campaign_id: '1', cost: 10 },
    { ppc_campaign_id: '3', cost: 30 },
  ];
  type Cost = (typeof costs)[number];
  const on = 'ppc_campaign_id';
  const left = [10, null, null, 30];
  const costsOf = async (operator: Operator<Call, Call & { row: Cost | null }>) =>
    (await operator(calls).toArray()).map(({ row }) => row?.cost ?? null);

  async function* slowly<T>(rows: readonly T[]) {
    for (const row of rows) yield row;
  }

  it.each([
    ['an array', costs],
    ['an async iterable', slowly(costs)],
  ] as const)('adds the matching row of %s', async (_, table) => {
    expect(await costsOf(join<Cost, 'row'>(table, { on, as: 'row' }))).toEqual(left);
  });

  it('refuses a table with two rows of the same key', async () => {
    const twice = [...costs, { ppc_campaign_id: '1', cost: 11 }];
    await expect(costsOf(join(twice, { on, as: 'row' }))).rejects.toThrow(
      /two rows of the table have the same key/,
    );
    const nulls = [...costs, ...[1, 2].map((cost) => ({ ppc_campaign_id: null, cost }))];
    expect(
      (await join(nulls, { on, as: 'row' })(calls).toArray()).map(({ row }) => row?.cost ?? null),
    ).toEqual(left);
  });

  it('reads a table from a generator once for all its runs', async () => {
    const operator = join<Cost, 'row'>(slowly(costs), { on, as: 'row' });
    expect([await costsOf(operator), await costsOf(operator)]).toEqual([left, left]);
  });

  it('does not wait for a table that is silent', async () => {
    const table = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const rows = join<Cost, 'row'>(table, { on, as: 'row' })(calls)[Symbol.asyncIterator]();
    const waiting = rows.next();
    await turn();
    await rows.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const abort = new AbortController();
    const source = Object.assign(pagesOf(calls, 2), { signal: abort.signal });
    const read = through(source, join<Cost, 'row'>(table, { on, as: 'row' })).toArray();
    await turn();
    abort.abort(new Error('too late'));
    await expect(read).rejects.toThrow('too late');
  });

  it('needs the key of a row when `on` is a function', () => {
    expect(() => join(costs, { on: (call: Call) => call.sid, as: 'row' })).toThrow(
      /so key is needed too/,
    );
  });
});

test('topN keeps the strongest of each group; of equal ones the first, and none without a value', async () => {
  const strengths = [
    { day: 'a', n: 1, name: 'x' },
    { day: 'a', n: 3, name: 'y' },
    { day: 'a', n: 3, name: 'z' },
    { day: 'b', n: null, name: 'u' },
    { day: 'b', n: 2, name: 'v' },
  ];
  const names = async (options: Parameters<typeof topN<(typeof strengths)[number]>>[0]) =>
    (await topN(options)(strengths).toArray()).map(({ name }) => name);
  expect(await names({ count: 2, by: 'n', within: 'day' })).toEqual(['y', 'z', 'v']);
  expect(await names({ count: 1, by: 'n' })).toEqual(['y']);
  expect(await names({ count: 9, by: ({ n }) => n })).toEqual(['y', 'z', 'v', 'x']);
});

describe('aggregate', () => {
  it('keeps types apart, and refuses what cannot be compared', async () => {
    const by = aggregate<{ items: Measure<number, { k: unknown }> }, 'k', { k: unknown }>({
      by: ['k'],
      measures: { items: count() },
    });
    const items = [true, 'true', 1, '1', null, undefined, 1].map((k) => ({ k }));
    const rows = await by(items).toArray();
    expect(rows.map(({ k, items }) => [k, items])).toEqual([
      [true, 1],
      ['true', 1],
      [1, 2],
      ['1', 1],
      [null, 2],
    ]);
    for (const k of [{}, [], Number.NaN, 1n])
      await expect(by([{ k }]).toArray()).rejects.toThrow(/expected a string, a finite number/);
  });

  it('gives one row per group, in the order the groups were first seen', async () => {
    const calls = ['1.5', '0.1', '0.2'].map((talk_minutes, i) =>
      callOf({ sid: `${i}`, talk_minutes, ...(i === 1 ? { channel: 'Call Extension' } : {}) }),
    );
    const byChannel = aggregate({
      by: ['channel'],
      measures: { calls: count(), minutes: sum('talk_minutes') },
    });
    expect(await byChannel(calls).toArray()).toEqual([
      { channel: 'Tracker', calls: 2, minutes: 1.7 },
      { channel: 'Call Extension', calls: 1, minutes: 0.1 },
    ]);
    const totals = aggregate({ measures: { calls: count() } });
    expect(await totals(calls).toArray()).toEqual([{ calls: 3 }]);
    expect(await totals([]).toArray()).toEqual([]);
  });

  it('groups by functions and tells apart what looks alike', async () => {
    const calls = [
      callOf({ sid: 'a', city: 'a,b', state: 'c' }),
      callOf({ sid: 'b', city: 'a', state: 'b,c' }),
      callOf({ sid: 'c', city: null, state: null }),
    ];
    const places = aggregate({
      by: { where: 'city', state: 'state', day: ({ date_added }) => date_added.slice(0, 10) },
      measures: { calls: count() },
    });
    expect((await places(calls).toArray()).map(Object.values)).toEqual([
      ['a,b', 'c', '2024-01-01', 1],
      ['a', 'b,c', '2024-01-01', 1],
      [null, null, '2024-01-01', 1],
    ]);
  });

  it('refuses a column that appears twice', () => {
    const twice = () => aggregate({ by: ['channel'], measures: { channel: count() } });
    expect(twice).toThrow(/column channel appears twice/);
  });
});

describe('a field that items do not have', () => {
  const any = (value: unknown): never => value as never;
  const measures = { calls: count() };
  const wrong: [string, () => AnyOperator, string][] = [
    [
      'by',
      () => aggregate(any({ by: ['ppc_campain'], measures })),
      'ppc_campain. Did you mean ppc_campaign?',
    ],
    [
      'sum',
      () => aggregate({ measures: { m: sum(any('talk_minute')) } }),
      'talk_minute. Did you mean talk_minutes?',
    ],
    [
      'percentile',
      () => tumbling({ size: '1h', measures: { m: percentile(any('talk_minuts'), 9) } }),
      'talk_minuts. Did you',
    ],
    [
      'distinct',
      () => sessions({ gap: '1h', measures: { m: distinct(any('anni')) } }),
      'anni. Did you mean ani?',
    ],
    [
      'time',
      () => tumbling({ size: '1h', measures, time: any('date_aded') }),
      'date_aded. Did you mean date_added?',
    ],
    ['key', () => dedupe({ key: any('who') }), 'who. docs/fields.md lists the fields of calls.'],
    [
      'sum with half of a name',
      () => aggregate({ measures: { m: sum(any('talk_mins')) } }),
      'talk_mins. Did you mean talk_minutes or talk_start or talk_end?',
    ],
    [
      'on',
      () => join([], { on: any('dniss'), key: any('phone'), as: 'shop' }),
      'dniss. Did you mean dnis?',
    ],
    ['by of topN', () => topN<Call>({ count: 1, by: any('talk_minuts') }), 'talk_minuts. Did you'],
  ];
  it('is told when one name stands where a list is expected', () => {
    const words = 'is a string; expected a list: ';
    expect(() => aggregate({ by: any('ani'), measures })).toThrow(`by ${words}by: ['ani'].`);
    expect(() => toCsv({ columns: any('ani') })).toThrow(`columns ${words}columns: ['ani'].`);
    expect(() => toParquet({ columns: any('ani') })).toThrow(`columns ${words}columns: ['ani'].`);
  });

  it('is told when no options stand where they are expected', () => {
    const words = 'options must be an object with ';
    expect(() => toCsv(any(['ani']))).toThrow(`${words}columns, safe, bom.`);
    expect(() => toParquet(any(['ani']))).toThrow(`${words}columns`);
    expect(() => dedupe(any('ani'))).toThrow(`${words}key.`);
  });

  it('is told when a list stands where one is expected, and when a function is no operator', () => {
    const words = "Expected the name of a field, such as 'talk_minutes'";
    const list = any(['talk_minutes']);
    expect(() => topN<Call>({ count: 1, by: list })).toThrow(words);
    expect(() => topN<Call>({ count: 1, by: 'talk_minutes', within: list })).toThrow(words);
    expect(() =>
      through(
        [],
        any((call: Call) => call),
      ),
    ).toThrow('through() takes operators');
  });

  test.each(wrong)('in %s is refused before calls are read', async (_, make, words) => {
    const source = Object.assign(pagesOf([callOf({ sid: 'a' })], 1), { calls: 'v3' as const });
    const read = (operators: readonly AnyOperator[]) => through(source, ...operators).toArray();
    await expect(read([make()])).rejects.toThrow(`calls have no field ${words}`);
    await expect(read([filterCalls<Call>(() => true), make()])).rejects.toThrow(
      `calls have no field ${words}`,
    );
    expect(source.given).toBe(0);
  });

  test.each(wrong)('in %s is refused with the first item that was mapped', async (_, make) => {
    const source = Object.assign(pagesOf([callOf({ sid: 'a' }), callOf({ sid: 'b' })], 1), {
      calls: 'v3' as const,
    });
    const same = mapCalls((call: Call) => ({ ...call }));
    await expect(through(source, same, make()).toArray()).rejects.toThrow(
      /the items have no field/,
    );
    expect(source.given).toBe(1);
  });

  test('is refused in rows of other operators and of tables, and reached by a function', async () => {
    const rows = aggregate({ by: ['sid'], measures });
    const calls = [callOf({ sid: 'a' })];
    const strongest = (by: unknown) =>
      through(calls, rows, topN<{ calls: number }>({ count: 1, by: any(by) }));
    await expect(strongest('call').toArray()).rejects.toThrow(
      'topN: the items have no field call. Did you mean calls?',
    );
    expect(await strongest((row: object) => Reflect.get(row, 'call') ?? 1).toArray()).toHaveLength(
      1,
    );
    const shops = join([{ phon: '1' }], { on: 'dnis', key: any('phone'), as: 'shop' });
    await expect(shops(calls).toArray()).rejects.toThrow(
      'join (key): the items have no field phone. Did you mean phon?',
    );
    expect(await through(calls, aggregate({ by: { x: () => 1 }, measures })).toArray()).toEqual([
      { x: 1, calls: 1 },
    ]);
  });
});

test('settings out of range are refused with what was expected', () => {
  expect(() => mapCalls((n) => n, { concurrency: 0 })).toThrow(
    /concurrency is 0; expected at least 1/,
  );
  expect(() => topN<Call>({ count: 0, by: 'sid' })).toThrow(/count is 0; expected 1 to 1000000/);
  const gap = 'soon' as '1h';
  expect(() => sessions({ gap, measures: {} })).toThrow(/gap is "soon"; expected milliseconds/);
});

describe('the checkpoint of a chain', () => {
  const rowAt = (i: number) => ({
    sid: `s${i}`,
    ani: i % 7,
    n: i / 4,
    date_added: `2024-05-01 0${i % 8}:00:00`,
  });

  type Row = ReturnType<typeof rowAt>;
  const rows = Array.from({ length: 60 }, (_, i) => rowAt(i));
  const measures = {
    calls: count<Row>(),
    total: sum<Row>('n'),
    half: percentile<Row>('n', 50),
    callers: distinct<Row>('ani'),
    most: max<Row>('n'),
  };
  type Measures = typeof measures;
  test.each<[string, AnyOperator]>([
    ['dedupe', dedupe<Row>({ key: 'sid' })],
    ['topN', topN<Row>({ count: 30, by: 'n' })],
    ['aggregate', aggregate<Measures, 'ani', Row>({ by: ['ani'], measures })],
    ['tumbling', tumbling<Measures, 'ani', Row>({ measures, size: '1h', by: ['ani'] })],
    ['sessions', sessions<Measures, 'ani', Row>({ measures, gap: '1h', by: ['ani'] })],
    ['mapCalls', mapCalls(async (row: Row) => row, { concurrency: 3 })],
    ['toCsv', toCsv<Row>({ columns: ['sid', 'n'] })],
  ])('of %s stays as it is while the read goes on', async (_, operator) => {
    const kept: { readonly checkpoint: unknown; readonly text: string }[] = [];
    for await (const { checkpoint } of through(pagesOf(rows, 5), operator).pages())
      kept.push({ checkpoint, text: JSON.stringify(checkpoint) });
    expect(kept).toHaveLength(13);
    for (const { checkpoint, text } of kept) expect(JSON.stringify(checkpoint)).toBe(text);
  });

  const chain = () =>
    through(pagesOf(rows, 5), aggregate<Measures, 'ani', Row>({ by: ['ani'], measures }));

  const firstOf = async (read: {
    pages(): AsyncIterable<{ checkpoint: Checkpoint }>;
  }): Promise<Checkpoint> => {
    for await (const { checkpoint } of read.pages()) return JSON.parse(JSON.stringify(checkpoint));
    throw new Error('no page');
  };

  test.each<[string, AnyOperator[]]>([
    ['no operator', []],
    ['another operator', [topN<Row>({ count: 1, by: 'n' })]],
    ['another key', [aggregate<Measures, 'sid', Row>({ by: ['sid'], measures })]],
    [
      'one more',
      [dedupe<Row>({ key: 'sid' }), aggregate<Measures, 'ani', Row>({ by: ['ani'], measures })],
    ],
  ])('is refused by a chain with %s', async (_, operators) => {
    const checkpoint = await firstOf(chain());
    await expect(
      through(pagesOf(rows, 5), ...operators)
        .pages(checkpoint)
        .next(),
    ).rejects.toThrow('The checkpoint belongs to another chain.');
  });

  test('is refused when a digit was changed, and by another read; not when names come in another order', async () => {
    const checkpoint = await firstOf(chain());
    const text = JSON.stringify(checkpoint);
    for (const { index } of text.matchAll(/\d/g)) {
      const changed =
        text.slice(0, index) + ((Number(text[index]) + 1) % 10) + text.slice(index + 1);
      await expect(chain().pages(JSON.parse(changed)).next()).rejects.toMatchObject({
        code: 'checkpoint_invalid',
      });
    }

    const other = Object.assign(pagesOf(rows, 5), { of: 'other' });
    const same = aggregate<Measures, 'ani', Row>({ by: ['ani'], measures });
    await expect(through(other, same).pages(checkpoint).next()).rejects.toMatchObject({
      code: 'checkpoint_invalid',
    });
    const turned = Object.fromEntries(
      Object.entries(checkpoint).reverse(),
    ) as unknown as Checkpoint;
    expect((await chain().pages(turned).next()).done).toBe(false);
  });

  test('goes on from the options of the source', async () => {
    const whole = await chain().toArray();
    const source = Object.assign(pagesOf(rows, 5), { startsAt: await firstOf(chain()) });
    const same = aggregate<Measures, 'ani', Row>({ by: ['ani'], measures });
    expect(await through(source, same).toArray()).toEqual(whole);
    expect(source.given).toBe(11);
  });

  test('of the last page reads nothing more', async () => {
    let checkpoint: Checkpoint | null = null;
    for await (const page of chain().pages()) checkpoint = page.checkpoint;
    expect(await all(chain().pages(checkpoint))).toEqual([]);
  });

  test('is asked for before the next page, and of a source that has positions', async () => {
    const [first] = await all(chain().pages());
    expect(() => first?.checkpoint).toThrow(
      'Ask for the checkpoint of a page before the next one.',
    );
    const loose = through(
      rows,
      filterCalls<Row>(() => true),
    );
    expect(loose.unsaved).toBe('its source has no positions');
    for await (const page of loose.pages())
      expect(() => page.checkpoint).toThrow('cannot be resumed');
  });
});

test('a chain is read once, and refuses what is no sink with what to write instead', async () => {
  const chain = through(
    numbers,
    filterCalls((n: number) => n > 3),
  );
  expect(await chain.toArray()).toEqual([4, 5]);
  await expect(chain.toArray()).rejects.toThrow('This chain is already being read.');
  await expect(through(numbers).into('x.csv' as never)).rejects.toThrow(
    "into() takes a sink, not a string. For a file: into(fileSink('calls.csv')), with fileSink of @call-attribution/node-stream/sinks",
  );
  await expect(through(numbers).into([] as never)).rejects.toThrow(
    'into() takes a sink, not an object.',
  );
});

test('an operator says what it gives, so that windows behind it close in time or hold everything on purpose', () => {
  const begin = () => ({ page: (items: readonly number[]) => items });
  // @ts-expect-error it does not say it
  expect(() => defineOperator<number, number>({ name: 'mine', begin })).toThrow(
    "The operator mine has to say what it gives: 'same' items or none",
  );
});

test('an operator of your own keeps its state between pages', async () => {
  const pairs = defineOperator<number, [number, number]>({
    name: 'pairs',
    gives: 'other',
    begin(state) {
      let last = state as number | null;
      return {
        page(items) {
          const all = last === null ? items : [last, ...items];
          last = all.at(-1) ?? null;
          return all.slice(1).map((item, at) => [all[at] as number, item]);
        },
        save: () => last,
      };
    },
  });
  expect(
    await pairs(new Paged([{ items: [1, 2] }, { items: [] }, { items: [3] }])).toArray(),
  ).toEqual([
    [1, 2],
    [2, 3],
  ]);
});
