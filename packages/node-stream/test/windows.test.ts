import { type Call, ConfigurationError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregate, count, type Measure, sessions, sum, topN, tumbling } from '../src/operators/index.ts';
import { all, callOf } from './calls-of.ts';
import { After, paged } from './paged.ts';

const at = (time: string, sid = time, talk = '1.0') =>
  callOf({ sid, date_added: `2024-01-01 ${time}`, talk_minutes: talk });
const mark = (to: string) => new After({ to: `2024-01-01 ${to}` });
const rows = async (source: AsyncIterable<unknown>) =>
  (await all(source)).map((row) =>
    Object.values(row as object).map((value) => String(value).replace('2024-01-01 ', '')),
  );

describe('tumbling', () => {
  it('divides time into adjacent windows that include their lower end and exclude their upper end', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count(), minutes: sum('talk_minutes') } });
    const calls = [at('08:00:00'), at('08:59:59', 'b', '0.1'), at('09:00:00', 'c', '0.2'), at('11:30:00')];
    expect(await rows(hours(calls))).toEqual([
      ['08:00:00', '09:00:00', '2', '1.1'],
      ['09:00:00', '10:00:00', '1', '0.2'],
      ['11:00:00', '12:00:00', '1', '1'],
    ]);
  });

  it('begins days at midnight and weeks on Monday', async () => {
    const day = tumbling({ size: '1d', measures: { calls: count() } });
    expect(await all(day([at('23:59:59')]))).toEqual([
      { from: '2024-01-01 00:00:00', to: '2024-01-02 00:00:00', calls: 1 },
    ]);
    const week = tumbling({ size: '7d', measures: { calls: count() } });
    const sunday = callOf({ sid: 'a', date_added: '2024-01-07 12:00:00' });
    expect(await all(week([sunday]))).toEqual([
      { from: '2024-01-01 00:00:00', to: '2024-01-08 00:00:00', calls: 1 },
    ]);
  });

  it('closes windows when the source says that their time has passed', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count() } });
    const calls = [
      at('09:10:00', 'b'),
      at('08:10:00'),
      mark('09:30:00'),
      at('09:40:00', 'c'),
      mark('12:00:00'),
    ];
    const pages: string[][][] = [];
    for await (const { items } of hours(paged(calls)).pages())
      if (items.length > 0) pages.push(await rows(paged(items)));
    expect(pages).toEqual([[['08:00:00', '09:00:00', '1']], [['09:00:00', '10:00:00', '2']]]);
  });

  it('keeps windows open for `lateness` after their time has passed', async () => {
    const hours = tumbling({ size: '1h', lateness: '30m', measures: { calls: count() } });
    const calls = [at('08:10:00'), mark('09:00:00'), at('08:50:00', 'late'), mark('09:30:00')];
    expect(await rows(hours(paged(calls)))).toEqual([['08:00:00', '09:00:00', '2']]);
  });

  it('goes by the latest call when there is a lateness and the source knows no time', async () => {
    const hours = tumbling({ size: '1h', lateness: '10m', measures: { calls: count() } });
    const seen: unknown[] = [];
    let given = 0;
    async function* source() {
      for (const call of [
        at('08:10:00'),
        at('09:05:00', 'b'),
        at('08:59:00', 'c'),
        at('09:10:00', 'd'),
        at('09:20:00', 'e'),
      ]) {
        given += 1;
        yield call;
        // A source that pauses: what it has at hand goes on together.
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    for await (const row of hours(source())) seen.push([given, (row as { calls: number }).calls]);
    expect(seen).toEqual([
      [4, 2],
      [5, 3],
    ]);
  });

  it('fails on a late call unless onLate drops it or takes it', async () => {
    const calls = [at('08:10:00'), mark('09:00:00'), at('08:50:00', 'late')];
    const measures = { calls: count() };
    await expect(all(tumbling({ size: '1h', measures })(paged(calls)))).rejects.toThrow(
      /call late arrived after its window had closed; raise lateness/,
    );
    expect(await rows(tumbling({ size: '1h', measures, onLate: 'drop' })(paged(calls)))).toEqual([
      ['08:00:00', '09:00:00', '1'],
    ]);
    const late: string[] = [];
    await all(tumbling({ size: '1h', measures, onLate: ({ sid }) => late.push(sid) })(paged(calls)));
    expect(late).toEqual(['late']);
  });

  it('names the call whose time cannot be read', async () => {
    const odd = callOf({ sid: 'odd', date_added: '2024-02-30 00:00:00' });
    await expect(all(tumbling({ size: '1h', measures: { calls: count() } })([odd]))).rejects.toThrow(
      /time of call odd cannot be read/,
    );
  });

  it('groups inside each window', async () => {
    const hours = tumbling({ size: '1h', by: ['channel'], measures: { calls: count() } });
    const calls = [
      at('08:00:01'),
      callOf({ sid: 'x', channel: 'Call Extension' }),
      at('08:00:02'),
      at('09:00:02'),
    ];
    expect(await rows(hours(calls))).toEqual([
      ['08:00:00', '09:00:00', 'Tracker', '2'],
      ['08:00:00', '09:00:00', 'Call Extension', '1'],
      ['09:00:00', '10:00:00', 'Tracker', '1'],
    ]);
  });
});

