import { expect } from 'vitest';
import { type CallStreamOptions, createCallStream } from '../../src/read.ts';
import { byTime, type FakeRecord, FakeServer, fakeRecords } from '../fake-server.ts';
import { diceOf } from '../simulator/dice.ts';

// How many requests a read takes, beside a loop over all pages that nothing proves.

const hour = 3600;
const day = 24 * hour;
const year = 365 * day;

/** How calls follow each other in time. */
export const rhythms = {
  even: (count: number) => fakeRecords(count),
  'days and nights': (count: number) =>
    fakeRecords(count, (i) => (i % 80 === 79 ? 14 * hour : 450)),
  'a quiet year': (count: number) => fakeRecords(count, (i) => (i === count >> 1 ? year : 300)),
  'five test calls of 2019': (count: number) => [
    ...fakeRecords(5, () => hour, '2019-02-01 10:00:00').map((one, i) => ({
      ...one,
      sid: `a${i}`,
    })),
    ...fakeRecords(count - 5, () => 320),
  ],
  'one or two calls a day': (count: number) =>
    fakeRecords(count, (i) => (i % 3) * 5 * hour + day / 2 + (i % 7) * 600, '2012-01-01 00:00:00'),
  bursts: (count: number) => fakeRecords(count, (i) => (i % 60 === 59 ? 6 * hour : 5 + (i % 11))),
  'bursts of a call a second': (count: number) =>
    fakeRecords(count, (i) => (i % 60 === 59 ? 6 * hour : 1)),
};
export type Rhythm = keyof typeof rhythms;

const scrambled = ({ sid }: FakeRecord): number => {
  let sum = 7;
  for (let i = 0; i < sid.length; i += 1) sum = (Math.imul(sum, 31) + sid.charCodeAt(i)) | 0;
  return Math.imul(sum, 0x9e3779b1) >>> 8;
};

export const orders = {
  oldest: byTime,
  newest: (a: FakeRecord, b: FakeRecord) => byTime(b, a),
  none: (a: FakeRecord, b: FakeRecord) => scrambled(a) - scrambled(b) || byTime(a, b),
};
export type Order = keyof typeof orders;

/** What is asked for: all of it, so that a quiet time may lie before the first call, and after the last. */
export const periods = {
  'all times': '',
  'until 2030': 'date_added:[* TO 2030-01-01 00:00:00]',
  'from 2010 on': 'date_added:[2010-01-01 00:00:00 TO *]',
  'from 2010 to 2030': 'date_added:[2010-01-01 00:00:00 TO 2030-01-01 00:00:00]',
};
export type Period = keyof typeof periods;

/** A server, and how it is asked. */
export interface Cell extends Pick<CallStreamOptions, 'prefetch'> {
  readonly order: Order;
  readonly period: Period;
  readonly rows: number;
  /** Rows that the server gives at most; null when it gives as many as are asked for. */
  readonly cap: number | null;
}

/**
 * Requests for each page: two where calls come in order, three where they do not, and where whole
 * pages hold a call for each second, so that a page may end between no two of them.
 */
export const mostPerPage = (order: Order, rhythm: Rhythm | null): number =>
  order === 'none' || rhythm === 'bursts of a call a second' ? 3 : 2;

/** A few besides, to find out how the server lists and to count at the end. */
const besides = 10;

/** Reads all records of a server, whole, with no more requests than it may take. */
export async function readsWithin(
  records: readonly FakeRecord[],
  perPage: number,
  { order, period, rows, cap, prefetch }: Cell,
  create = createCallStream,
): Promise<{ requests: number; plain: number }> {
  // As they are listed, so that the server has less to sort.
  const server = new FakeServer(records.toSorted(orders[order]), {
    order: orders[order],
    ...(cap === null ? {} : { clamp: (asked) => Math.min(asked, cap) }),
  });
  const stream = create(server, { rows, filter: periods[period], prefetch });
  const sids: string[] = [];
  for await (const { items } of stream.pages()) sids.push(...items.map(({ sid }) => sid));
  const { proof } = stream.verdict();
  expect({ proof, sids: sids.sort() }).toEqual({
    proof: 'whole',
    sids: records.map(({ sid }) => sid).sort(),
  });
  const requests = server.requests.length;
  const plain = Math.ceil(records.length / Math.min(rows, cap ?? rows));
  expect(requests).toBeLessThanOrEqual(perPage * plain + besides);
  return { requests, plain };
}

/** A list of stretches with a pace of their own, and quiet times between some of them. */
function anyRecords(seed: number): FakeRecord[] {
  const dice = diceOf(seed);
  const count = 100 + dice.below(1500);
  let pace = 60;
  return fakeRecords(
    count,
    () => {
      if (dice.chance(0.02)) pace = dice.pick([3, 20, 60, 600, hour, 5 * hour]);
      if (dice.chance(0.004)) return dice.pick([day, 30 * day, year]);
      return 1 + dice.below(2 * pace);
    },
    '2014-01-01 00:00:00',
  );
}

/** Any list, before any of these servers. */
export function readsAnyWithin(seed: number): Promise<{ requests: number; plain: number }> {
  const dice = diceOf(seed ^ 0x5eed);
  const cell: Cell = {
    order: dice.pick(Object.keys(orders) as Order[]),
    period: dice.pick(Object.keys(periods) as Period[]),
    rows: 20 + dice.below(80),
    cap: dice.chance(0.5) ? 7 + dice.below(93) : null,
    prefetch: 1 + dice.below(8),
  };
  return readsWithin(anyRecords(seed), mostPerPage(cell.order, null), cell);
}
