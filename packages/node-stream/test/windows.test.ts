import { ConfigurationError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMark, Mark } from '../src/index.ts';
import {
  aggregate,
  collect,
  count,
  createGroupTable,
  sliding,
  sum,
  tumbling,
} from '../src/operators/index.ts';
import { all, callOf } from './calls-of.ts';

const at = (time: string, sid = time, talk = '1.0') =>
  callOf({ sid, date_added: `2024-01-01 ${time}`, talk_minutes: talk });
const mark = (to: string) => new Mark({ to: `2024-01-01 ${to}` });
const rows = async (source: AsyncIterable<unknown>) =>
  (await all(source)).map((row) =>
    isMark(row)
      ? 'mark'
      : Object.values(row as object).map((value) => String(value).replace('2024-01-01 ', '')),
  );

describe('tumbling', () => {
  it('divides time into adjacent windows that include their lower end and exclude their upper end', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count(), minutes: sum('talk_minutes') } });
    const calls = [at('08:00:00'), at('08:59:59', 'b', '0.1'), at('09:00:00', 'c', '0.2'), at('11:30:00')];
    expect(await rows(hours.over(calls))).toEqual([
      ['08:00:00', '09:00:00', '2', '1.1'],
      ['09:00:00', '10:00:00', '1', '0.2'],
      ['11:00:00', '12:00:00', '1', '1'],
    ]);
  });

  it('begins days at midnight and weeks on Monday', async () => {
    const day = tumbling({ size: '1d', measures: { calls: count() } });
    expect(await all(day.over([at('23:59:59')]))).toEqual([
      { from: '2024-01-01 00:00:00', to: '2024-01-02 00:00:00', calls: 1 },
    ]);
    const week = tumbling({ size: '7d', measures: { calls: count() } });
    const sunday = callOf({ sid: 'a', date_added: '2024-01-07 12:00:00' });
    expect(await all(week.over([sunday]))).toEqual([
      { from: '2024-01-01 00:00:00', to: '2024-01-08 00:00:00', calls: 1 },
    ]);
  });

  it('closes windows on marks and passes the mark on after them', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count() } });
    const calls = [
      at('09:10:00', 'b'),
      at('08:10:00'),
      mark('09:30:00'),
      at('09:40:00', 'c'),
      mark('12:00:00'),
    ];
    expect(await rows(hours.over(calls))).toEqual([
      ['08:00:00', '09:00:00', '1'],
      'mark',
      ['09:00:00', '10:00:00', '2'],
      'mark',
    ]);
  });

  it('keeps windows open for `lateness` after a mark', async () => {
    const hours = tumbling({ size: '1h', lateness: '30m', measures: { calls: count() } });
    const calls = [at('08:10:00'), mark('09:00:00'), at('08:50:00', 'late'), mark('09:30:00')];
    expect(await rows(hours.over(calls))).toEqual(['mark', ['08:00:00', '09:00:00', '2'], 'mark']);
  });

  it('goes by the latest call when there is a lateness and no marks', async () => {
    const hours = tumbling({ size: '1h', lateness: '10m', measures: { calls: count() } });
    const seen: unknown[] = [];
    let given = 0;
    function* source() {
      for (const call of [
        at('08:10:00'),
        at('09:05:00', 'b'),
        at('08:59:00', 'c'),
        at('09:10:00', 'd'),
        at('09:20:00', 'e'),
      ]) {
        given += 1;
        yield call;
      }
    }
    for await (const row of hours.over(source())) seen.push([given, (row as { calls: number }).calls]);
    expect(seen).toEqual([
      [4, 2],
      [5, 3],
    ]);
  });

  it('fails on a late call unless onLate drops it or takes it', async () => {
    const calls = [at('08:10:00'), mark('09:00:00'), at('08:50:00', 'late')];
    const measures = { calls: count() };
    await expect(all(tumbling({ size: '1h', measures }).over(calls))).rejects.toThrow(
      /call late arrived after its window had closed; raise lateness/,
    );
    expect(await rows(tumbling({ size: '1h', measures, onLate: 'drop' }).over(calls))).toEqual([
      ['08:00:00', '09:00:00', '1'],
      'mark',
    ]);
    const late: string[] = [];
    await all(tumbling({ size: '1h', measures, onLate: ({ sid }) => late.push(sid) }).over(calls));
    expect(late).toEqual(['late']);
  });

  it('names the call whose time cannot be read', async () => {
    const odd = callOf({ sid: 'odd', date_added: '2024-02-30 00:00:00' });
    await expect(all(tumbling({ size: '1h', measures: { calls: count() } }).over([odd]))).rejects.toThrow(
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
    expect(await rows(hours.over(calls))).toEqual([
      ['08:00:00', '09:00:00', 'Tracker', '2'],
      ['08:00:00', '09:00:00', 'Call Extension', '1'],
      ['09:00:00', '10:00:00', 'Tracker', '1'],
    ]);
  });
});

