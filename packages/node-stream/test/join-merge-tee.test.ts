import { describe, expect, it } from 'vitest';
import { join, through } from '../src/operators/index.ts';
import { all, callOf } from './calls-of.ts';

describe('join', () => {
  const calls = ['1', '2', null, '3'].map((id, i) => callOf({ sid: `s${i}`, ppc_campaign_id: id }));
  const costs = [
    { ppc_campaign_id: '1', cost: 10 },
    { ppc_campaign_id: '3', cost: 30 },
  ];
  const costOf = async (operator: (source: typeof calls) => AsyncIterable<unknown>) =>
    (await all(operator(calls))).map((row) => [
      (row as { sid: string }).sid,
      (row as { cost?: number }).cost,
    ]);
  const left = [
    ['s0', 10],
    ['s1', undefined],
    ['s2', undefined],
    ['s3', 30],
  ];
  async function* slowly<T>(rows: readonly T[]) {
    for (const row of rows) yield row;
  }

  it.each([
    ['an array', costs],
    ['an async iterable', slowly(costs)],
    ['a map', new Map(costs.map((row) => [row.ppc_campaign_id, row]))],
    ['a function', (id: unknown) => costs.find((row) => row.ppc_campaign_id === id)],
    ['an async function', async (id: unknown) => costs.find((row) => row.ppc_campaign_id === id)],
  ] as const)('adds the columns of the matching row of %s', async (_, table) => {
    expect(await costOf(join<(typeof costs)[0]>(table, { on: 'ppc_campaign_id' }))).toEqual(left);
  });

  it('leaves out calls without a match with unmatched: drop', async () => {
    expect(await costOf(join(costs, { on: 'ppc_campaign_id', unmatched: 'drop' }))).toEqual([
      left[0],
      left[3],
    ]);
  });

  it('combines both sides with merge', async () => {
    const named = join(costs, {
      on: 'ppc_campaign_id',
      merge: (call, row) => `${call.sid}:${row?.cost ?? '-'}`,
    });
    expect(await all(named(calls))).toEqual(['s0:10', 's1:-', 's2:-', 's3:30']);
  });

  it('refuses a table with two rows of the same key', async () => {
    await expect(all(join([...costs, ...costs], { on: 'ppc_campaign_id' })(calls))).rejects.toThrow(
      /two rows of the table have the same key/,
    );
  });

  const shops = [
    { phone: '1', town: 'A', sid: 'row' },
    { phone: '1', town: 'B', sid: 'row' },
    { phone: null, town: 'C', sid: 'row' },
  ];
  const onCampaign = { on: 'ppc_campaign_id', key: 'phone', rows: 'many' } as const;

  it('gives an item once for each of its rows, and never matches null', async () => {
    const found = await all(join(shops, { ...onCampaign, as: 'shop' })(calls));
    expect(found.map(({ sid, shop }) => [sid, shop?.town ?? null])).toEqual([
      ['s0', 'A'],
      ['s0', 'B'],
      ['s1', null],
      ['s2', null],
      ['s3', null],
    ]);
  });

  it('gives the items without a match alone, and keeps their own columns', async () => {
    expect(
      (await all(join(shops, { ...onCampaign, unmatched: 'only' })(calls))).map(({ sid }) => sid),
    ).toEqual(['s1', 's2', 's3']);
    const flat = await all(join(shops, onCampaign)(calls));
    expect(flat.map(({ sid }) => sid)).toEqual(['s0', 's0', 's1', 's2', 's3']);
  });

  it('reads a table from a generator once for all its runs', async () => {
    const operator = join<(typeof costs)[0]>(slowly(costs), { on: 'ppc_campaign_id' });
    expect(await costOf(operator)).toEqual(left);
    expect(await costOf(operator)).toEqual(left);
  });

  /** A table that never answers. */
  function silentTable() {
    const seen = { ended: 0 };
    let isAsked: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const table: AsyncIterable<(typeof costs)[number]> = {
      [Symbol.asyncIterator]: () => ({
        next() {
          isAsked();
          return new Promise(() => {});
        },
        async return() {
          seen.ended += 1;
          return { done: true, value: undefined };
        },
      }),
    };
    return { table, asked, seen };
  }

  it('ends a table that is silent when the loop is left, and who waits for a row is told the end', async () => {
    const { table, asked, seen } = silentTable();
    const rows = join(table, { on: 'ppc_campaign_id' })(calls)[Symbol.asyncIterator]();
    const waiting = rows.next();
    await asked;
    await rows.return?.();
    const end = { done: true, value: undefined };
    expect([await waiting, await rows.next(), seen.ended]).toEqual([end, end, 1]);
  });

  it('gives nothing more after the loop was left', async () => {
    const rows = join(costs, { on: 'ppc_campaign_id' })(calls)[Symbol.asyncIterator]();
    await rows.next();
    await rows.return?.();
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('ends a table that is silent when a read by pages is left', async () => {
    const { table, asked, seen } = silentTable();
    const pages = join(table, { on: 'ppc_campaign_id' })(calls).pages();
    const waiting = pages.next();
    await asked;
    await pages.return();
    const end = { done: true, value: undefined };
    expect([await waiting, await pages.next(), seen.ended]).toEqual([end, end, 1]);
  });

  it('fails with the reason of a signal while the table is silent, and while a lookup is', async () => {
    const { table, asked } = silentTable();
    let isLookedUp: () => void = () => {};
    const lookedUp = new Promise<void>((resolve) => {
      isLookedUp = resolve;
    });
    const silentLookup = () => {
      isLookedUp();
      return new Promise<undefined>(() => {});
    };
    for (const [rows, begun] of [
      [table, asked],
      [silentLookup, lookedUp],
    ] as const) {
      const abort = new AbortController();
      const source = {
        signal: abort.signal,
        async *pages() {
          yield { items: calls, checkpoint: null };
        },
      };
      const all = through(source, join<(typeof costs)[0]>(rows, { on: 'ppc_campaign_id' })).toArray();
      await begun;
      abort.abort(new Error('too late'));
      await expect(all).rejects.toThrow('too late');
    }
  });

  it('keeps the table for another run that waits for it, when one is left', async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    async function* late() {
      await answered;
      yield* costs;
    }
    const operator = join<(typeof costs)[0]>(late(), { on: 'ppc_campaign_id' });
    const gone = operator(calls)[Symbol.asyncIterator]();
    const waiting = gone.next();
    const other = costOf(operator);
    await new Promise((resolve) => setImmediate(resolve));
    await gone.return?.();
    answer();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await other).toEqual(left);
  });

  it('refuses a table that comes once and was left in its middle', async () => {
    async function* broken() {
      yield* costs;
      throw new Error('no more rows');
    }
    const operator = join<(typeof costs)[0]>(broken(), { on: 'ppc_campaign_id' });
    await expect(costOf(operator)).rejects.toThrow('no more rows');
    await expect(costOf(operator)).rejects.toThrow(/can be read only once; pass an array/);
  });

  it('needs the key of a row when `on` is a function', () => {
    expect(() => join(costs, { on: ({ ppc_campaign_id }) => ppc_campaign_id })).toThrow(
      /so key is needed too/,
    );
  });
});