describe('windows over slices', () => {
  it('counts in each window exactly the calls of its range, whatever their order and wherever the slices end', async () => {
    const minutes = fc.integer({ min: 0, max: 600 });
    const slices = fc.array(fc.array(minutes, { maxLength: 12 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(slices, fc.integer({ min: 1, max: 60 }), async (lists, step) => {
        const base = Date.UTC(2024, 0, 1);
        const text = (minute: number) =>
          new Date(base + minute * 60_000).toISOString().slice(0, 19).replace('T', ' ');
        const input = lists.flatMap((list, slice) => [
          ...list.map((minute, i) =>
            callOf({ sid: `${slice}-${i}`, date_added: text(slice * 601 + minute) }),
          ),
          new After({ to: text((slice + 1) * 601) }),
        ]);
        const sids = () => {
          const found: string[] = [];
          return { add: ({ sid }: Call) => void found.push(sid), result: () => found };
        };
        const windows = tumbling({ size: step * 60_000, measures: { in: sids } });
        const output = await all(windows(paged(input)));
        const calls = input.flatMap((item) => (item instanceof After ? [] : [item]));
        for (const { from, to, in: inside } of output) {
          const expected = calls
            .filter((call) => call.date_added >= from && call.date_added < to)
            .map(({ sid }) => sid);
          expect(inside).toEqual(expected);
        }
        expect(output.reduce((sum, row) => sum + row.in.length, 0)).toBe(calls.length);
        expect(output.map(({ from }) => from)).toEqual(output.map(({ from }) => from).sort());
      }),
      { numRuns: Number(process.env.CALLS_RUNS ?? 50) },
    );
  });
});

describe('windows of the calendar', () => {
  const days = (...times: string[]) => times.map((date_added) => callOf({ sid: date_added, date_added }));

  it.each([
    ['day', ['2024-02-28 23:59:59', '2024-02-29 00:00:00'], ['2024-02-28', '2024-02-29'], '2024-03-01'],
    ['week', ['2024-12-29 12:00:00', '2024-12-30 00:00:00'], ['2024-12-23', '2024-12-30'], '2025-01-06'],
    ['month', ['2024-02-29 23:59:59', '2024-12-31 08:00:00'], ['2024-02-01', '2024-12-01'], '2025-01-01'],
  ] as const)('%s', async (size, times, begins, last) => {
    const found = await all(tumbling({ size, measures: { calls: count() } })(days(...times)));
    expect(found.map(({ from, calls }) => [from, calls])).toEqual(
      begins.map((day) => [`${day} 00:00:00`, 1]),
    );
    expect(found.at(-1)?.to).toBe(`${last} 00:00:00`);
  });

  it('refuses a length that makes no sense', () => {
    expect(() => tumbling({ size: 10, measures: { calls: count() } })).toThrow(ConfigurationError);
    expect(() => tumbling({ size: 'an hour' as '1h', measures: { calls: count() } })).toThrow(/size must be/);
  });

  it('does with a call without a time what onInvalid says', async () => {
    const odd = callOf({ sid: 'odd', date_added: 'never' });
    const measures = { calls: count() };
    expect(await all(tumbling({ size: 'day', measures, onInvalid: 'drop' })([odd]))).toEqual([]);
    const invalid: string[] = [];
    await all(tumbling({ size: 'day', measures, onInvalid: ({ sid }) => invalid.push(sid) })([odd]));
    expect(invalid).toEqual(['odd']);
  });
});

describe('sessions', () => {
  const calls = (...times: string[]) =>
    times.map((time, i) => callOf({ sid: `${i}`, ani: '1', date_added: `2024-01-01 ${time}` }));
  const measures = { calls: count() };

  it('ends a session where no call comes for the gap, and joins two that a call lies between', async () => {
    const byCaller = sessions({ gap: '30m', by: ['ani'], measures });
    const found = await rows(byCaller(calls('08:00:00', '08:29:59', '09:00:00', '10:00:00', '09:29:00')));
    expect(found).toEqual([
      ['08:00:00', '08:29:59', '1', '2'],
      ['09:00:00', '09:29:00', '1', '2'],
      ['10:00:00', '10:00:00', '1', '1'],
    ]);
    expect(await rows(byCaller(calls('08:00:00', '08:50:00', '08:25:00')))).toEqual([
      ['08:00:00', '08:50:00', '1', '3'],
    ]);
  });

  it('fails on a late call unless onLate takes it', async () => {
    const late = [...calls('08:00:00'), new After({ to: '2024-01-01 10:00:00' }), ...calls('08:10:00')];
    await expect(all(sessions({ gap: '5m', measures })(paged(late)))).rejects.toThrow(/arrived after/);
    expect(await rows(sessions({ gap: '5m', measures, onLate: 'drop' })(paged(late)))).toHaveLength(1);
  });
});

describe('topN', () => {
  const strengths = [
    { day: 'a', n: 1, name: 'x' },
    { day: 'a', n: 3, name: 'y' },
    { day: 'a', n: 3, name: 'z' },
    { day: 'b', n: null, name: 'u' },
    { day: 'b', n: 2, name: 'v' },
  ];

  it('keeps the strongest of each group; of equal ones the first, and none without a value', async () => {
    const names = async (options: Parameters<typeof topN<(typeof strengths)[number]>>[0]) =>
      (await all(topN<(typeof strengths)[number]>(options)(strengths))).map(({ name }) => name);
    expect(await names({ count: 2, by: 'n', within: 'day' })).toEqual(['y', 'z', 'v']);
    expect(await names({ count: 1, by: 'n' })).toEqual(['y']);
    expect(await names({ count: 9, by: ({ n }) => n })).toEqual(['y', 'z', 'v', 'x']);
  });
});

describe('aggregate', () => {
  it('keeps types apart, and refuses what cannot be compared', async () => {
    const by = aggregate<{ items: Measure<number, { k: unknown }> }, 'k', { k: unknown }>({
      by: ['k'],
      measures: { items: count() },
    });
    const items = [true, 'true', 1, '1', null, undefined, 1].map((k) => ({ k }));
    expect((await all(by(items))).map(({ k, items }) => [k, items])).toEqual([
      [true, 1],
      ['true', 1],
      [1, 2],
      ['1', 1],
      [null, 2],
    ]);
    for (const k of [{}, [], Number.NaN, 1n])
      await expect(all(by([{ k }]))).rejects.toThrow(/expected a string, a finite number/);
  });

  it('gives one row per group, in the order the groups were first seen', async () => {
    const calls = [
      callOf({ sid: 'a', talk_minutes: '1.5' }),
      callOf({ sid: 'b', channel: 'Call Extension', talk_minutes: '0.1' }),
      callOf({ sid: 'c', talk_minutes: '0.2' }),
    ];
    const byChannel = aggregate({
      by: ['channel'],
      measures: { calls: count(), minutes: sum('talk_minutes') },
    });
    expect(await all(byChannel(calls))).toEqual([
      { channel: 'Tracker', calls: 2, minutes: 1.7 },
      { channel: 'Call Extension', calls: 1, minutes: 0.1 },
    ]);
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
    expect(await all(places(calls))).toEqual([
      { where: 'a,b', state: 'c', day: '2024-01-01', calls: 1 },
      { where: 'a', state: 'b,c', day: '2024-01-01', calls: 1 },
      { where: null, state: null, day: '2024-01-01', calls: 1 },
    ]);
  });

  it('makes one row of everything without a key, and no row of nothing', async () => {
    const totals = aggregate({ measures: { calls: count() } });
    expect(await all(totals([callOf({ sid: 'a' })]))).toEqual([{ calls: 1 }]);
    expect(await all(totals([]))).toEqual([]);
  });

  it('refuses a column that appears twice, and more groups than allowed', async () => {
    expect(() => aggregate({ by: ['channel'], measures: { channel: count() } })).toThrow(
      /column channel appears twice/,
    );
    const bySid = aggregate({ by: ['sid'], measures: { calls: count() }, maxGroups: 2 });
    const calls = ['a', 'b', 'c'].map((sid) => callOf({ sid }));
    await expect(all(bySid(calls))).rejects.toThrow(/more than 2 groups by sid; group by something coarser/);
  });
});
