import { faults, fixtureCalls, startHostileServer } from '@call-attribution/core/testing';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createCallStream,
  openSlices,
  type PlanProgress,
  type PlanSlicesOptions,
  planSlices,
  type SlicePlan,
  sliceFilter,
  type TimeSlice,
} from '../src/index.ts';
import { type CountBehaviour, CountServer } from './count-server.ts';
import { FakeServer, fakeRecords } from './fake-server.ts';
import { hostileClient } from './laws/hostile.ts';

const second = 1000;
const day = 86_400 * second;
const start = Date.UTC(2025, 0, 1);
const to = '2026-01-01 00:00:00';

/** Times with a seed of their own, the same in each run. */
function flow(count: number, days: number, weightAt: (hour: number, weekday: number) => number): number[] {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const times: number[] = [];
  while (times.length < count) {
    const at = Math.floor(random() * days * 86_400) * second;
    if (random() < weightAt((at / 3_600_000) % 24, Math.floor(at / day) % 7)) times.push(start + at);
  }
  return times;
}

const even = flow(12_000, 360, () => 1);
const office = flow(
  12_000,
  360,
  (hour, weekday) => (hour > 8 && hour < 20 ? 1 : 0.04) * (weekday < 5 ? 1 : 0.3),
);

/** What holds for every plan: no gap, no overlap, and each total is what the slice holds. */
function expectWhole(server: CountServer, plan: SlicePlan): void {
  const { slices, from } = plan;
  expect(slices[0]?.from).toBe(from);
  expect(slices.at(-1)?.to).toBe(plan.to);
  expect(slices.slice(1).map((slice) => slice.from)).toEqual(slices.slice(0, -1).map(({ to }) => to));
  expect(slices.every((slice) => (slice.from ?? '') < slice.to)).toBe(true);
  const before = (time: string | null) => (time === null ? 0 : server.countBefore(parseNaive(time)));
  expect(slices.map(({ total }) => total)).toEqual(
    slices.map((slice) => before(slice.to) - before(slice.from)),
  );
  expect(plan.total).toBe(before(plan.to) - before(from));
  expect(plan.requests).toBe(server.filters.length);
}

/** The first slice may be open below, where nothing lies. */
function expectWithinMonths({ slices }: SlicePlan): void {
  for (const { from, to } of slices)
    if (from !== null) expect(formatNaive(parseNaive(to) - second).slice(0, 7)).toBe(from.slice(0, 7));
}

