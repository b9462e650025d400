import { afterEach, describe, expect, test } from 'vitest';
import { createListReader, type List, type ListReaderOptions, type ListVerdict } from '../src/lists/index.ts';
import {
  inRange,
  type ListServer,
  listOf,
  naive,
  type Order,
  ordersFrom,
  startListServer,
} from './list-servers.ts';

const start = Date.UTC(2026, 0, 1);
const now = Date.UTC(2026, 5, 1);
const clock = { now: () => now };
const count = 2000;
const even = ordersFrom(start, count);
const end = start + count * 60_000;

let server: ListServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const open = async (...args: Parameters<typeof startListServer>): Promise<ListServer> => {
  server = await startListServer(...args);
  return server;
};

async function read(
  list: List<Order>,
  options: ListReaderOptions = {},
): Promise<{ ids: number[]; verdict: ListVerdict }> {
  const reader = createListReader(list, { from: start, to: end, clock, ...options });
  const ids: number[] = [];
  for await (const { id } of reader) ids.push(id);
  return { ids, verdict: await reader.verdict };
}

const sorted = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);
const allOf = (orders: readonly Order[]): number[] => sorted(orders.map(({ id }) => id));
const oldestFirst = (a: Order, b: Order) => a.at - b.at || a.id - b.id;
const newestFirst = (a: Order, b: Order) => oldestFirst(b, a);

/** A page by its number. */
function numbered(orders: readonly Order[], query: URLSearchParams): Order[] {
  const [page, size] = [Number(query.get('page')), Number(query.get('size'))];
  return orders.slice(page * size, (page + 1) * size);
}

/** A page after the order that a cursor names. */
function pageAfter(
  orders: readonly Order[],
  query: URLSearchParams,
): { items: Order[]; next: string | null } {
  const size = Number(query.get('size'));
  const after = query.get('after');
  const begin = after === null ? 0 : orders.findIndex(({ id }) => String(id) === after) + 1;
  const items = orders.slice(begin, begin + size);
  return { items, next: begin + size < orders.length ? String(items.at(-1)?.id) : null };
}

