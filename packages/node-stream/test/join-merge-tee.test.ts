import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Chain, join, mergeOrdered, tee, through } from '../src/operators/index.ts';
import { all, callOf } from './calls-of.ts';
import { After, paged } from './paged.ts';

const runs = { numRuns: Number(process.env.CALLS_RUNS ?? 60) };

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

const second = (n: number) =>
  new Date(Date.UTC(2024, 0, 1) + n * 1000).toISOString().slice(0, 19).replace('T', ' ');

describe('mergeOrdered', () => {
  const lists = fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 20 }), { maxLength: 5 });
  const callsOf = (numbers: readonly number[], account: number) =>
    numbers.map((n, i) => callOf({ sid: `${account}-${String(i).padStart(3, '0')}`, date_added: second(n) }));
  const inOrder = (calls: readonly { sid: string; date_added: string }[]) =>
    [...calls]
      .sort((a, b) => a.date_added.localeCompare(b.date_added) || (a.sid < b.sid ? -1 : 1))
      .map(({ sid }) => sid);
  const sids = async (stream: AsyncIterable<unknown>) =>
    (await all(stream)).map((call) => (call as { sid: string }).sid);

  it('merges the calls of all sources in order of time and sid', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (numbers) => {
        const sources = numbers.map((list, account) =>
          callsOf(
            [...list].sort((a, b) => a - b),
            account,
          ),
        );
        expect(await sids(mergeOrdered(sources))).toEqual(inOrder(sources.flat()));
      }),
      runs,
    );
  });

  it('accepts sources that are out of order by no more than `lateness`', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (numbers) => {
        const sources = numbers.map((list, account) => callsOf(list, account));
        expect(await sids(mergeOrdered(sources, { lateness: '50s' }))).toEqual(inOrder(sources.flat()));
      }),
      runs,
    );
  });

  it('accepts any order inside the slices of sources that know how far time has come, and knows it itself', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(lists, { minLength: 1, maxLength: 3 }), async (accounts) => {
        const sources = accounts.map((slices, account) =>
          slices.flatMap((list, slice) => [
            ...callsOf(
              list.map((n) => n + slice * 51),
              account,
            ).map((call) => ({ ...call, sid: `${slice}-${call.sid}` })),
            new After({ to: second((slice + 1) * 51) }),
          ]),
        );
        const merged: ReturnType<typeof callOf>[] = [];
        let latest = '';
        for await (const page of mergeOrdered(sources.map((items) => paged(items))).pages()) {
          for (const call of page.items) expect(call.date_added >= latest).toBe(true);
          latest = page.items.at(-1)?.date_added ?? latest;
          merged.push(...page.items);
        }
        const calls = sources.flat().flatMap((item) => (item instanceof After ? [] : [item]));
        expect(merged.map(({ sid }) => sid)).toEqual(inOrder(calls));
      }),
      runs,
    );
  });

  it('names the source that is not in order', async () => {
    const sources = [callsOf([1, 2, 3], 0), callsOf([1, 5, 3], 1)];
    await expect(all(mergeOrdered(sources))).rejects.toThrow(
      /source 1 is not in order of time; raise lateness/,
    );
  });

  it('drops an item that is late, or gives it to a function', async () => {
    const time = (at: string) => callOf({ sid: at, date_added: `2024-05-01 ${at}` });
    const sources = () => [['08:00:00', '09:00:00', '08:30:00', '10:00:00'].map(time), [time('09:30:00')]];
    const merged = async (onLate: 'drop' | ((call: { readonly sid: string }) => void)) =>
      (await all(mergeOrdered(sources(), { onLate }))).map(({ sid }) => sid);
    const inOrder = ['08:00:00', '09:00:00', '09:30:00', '10:00:00'];
    expect(await merged('drop')).toEqual(inOrder);
    const late: string[] = [];
    expect(await merged(({ sid }) => void late.push(sid))).toEqual(inOrder);
    expect(late).toEqual(['08:30:00']);
  });

  it('fails with the first source that fails and ends the others', async () => {
    const other = Readable.from(callsOf([1, 2, 3, 4, 5, 6], 0));
    async function* broken() {
      yield callOf({ sid: 'x', date_added: second(2) });
      throw new Error('account 1 is gone');
    }
    const seen: string[] = [];
    const read = async () => {
      for await (const { sid } of mergeOrdered([other, broken()])) seen.push(sid);
    };
    await expect(read()).rejects.toThrow('account 1 is gone');
    expect(seen).toContain('x');
    await vi.waitUntil(() => other.destroyed);
  });

  it('ends its sources when the loop is left, even one that is silent', async () => {
    const silent = new Readable({ objectMode: true, read() {} });
    const merged = mergeOrdered([Readable.from(callsOf([1, 2], 0)), silent]);
    const items = merged[Symbol.asyncIterator]();
    void items.next();
    await new Promise((resolve) => setImmediate(resolve));
    await items.return?.();
    await vi.waitUntil(() => silent.destroyed);
  });
});

describe('tee', () => {
  const numbers = Array.from({ length: 500 }, (_, i) => i);

  it('gives everything to each reader', async () => {
    const branches = tee(Readable.from(numbers), 3);
    expect(await Promise.all(branches.map((branch) => all(branch)))).toEqual([numbers, numbers, numbers]);
  });

  it('goes at the pace of the slowest reader', async () => {
    let given = 0;
    function* source() {
      for (const n of numbers) {
        given = n;
        yield n;
      }
    }
    const [fast, slow] = tee(source());
    const eager = all(fast);
    let taken = 0;
    for await (const n of slow) {
      await new Promise((resolve) => setImmediate(resolve));
      taken = n;
      expect(given - taken).toBeLessThanOrEqual(512);
    }
    expect(await eager).toEqual(numbers);
  });

  it('continues for the others when one reader leaves', async () => {
    const [one, two] = tee(Readable.from(numbers));
    const rest = all(two);
    for await (const n of one) if (n === 40) break;
    expect(await rest).toEqual(numbers);
  });

  it('ends the source when all readers have left', async () => {
    const source = Readable.from(numbers);
    const branches: Chain<number>[] = tee(source);
    await Promise.all(
      branches.map(async (branch) => {
        for await (const n of branch) if (n === 3) break;
      }),
    );
    await vi.waitUntil(() => source.destroyed);
  });

  it('fails every branch when the source fails', async () => {
    async function* broken() {
      yield 1;
      throw new Error('gone');
    }
    const results = await Promise.allSettled(tee(broken()).map((branch) => all(branch)));
    expect(results.map((result) => result.status === 'rejected' && String(result.reason.message))).toEqual([
      'gone',
      'gone',
    ]);
  });

  it('works in pipelines', async () => {
    const [one, two] = tee(numbers);
    let total = 0;
    await Promise.all([
      pipeline(one, async (items) => {
        for await (const n of items) total += n;
      }),
      pipeline(two, async (items) => {
        for await (const n of items) total -= n;
      }),
    ]);
    expect(total).toBe(0);
  });
});