describe('planSlices', () => {
  const orders = ['earliest', 'latest', 'any'] as const;
  test.each(
    orders.flatMap((order) => [
      ['an even flow', even, order, 500] as const,
      ['days and nights', office, order, 1000] as const,
      ['days and nights in small slices', office, order, 200] as const,
    ]),
  )('%s, $2 calls first: few requests, slices of about one size', async (_, times, order, records) => {
    const server = new CountServer(times, { order });
    const plan = await planSlices(server, { to, records });
    expectWhole(server, plan);
    expect(plan.bounds).toBe('half-open');
    expect(plan.requests).toBeLessThanOrEqual(1.35 * plan.slices.length + 6);
    const sizes = plan.slices.map(({ total }) => total / records);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(0.2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1.3);
  });

  test('by month: no slice reaches across the end of a month, and there are none of empty months before the first call', async () => {
    for (const order of orders) {
      const server = new CountServer(office, { order });
      const plan = await planSlices(server, { to, records: 1000, by: 'month' });
      expectWhole(server, plan);
      expectWithinMonths(plan);
      expect(plan.slices[0]?.to.slice(0, 4)).toBe('2025');
      expect(plan.requests).toBeLessThanOrEqual(1.35 * plan.slices.length + 9);
    }
  });

  test('by month: many empty months take few requests', async () => {
    const times = [...even.slice(0, 500), ...even.slice(0, 500).map((time) => time - 12 * 366 * day)];
    const server = new CountServer(times);
    const plan = await planSlices(server, { from: '2005-01-01 00:00:00', to, records: 400, by: 'month' });
    expectWhole(server, plan);
    expect(plan.slices.length).toBeGreaterThanOrEqual(21 * 12);
    expect(plan.requests).toBeLessThan(60);
  });

  const behaviours = fc.record({
    order: fc.constantFrom(...orders),
    reads: fc.constantFrom(undefined, 'no }' as const, '} as ]' as const),
  });
  // Heaps in single seconds, rushes and long silence, in one account.
  const accounts = fc
    .array(
      fc.record({
        at: fc.integer({ min: 0, max: 364 * 86_400 }),
        count: fc.integer({ min: 1, max: 300 }),
        step: fc.constantFrom(0, 0, 1, 60, 3600),
      }),
      { maxLength: 8 },
    )
    .map((rushes) =>
      rushes.flatMap(({ at, count, step }) =>
        Array.from({ length: count }, (_, i) => start + (at + i * step) * second),
      ),
    );

  test('whatever the calls lie like: no gap, no overlap, right totals, and only full seconds make a slice too large', () =>
    fc.assert(
      fc.asyncProperty(
        accounts,
        behaviours,
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(null, '2024-11-05 00:00:00', '2025-06-30 23:59:59'),
        fc.constantFrom('none' as const, 'month' as const),
        async (times, behaviour, records, from, by) => {
          const server = new CountServer(times, behaviour as CountBehaviour);
          const plan = await planSlices(server, { to, records, from, by });
          expectWhole(server, plan);
          if (by === 'month') expectWithinMonths(plan);
          if (plan.total > 0) expect(plan.bounds).toBe(behaviour.reads ? 'closed' : 'half-open');
          const fullest = (slice: TimeSlice) => {
            const counts = new Map<number, number>();
            for (const time of times)
              if (time >= parseNaive(slice.from ?? '1000-01-01 00:00:00') && time < parseNaive(slice.to))
                counts.set(time, (counts.get(time) ?? 0) + 1);
            return Math.max(0, ...counts.values());
          };
          for (const slice of plan.slices)
            if (slice.total > 1.3 * records) expect(fullest(slice)).toBeGreaterThan(0.9 * records);
        },
      ),
      { numRuns: 25 },
    ));

  test('an empty account is one slice, for one request', async () => {
    const server = new CountServer([]);
    expect(await planSlices(server, { to, records: 1000, by: 'month' })).toEqual({
      bounds: 'closed',
      from: null,
      to,
      slices: [{ from: null, to, total: 0 }],
      total: 0,
      requests: 1,
    });
  });

  test('an account whose calls all lie in one second is one slice, found with few requests', async () => {
    const server = new CountServer(Array.from({ length: 5000 }, () => start));
    const plan = await planSlices(server, { to, records: 100 });
    expect(plan.slices).toEqual([{ from: null, to, total: 5000 }]);
    expect(plan.requests).toBeLessThan(10);
  });

  test('a range of date_added in the filter is what is cut', async () => {
    const server = new CountServer(even);
    const filter = 'date_added:{2025-03-01 00:00:00 TO 2025-04-30 23:59:59],talk_minutes:[1 TO *]';
    const plan = await planSlices(server, { filter, from: '2025-02-01 00:00:00', to, records: 1000 });
    expect(plan).toMatchObject({ from: '2025-03-01 00:00:01', to: '2025-05-01 00:00:00' });
    expectWhole(server, plan);
    expect(server.filters.every((text) => text.includes('talk_minutes:[1 TO *]'))).toBe(true);
  });

  test('a server that refuses } or takes it for ] gets closed ranges', async () => {
    for (const reads of ['no }', '} as ]'] as const) {
      const server = new CountServer(even, { reads });
      const plan = await planSlices(server, { to, records: 1500 });
      expect(plan.bounds).toBe('closed');
      expectWhole(server, plan);
      expect(server.filters.filter((text) => text.includes('}'))).toHaveLength(1);
    }
  });

  test.each(['no ranges', 'no lower end', 'no upper end'] as const)(
    'a server that reads %s is refused, whatever comes first in its lists',
    async (reads) => {
      for (const order of orders) {
        const server = new CountServer(even, { reads, order });
        await expect(planSlices(server, { to, records: 1000 })).rejects.toMatchObject({
          name: 'StreamError',
          code: 'range_ignored',
        });
        expect(server.filters.length).toBeLessThan(200);
      }
    },
  );

  test('a server without totals is refused', () =>
    expect(
      planSlices(new CountServer(even, { hasNoTotal: true }), { to, records: 1000 }),
    ).rejects.toMatchObject({
      name: 'IncompleteError',
      code: 'incomplete',
      isRetryable: false,
      message: expect.stringContaining('the server gave no total'),
    }));

  test('a list that moves all the time is planned without a gap', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: -3, max: 6 }), { minLength: 1, maxLength: 20 }),
        async (moves) => {
          let turn = 0;
          const server = new CountServer(even.slice(0, 3000), {
            before: (self) => {
              const move = moves[turn++ % moves.length] as number;
              if (move < 0) self.times.splice((turn * 37) % self.times.length, -move * 20);
              else
                for (let i = 0; i < move * 20; i += 1)
                  self.times.push(start + ((turn * 7919 + i) % 360) * day);
              self.times.sort((a, b) => a - b);
            },
          });
          const { slices } = await planSlices(server, { to, records: 300 });
          expect(slices[0]?.from).toBeNull();
          expect(slices.at(-1)?.to).toBe(to);
          expect(slices.slice(1).map(({ from }) => from)).toEqual(slices.slice(0, -1).map(({ to }) => to));
          expect(slices.every(({ total }) => total >= 0)).toBe(true);
        },
      ),
      { numRuns: 15 },
    ));

  test('calls that come while it plans are in the last slice', async () => {
    let left = 12;
    const server = new CountServer(even, {
      before: (self) => {
        if (left-- === 0)
          self.times.push(...Array.from({ length: 500 }, (_, i) => start + 362 * day + i * second));
      },
    });
    const plan = await planSlices(server, { to, records: 1000 });
    expect(plan.total).toBe(12_500);
    expectWhole(server, plan);
  });

  test('progress is reported, and a signal ends it', async () => {
    const seen: PlanProgress[] = [];
    const server = new CountServer(even);
    const plan = await planSlices(server, {
      to,
      records: 1500,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.at(-1)).toEqual({
      slices: plan.slices.length,
      planned: 12_000,
      total: 12_000,
      requests: plan.requests,
    });
    const abort = new AbortController();
    const onProgress = () => abort.abort();
    await expect(
      planSlices(server, { to, records: 1500, signal: abort.signal, onProgress }),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test.each<[Partial<Record<keyof PlanSlicesOptions | 'record', unknown>>, string]>([
    [{ to: '2026-01-01' }, "to must be a time as 'YYYY-MM-DD HH:MM:SS'"],
    [{ to: undefined }, "to must be a time as 'YYYY-MM-DD HH:MM:SS'; got nothing"],
    [{ records: undefined }, 'records must be a whole number of at least 1; got nothing'],
    [{ records: 0 }, 'a whole number of at least 1'],
    [{ record: 5 }, 'Did you mean records?'],
    [{ by: 'year' }, "'month' or 'none'"],
    [{ from: to }, 'the end must be later'],
    [{ from: '2026-13-01 00:00:00' }, "a time as 'YYYY-MM-DD HH:MM:SS', or null"],
  ])('%j is refused before anything is sent: %s', async (wrong, words) => {
    const server = new CountServer(even);
    const options = { to, records: 100, ...wrong } as PlanSlicesOptions;
    await expect(planSlices(server, options)).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(words),
    });
    expect(server.filters).toEqual([]);
  });

  test('over real sockets, a server without totals is refused', async () => {
    const server = await startHostileServer({ fault: () => faults.noRange() });
    const client = hostileClient(server);
    await expect(planSlices(client, { to, records: 5 })).rejects.toMatchObject({ code: 'incomplete' });
    expect(server.requests).toHaveLength(1);
    await client.close();
    await server.close();
  });

  test('over real sockets, from a server that fails now and then, the slices read as streams have each record once', async () => {
    const calls = fixtureCalls(250);
    const server = await startHostileServer({
      calls,
      fault: (_, index) =>
        index % 7 === 3 ? faults.status(503) : index % 11 === 5 ? faults.cutBody() : undefined,
    });
    const client = hostileClient(server);
    const filter = 'talk_minutes:[0 TO *]';
    const plan = await planSlices(client, { filter, to, records: 40 });
    expect(plan.total).toBe(250);
    expect(plan.slices.length).toBeGreaterThan(5);
    const sids: string[] = [];
    for (const slice of plan.slices) {
      const part = sliceFilter(filter, slice, plan.bounds, client.version);
      const stream = createCallStream(client, { filter: part, window: { bounds: plan.bounds } });
      for await (const { sid } of stream) sids.push(sid);
      expect((await stream.verdict).total).toBe(slice.total);
    }
    expect(sids.sort()).toEqual(calls.map(({ sid }) => sid).sort());
    await client.close();
    await server.close();
  });
});

