import { type Call, ConfigurationError } from '@call-attribution/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { count, type Measure, sessions, sum, tumbling } from '../src/operators/index.ts';
import { all, callOf } from './calls-of.ts';
import { Paged } from './paged.ts';

const at = (time: string, sid = time, talk = '1.0') =>
  callOf({ sid, date_added: `2024-01-01 ${time}`, talk_minutes: talk });
/** The calls of a page, and how far time has come with it. */
const until = (to: string, ...items: Call[]) => ({ items, to: `2024-01-01 ${to}` });
const rows = async (source: AsyncIterable<unknown>) =>
  (await all(source)).map((row) =>
    Object.values(row as object).map((value) => String(value).replace('2024-01-01 ', '')),
  );

describe('tumbling', () => {
  it('divides time into adjacent windows that include their lower end and exclude their upper end', async () => {
    const hours = tumbling({
      size: '1h',
      measures: { calls: count(), minutes: sum('talk_minutes') },
    });
    const calls = [
      at('08:00:00'),
      at('08:59:59', 'b', '0.1'),
      at('09:00:00', 'c', '0.2'),
      at('11:30:00'),
    ];
    expect(await rows(hours(calls))).toEqual([
      ['08:00:00', '09:00:00', '2', '1.1'],
      ['09:00:00', '10:00:00', '1', '0.2'],
      ['11:00:00', '12:00:00', '1', '1'],
    ]);
  });

  it('closes windows when the source says that their time has passed', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count() } });
    const calls = new Paged([
      until('10:30:00', at('09:10:00', 'b'), at('08:10:00')),
      until('13:00:00', at('09:40:00', 'c')),
    ]);
    const found: number[][] = [];
    for await (const { items } of hours(calls).pages()) found.push(items.map(({ calls }) => calls));
    expect(found).toEqual([[1], [2], []]);
  });

  it('takes calls of an hour before, which come where clocks are set back', async () => {
    const hours = tumbling({ size: '1h', measures: { calls: count() } });
    const calls = [
      until('09:00:00', at('08:10:00')),
      until('11:00:00', at('08:00:00', 'again'), at('09:00:00')),
    ];
    expect(await rows(hours(new Paged(calls)))).toEqual([
      ['08:00:00', '09:00:00', '2'],
      ['09:00:00', '10:00:00', '1'],
    ]);
  });

  it('fails on a call whose time was changed to one that has passed', async () => {
    const calls = new Paged([
      until('10:00:00', at('08:10:00')),
      until('11:00:00', at('08:50:00', 'late')),
    ]);
    await expect(
      all(tumbling({ size: '1h', measures: { calls: count() } })(calls)),
    ).rejects.toThrow(/an item in call late arrived after its window had closed/);
  });

  it('names the call whose time cannot be read', async () => {
    const odd = callOf({ sid: 'odd', date_added: '2024-02-30 00:00:00' });
    await expect(
      all(tumbling({ size: '1h', measures: { calls: count() } })([odd])),
    ).rejects.toThrow(/time in call odd cannot be read/);
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
        const input = lists.map((list, slice) => ({
          items: list.map((minute, i) =>
            callOf({ sid: `${slice}-${i}`, date_added: text(slice * 601 + minute) }),
          ),
          to: text((slice + 1) * 601),
        }));

        const sids = () => {
          const found: string[] = [];
          return {
            add: ({ sid }: Call) => void found.push(sid),
            result: () => found,
            save: () => found,
            merge: (saved: unknown) => void found.push(...(saved as string[])),
          };
        };

        const windows = tumbling({ size: step * 60_000, measures: { in: sids } });
        const output = await all(windows(new Paged(input)));
        const calls = input.flatMap(({ items }) => items);
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

describe('days, weeks and months', () => {
  const days = (...times: string[]) =>
    times.map((date_added) => callOf({ sid: date_added, date_added }));

  it.each([
    [
      'day',
      ['2024-02-28 23:59:59', '2024-02-29 00:00:00'],
      ['2024-02-28', '2024-02-29'],
      '2024-03-01',
    ],
    [
      '1d',
      ['2024-02-28 23:59:59', '2024-02-29 00:00:00'],
      ['2024-02-28', '2024-02-29'],
      '2024-03-01',
    ],
    [
      '7d',
      ['2024-12-29 12:00:00', '2024-12-30 00:00:00'],
      ['2024-12-23', '2024-12-30'],
      '2025-01-06',
    ],
    [
      'week',
      ['2024-12-29 12:00:00', '2024-12-30 00:00:00'],
      ['2024-12-23', '2024-12-30'],
      '2025-01-06',
    ],
    [
      'month',
      ['2024-02-29 23:59:59', '2024-12-31 08:00:00'],
      ['2024-02-01', '2024-12-01'],
      '2025-01-01',
    ],
  ] as const)('%s', async (size, times, begins, last) => {
    const found = await all(tumbling({ size, measures: { calls: count() } })(days(...times)));
    expect(found.map(({ from, calls }) => [from, calls])).toEqual(
      begins.map((day) => [`${day} 00:00:00`, 1]),
    );
    expect(found.at(-1)?.to).toBe(`${last} 00:00:00`);
  });

  it('refuses a length that makes no sense', () => {
    expect(() => tumbling({ size: 10, measures: { calls: count() } })).toThrow(ConfigurationError);
    expect(() => tumbling({ size: 'an hour' as '1h', measures: { calls: count() } })).toThrow(
      /size is "an hour"/,
    );
  });
});

describe('sessions', () => {
  const calls = (...times: string[]) =>
    times.map((time, i) => callOf({ sid: `${i}`, ani: '1', date_added: `2024-01-01 ${time}` }));
  const measures = { calls: count() };
  const base = Date.UTC(2024, 0, 1);

  it('ends a session where no call comes for the gap, and joins two that a call lies between', async () => {
    const byCaller = sessions({ gap: '30m', by: ['ani'], measures });
    const found = await rows(
      byCaller(calls('08:00:00', '08:29:59', '09:00:00', '10:00:00', '09:29:00')),
    );
    expect(found).toEqual([
      ['08:00:00', '08:29:59', '1', '2'],
      ['09:00:00', '09:29:00', '1', '2'],
      ['10:00:00', '10:00:00', '1', '1'],
    ]);
    expect(await rows(byCaller(calls('08:00:00', '08:50:00', '08:25:00')))).toEqual([
      ['08:00:00', '08:50:00', '1', '3'],
    ]);
  });

  it('fails on a call whose time was changed to one that has passed', async () => {
    const late = new Paged([
      until('10:00:00', ...calls('08:00:00')),
      until('11:00:00', ...calls('08:10:00')),
    ]);
    await expect(all(sessions({ gap: '5m', measures })(late))).rejects.toThrow(/arrived after/);
  });

  it('holds hundreds of thousands at the same time, in the time of their number', async () => {
    const many = Array.from({ length: 200_000 }, (_, i) => ({
      ani: i,
      date_added: new Date(base + i * 1000).toISOString().slice(0, 19).replace('T', ' '),
    }));
    const found = sessions<
      { calls: Measure<number, (typeof many)[number]> },
      'ani',
      (typeof many)[number]
    >({
      gap: '30d',
      by: ['ani'],
      measures: { calls: count() },
    });
    expect(await found(many).toArray()).toHaveLength(200_000);
  });
});
