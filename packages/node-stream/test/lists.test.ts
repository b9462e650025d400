import { afterEach, describe, expect, test } from 'vitest';
import { createListReader, type List, type ListReaderOptions } from '../src/lists.ts';
import { through } from '../src/operators/chain.ts';
import { aggregate, count as countOf } from '../src/operators/index.ts';
import type { Verdict } from '../src/verdict.ts';
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
const count = 2000;
const even = ordersFrom(start, count);
const end = start + count * 60_000;
const oldestFirst = (a: Order, b: Order) => a.at - b.at || a.id - b.id;
const newestFirst = (a: Order, b: Order) => oldestFirst(b, a);

let server: ListServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});
const open = async (...args: Parameters<typeof startListServer>): Promise<ListServer> => {
  server = await startListServer(...args);
  return server;
};

async function read(list: List<Order>, options: ListReaderOptions = {}) {
  const reader = createListReader(list, { from: start, to: end, ...options });
  const ids: number[] = [];
  for await (const { id } of reader) ids.push(id);
  return { ids, verdict: reader.verdict() };
}
const allOf = (orders: readonly Order[]): number[] =>
  orders.map(({ id }) => id).sort((a, b) => a - b);

type Answer = Parameters<typeof startListServer>[1];
const page = (orders: readonly Order[], query: URLSearchParams): Order[] => {
  const at = Number(query.get('page'));
  const size = Number(query.get('size'));
  return orders.slice(at * size, (at + 1) * size);
};
const numbered =
  (order: typeof oldestFirst, { isClosed = false, hasTotal = true } = {}): Answer =>
  (query, orders) => {
    const all = inRange(orders, query, isClosed).sort(order);
    return { items: page(all, query), ...(hasTotal ? { total: all.length } : {}) };
  };
const cursors: Answer = (query, orders) => {
  const all = inRange(orders, query).sort(newestFirst);
  const size = Number(query.get('size'));
  const after = query.get('after');
  const begin = after === null ? 0 : all.findIndex(({ id }) => String(id) === after) + 1;
  const items = all.slice(begin, begin + size);
  return { items, next: begin + size < all.length ? String(items.at(-1)?.id) : null };
};
const withoutLastNext: Answer = (query, orders) => {
  const { next, ...rest } = cursors(query, orders) as { items: Order[]; next: string | null };
  return next === null ? rest : { ...rest, next };
};

describe('kinds of lists', () => {
  test.each<[string, Answer, Partial<List<Order>>, Verdict['proof'], number]>([
    ['numbers of pages, oldest first', numbered(oldestFirst), {}, 'whole', 1.5],
    ['a range that includes its end', numbered(oldestFirst, { isClosed: true }), {}, 'whole', 1.5],
    ['newest first', numbered(newestFirst), {}, 'whole', 1.5],
    ['without totals', numbered(oldestFirst, { hasTotal: false }), {}, 'unproven', 1.02],
    ['cursors', cursors, {}, 'unproven', 1],
    ['cursors whose end has no next', withoutLastNext, {}, 'unproven', 1],
    [
      'a search that gives 10,000 of a range and tells no more',
      (query, orders) => {
        const all = inRange(orders, query).sort(oldestFirst);
        return { items: page(all.slice(0, 500), query), total: Math.min(500, all.length) };
      },
      { cap: 500 },
      'whole',
      2,
    ],
  ])('%s: every item once', async (_, answer, facts, proof, most) => {
    const list = await open(even, answer);
    const { ids, verdict } = await read(listOf(list, facts));
    expect(ids.sort((a, b) => a - b)).toEqual(allOf(even));
    expect(verdict.proof).toBe(proof);
    expect(list.requests).toBeLessThanOrEqual(Math.ceil(naive(count) * most));
  });

  test('one without a position is one range, proved where all of its totals agree', async () => {
    const list = await open(even, numbered(oldestFirst));
    const { position: _, ...facts } = listOf(list);
    const { ids, verdict } = await read(facts as List<Order>);
    expect({ ids, proof: verdict.proof }).toEqual({ ids: allOf(even), proof: 'whole' });
    // One to count, and one to look behind a full page that ends with the total.
    expect(list.requests).toBeLessThanOrEqual(naive(count) + 2);
  });

  test('one that moves is whole, and each item comes once', async () => {
    let fresh = 0;
    const list = await open(even, numbered(newestFirst), (request, orders) => {
      if (request % 4 !== 3) return;
      fresh += 1;
      orders.push({ id: 100_000 + fresh, at: end + 60_000 * fresh });
    });
    const { ids, verdict } = await read(listOf(list), { to: null });
    expect(verdict.proof).toBe('whole');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id < 100_000).sort((a, b) => a - b)).toEqual(allOf(even));
  });
});

describe('what cannot be right is an error', () => {
  test.each<[string, Answer, string]>([
    [
      'a cursor that comes twice',
      (_, orders) => ({ items: orders.slice(1500, 1520), next: 'same' }),
      'too_many_requests',
    ],
    [
      'ranges that are ignored',
      (query, orders) => ({ items: page(orders, query), total: count }),
      'range_ignored',
    ],
    ['no page', () => ({ data: [] }), 'invalid_option'],
  ])('%s', async (_, answer, code) => {
    const list = await open(even, answer);
    await expect(read(listOf(list), { from: start + 1000 * 60_000 })).rejects.toMatchObject({
      code,
    });
    expect(list.requests).toBeLessThan(12);
  });
});

test('it is resumed after any page', async () => {
  const list = await open(even, numbered(oldestFirst));
  const ids: number[] = [];
  let checkpoint: ListReaderOptions['checkpoint'] = null;
  for (let pages = 0; pages < 10; pages += 1) {
    const reader = createListReader(listOf(list), {
      from: start,
      to: end,
      checkpoint: checkpoint ?? null,
    });
    for await (const each of reader.pages()) {
      ids.push(...each.items.map(({ id }) => id));
      checkpoint = JSON.parse(JSON.stringify(each.checkpoint));
      if (pages < 9) break;
    }
  }

  expect(ids).toEqual(allOf(even));
});

test('its checkpoint stands before the page whose items are being taken', async () => {
  const list = await open(even, numbered(oldestFirst));
  const reader = createListReader(listOf(list), { from: start, to: end });
  const taken: number[] = [];
  for await (const { id } of reader) if (taken.push(id) === 450) break;
  const rest = await read(listOf(list), { checkpoint: reader.checkpoint() });
  expect(allOf(even)).toEqual([...new Set([...taken, ...rest.ids])].sort((a, b) => a - b));
  expect(taken.length + rest.ids.length - count).toBeLessThanOrEqual(20);
});

test('it goes through operators', async () => {
  const list = await open(even, numbered(oldestFirst));
  const reader = createListReader(listOf(list), { from: start, to: end });
  const rows = await through(reader, aggregate({ measures: { orders: countOf() } })).toArray();
  expect(rows).toMatchObject([{ orders: count }]);
});