test('sliceFilter writes the range of a slice next to the rest of the filter', () => {
  const slice = { from: '2025-01-01 00:00:00', to: '2025-02-01 00:00:00' };
  expect(sliceFilter('inc_gce:1', slice, 'half-open', 'v3')).toBe(
    'date_added:[2025-01-01 00:00:00 TO 2025-02-01 00:00:00},inc_gce:1',
  );
  expect(sliceFilter(undefined, slice, 'closed', 'v3')).toBe(
    'date_added:[2025-01-01 00:00:00 TO 2025-01-31 23:59:59]',
  );
  expect(sliceFilter('', { from: null, to: slice.to }, 'half-open', 'v3')).toBe(
    'date_added:[* TO 2025-02-01 00:00:00}',
  );
});

test('the slices of a plan with closed ends have each record of a server once', async () => {
  const server = new FakeServer(fakeRecords(500), { exclusive: 'refused' });
  const plan = await planSlices(server, {
    to: '2026-02-01 00:00:00',
    records: 80,
    signal: new AbortController().signal,
  });
  const sids: string[] = [];
  for (const slice of plan.slices) {
    const filter = sliceFilter('', slice, plan.bounds, 'v3');
    for await (const { sid } of createCallStream(server, { filter, window: { bounds: plan.bounds } }))
      sids.push(sid);
  }
  expect(sids).toEqual(server.records.map(({ sid }) => sid));
});

test('openSlices is exactly what the slices leave open', () => {
  const at = fc.option(fc.integer({ min: 0, max: 30 }), { nil: null });
  const text = (time: number | null) => (time === null ? null : formatNaive(start + time * second));
  const slices = fc.tuple(at, at).map(([from, to]) => ({ from: text(from), to: text(to) }));
  const holds = ({ from, to }: TimeSlice, time: string) => (from ?? time) <= time && time < (to ?? '9');
  fc.assert(
    fc.property(fc.array(slices, { maxLength: 8 }), slices, (done, whole) => {
      const open = openSlices(done, whole);
      for (let i = -2; i < 33; i += 1) {
        const time = text(i) as string;
        const isOpen = holds(whole, time) && !done.some((slice) => holds(slice, time));
        expect(open.filter((slice) => holds(slice, time))).toHaveLength(isOpen ? 1 : 0);
      }
      const texts = open.flatMap(({ from, to }) => [from ?? '', to ?? '9']);
      expect(texts).toEqual([...texts].sort());
    }),
    { numRuns: 50 },
  );
});