describe('seven kinds of lists', () => {
  test('offset pages without totals: every item, unproven', async () => {
    const list = await open(even, (query, orders) => ({
      items: numbered(inRange(orders, query).sort(oldestFirst), query),
    }));
    const { ids, verdict } = await read(listOf(list));
    expect(sorted(ids)).toEqual(allOf(even));
    expect(verdict).toMatchObject({
      proof: 'unproven',
      reasons: [{ code: 'no_total', count: null }],
      counted: null,
      delivered: count,
    });
    expect(list.requests).toBeLessThanOrEqual(naive(count) + 1);
  });

  test('page numbers with totals that move: whole, at no more than 1.1 times the requests of a loop', async () => {
    let fresh = 0;
    const list = await open(
      even,
      (query, orders) => {
        const all = inRange(orders, query).sort(newestFirst);
        return { items: numbered(all, query), total: all.length };
      },
      // A new order with each fourth request: it is the first of the list, and moves all others on.
      (request, orders) => {
        if (request % 4 === 3) orders.push({ id: 100_000 + fresh, at: now - 60_000 + fresh++ });
      },
    );
    const { ids, verdict } = await read(listOf(list, { lag: '1h' }), { to: null });
    expect(verdict).toMatchObject({ proof: 'whole', reasons: [] });
    expect(new Set(ids).size).toBe(ids.length);
    expect(sorted(ids.filter((id) => id < 100_000))).toEqual(allOf(even));
    expect(list.requests).toBeLessThanOrEqual(naive(ids.length) * 1.1);
  });

  test('cursors, newest first: every item, unproven, with no more requests than a loop', async () => {
    let fresh = 0;
    const list = await open(
      even,
      (query, orders) => pageAfter(inRange(orders, query).sort(newestFirst), query),
      (_, orders) => orders.push({ id: 100_000 + fresh, at: end - 1 - fresh++ }),
    );
    const { ids, verdict } = await read(listOf(list));
    expect(sorted(ids.filter((id) => id < 100_000))).toEqual(allOf(even));
    expect(new Set(ids).size).toBe(ids.length);
    expect(verdict).toMatchObject({ proof: 'unproven', reasons: [{ code: 'no_total', count: null }] });
    expect(list.requests).toBeLessThanOrEqual(naive(ids.length));
  });

  test.each([
    ['says how many there are', (total: number) => total],
    ['says no more than its cap', (total: number) => Math.min(total, 10_000)],
  ])(
    'a search that gives 10,000 of a range and %s: whole, at no more than 1.3 times a loop',
    async (_, totalOf) => {
      const many = ordersFrom(start, 25_000, (i) => 2000 + (i % 5) * 1000);
      const list = await open(many, (query, orders) => {
        const all = inRange(orders, query).sort(newestFirst);
        return { items: numbered(all.slice(0, 10_000), query), total: totalOf(all.length) };
      });
      const { ids, verdict } = await read(listOf(list, { cap: 10_000, size: 250 }));
      expect(sorted(ids)).toEqual(allOf(many));
      expect(verdict).toMatchObject({ proof: 'whole', counted: many.length });
      expect(list.requests).toBeLessThanOrEqual(naive(many.length, 250) * 1.3);
    },
  );

  test('more items at one position than a search gives: what it gives, and short', async () => {
    const heap = ordersFrom(start, 250, () => 0);
    const list = await open(heap, (query, orders) => {
      const all = inRange(orders, query).sort(newestFirst);
      return { items: numbered(all.slice(0, 200), query), total: all.length };
    });
    const { ids, verdict } = await read(listOf(list, { cap: 200 }));
    expect(new Set(ids).size).toBe(200);
    expect(verdict).toMatchObject({ proof: 'short', delivered: 200 });
    expect(verdict.reasons).toContainEqual({ code: 'out_of_reach', count: 50 });
  });

  test('an empty page in the middle: every item, unproven', async () => {
    const list = await open(even, (query, orders) => {
      const page = pageAfter(inRange(orders, query).sort(oldestFirst), query);
      // Every third page is filtered after it was cut.
      return Number(query.get('page')) % 3 === 1 ? { ...page, items: [] } : page;
    });
    const { ids, verdict } = await read(listOf(list));
    const shown = even.filter((_, i) => Math.floor(i / 20) % 3 !== 1);
    expect(sorted(ids)).toEqual(allOf(shown));
    expect(verdict).toMatchObject({ proof: 'unproven', delivered: shown.length });
    expect(list.requests).toBe(naive(count));
  });

  test('equal times at a page border: whole, each item once', async () => {
    // Fifty orders at each time, in another order with each request.
    const heaps = even.map(({ id }, i) => ({ id, at: start + Math.floor(i / 50) * 3_600_000 }));
    const list = await open(heaps, (query, orders) => {
      const all = inRange(orders, query, true).sort(oldestFirst);
      return { items: numbered(all, query), total: all.length };
    });
    const { ids, verdict } = await read(listOf(list, { bounds: 'closed', step: 1000 }), {
      to: start + 40 * 3_600_000,
    });
    expect(sorted(ids)).toEqual(allOf(heaps));
    expect(ids).toHaveLength(count);
    expect(verdict).toMatchObject({ proof: 'whole', counted: count });
    expect(list.requests).toBeLessThanOrEqual(naive(count) * 1.1);
  });

  test('a replica that lags: whole before the lag, at no more than 1.1 times a loop', async () => {
    const lag = 3_600_000;
    let turn = 0;
    const list = await open(even, (query, orders) => {
      // Every other answer comes from a copy that lacks what is younger than half an hour.
      const isBehind = turn++ % 2 === 1;
      const seen = orders.filter(({ at }) => !isBehind || at < now - lag / 2);
      const all = inRange(seen, query).sort(newestFirst);
      return { items: numbered(all, query), total: all.length };
    });
    list.orders.push(...ordersFrom(now - lag / 4, 10).map((order) => ({ ...order, id: order.id + 50_000 })));
    const { ids, verdict } = await read(listOf(list, { lag }), { to: now - lag });
    expect(sorted(ids)).toEqual(allOf(even));
    expect(verdict).toMatchObject({ proof: 'whole', counted: count, delivered: count });
    expect(list.requests).toBeLessThanOrEqual(naive(count) * 1.1);
  });
});