describe('sliding', () => {
  it('counts a call in each window that contains it', async () => {
    const windows = sliding({ size: '1h', step: '30m', measures: { calls: count() } });
    expect(await rows(windows.over([at('08:10:00'), at('08:40:00')]))).toEqual([
      ['07:30:00', '08:30:00', '1'],
      ['08:00:00', '09:00:00', '2'],
      ['08:30:00', '09:30:00', '1'],
    ]);
  });

  it.each([
    ['a step that does not divide the size', { size: '1h', step: '25m' }],
    ['a step of nothing', { size: '1h', step: 0 }],
    ['a length in words', { size: 'an hour' as '1h', step: '1h' }],
  ] as const)('refuses %s', (_, lengths) => {
    expect(() => sliding({ ...lengths, measures: { calls: count() } })).toThrow(ConfigurationError);
  });

  it('counts in each window exactly the calls of its range, whatever their order and wherever the marks are', async () => {
    const minutes = fc.integer({ min: 0, max: 600 });
    const slices = fc.array(fc.array(minutes, { maxLength: 12 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        slices,
        fc.constantFrom(1, 2, 3, 6),
        fc.integer({ min: 1, max: 60 }),
        async (lists, overlap, step) => {
          const base = Date.UTC(2024, 0, 1);
          const text = (minute: number) =>
            new Date(base + minute * 60_000).toISOString().slice(0, 19).replace('T', ' ');
          const input = lists.flatMap((list, slice) => [
            ...list.map((minute, i) =>
              callOf({ sid: `${slice}-${i}`, date_added: text(slice * 601 + minute) }),
            ),
            new Mark({ to: text((slice + 1) * 601) }),
          ]);
          const windows = sliding({
            size: step * overlap * 60_000,
            step: step * 60_000,
            measures: { in: collect() },
          });
          const output = (await all(windows.over(input))).filter((row) => !isMark(row)) as {
            from: string;
            to: string;
            in: { sid: string; date_added: string }[];
          }[];
          const calls = input.filter((item) => !isMark(item)) as { sid: string; date_added: string }[];
          for (const { from, to, in: inside } of output) {
            const expected = calls
              .filter((call) => call.date_added >= from && call.date_added < to)
              .map(({ sid }) => sid);
            expect(inside.map(({ sid }) => sid)).toEqual(expected);
          }
          expect(output.reduce((sum, row) => sum + row.in.length, 0)).toBe(calls.length * overlap);
          expect(output.map(({ from }) => from)).toEqual(output.map(({ from }) => from).sort());
        },
      ),
      { numRuns: Number(process.env.CALLS_RUNS ?? 50) },
    );
  });
});

describe('aggregate', () => {
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
    expect(await all(byChannel.over(calls))).toEqual([
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
    expect(await all(places.over(calls))).toEqual([
      { where: 'a,b', state: 'c', day: '2024-01-01', calls: 1 },
      { where: 'a', state: 'b,c', day: '2024-01-01', calls: 1 },
      { where: null, state: null, day: '2024-01-01', calls: 1 },
    ]);
  });

  it('has a table that groups items without a stream', () => {
    const table = createGroupTable({ by: ['channel'], measures: { minutes: sum('talk_minutes') } });
    expect(table.rows()).toEqual([]);
    table.add(callOf({ sid: 'a', talk_minutes: '0.1' }));
    table.add(callOf({ sid: 'b', talk_minutes: '0.2' }));
    expect(table.rows()).toEqual([{ channel: 'Tracker', minutes: 0.3 }]);
  });

  it('makes one row of everything without a key, and no row of nothing', async () => {
    const totals = aggregate({ measures: { calls: count() } });
    expect(await all(totals.over([callOf({ sid: 'a' })]))).toEqual([{ calls: 1 }]);
    expect(await all(totals.over([]))).toEqual([]);
  });

  it('refuses a column that appears twice, and more groups than allowed', async () => {
    expect(() => aggregate({ by: ['channel'], measures: { channel: count() } })).toThrow(
      /column channel appears twice/,
    );
    const bySid = aggregate({ by: ['sid'], measures: { calls: count() }, maxGroups: 2 });
    const calls = ['a', 'b', 'c'].map((sid) => callOf({ sid }));
    await expect(all(bySid.over(calls))).rejects.toThrow(
      /more than 2 groups by sid; group by something coarser/,
    );
  });
});
