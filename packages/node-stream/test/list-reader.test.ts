import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import {
  type Checkpoint,
  createListReader,
  type List,
  ListError,
  type ListPage,
  type ListRequest,
} from '../src/lists/index.ts';
import { type Order, ordersFrom } from './list-servers.ts';

const start = Date.UTC(2026, 0, 1);
const clock = { now: () => Date.UTC(2026, 5, 1) };
const orders = ordersFrom(start, 300);
const ids = orders.map(({ id }) => id);
const options = { from: start, to: start + 300 * 60_000, clock, pages: 2 };

type Kind = 'numbers' | 'numbers without totals' | 'cursors' | 'cursors with totals';

/** A list in memory, of one of the kinds. */
function listOf(kind: Kind, facts: Partial<List<Order>> = {}): List<Order> & { requests: ListRequest[] } {
  const requests: ListRequest[] = [];
  return {
    requests,
    async fetch(request): Promise<ListPage<Order>> {
      request.signal.throwIfAborted();
      requests.push(request);
      const { from, to, page, size, after } = request;
      const all = orders.filter(({ at }) => at >= (from ?? at) && at < (to ?? at + 1));
      const begin = kind.startsWith('cursors') ? Number(after ?? 0) : page * size;
      return {
        items: all.slice(begin, begin + size),
        ...(kind.endsWith('without totals') || kind === 'cursors' ? {} : { total: all.length }),
        ...(kind.startsWith('cursors') ? { next: begin + size < all.length ? begin + size : null } : {}),
      };
    },
    id: ({ id }) => id,
    position: ({ at }) => at,
    size: 20,
    ...facts,
  };
}

/** The same list without what only the tests know. */
const plain = ({ requests: _, ...list }: List<Order> & { requests: ListRequest[] }): List<Order> => list;
const kinds: readonly Kind[] = ['numbers', 'numbers without totals', 'cursors', 'cursors with totals'];
const gather = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

describe('a list is read', () => {
  test.each(kinds)('by items, by pages, as a stream, as a web stream: the same (%s)', async (kind) => {
    const reader = () => createListReader(plain(listOf(kind)), options);
    const byItems = await gather(reader());
    expect(byItems.map(({ id }) => id)).toEqual(ids);
    expect((await gather(reader().pages())).flatMap(({ items }) => items)).toEqual(byItems);
    expect(await gather(reader().readable())).toEqual(byItems);
    expect(await gather(reader().toWeb())).toEqual(byItems);
  });

  test.each(kinds)('in runs that each end anywhere, and each item comes once (%s)', async (kind) => {
    for (const steps of [1, 7, 20, 33, 150]) {
      const seen: number[] = [];
      let checkpoint: Checkpoint | null = null;
      for (let run = 0; run < 400 && seen.length < ids.length; run += 1) {
        const reader = createListReader(plain(listOf(kind)), { ...options, checkpoint });
        let taken = 0;
        for await (const { id } of reader) {
          seen.push(id);
          taken += 1;
          // A checkpoint is stored as text.
          checkpoint = JSON.parse(JSON.stringify(reader.checkpoint()));
          if (taken === steps) break;
        }
        const { proof, reasons, delivered } = await reader.verdict;
        expect(delivered).toBe(seen.length);
        if (taken === steps) expect(reasons.map(({ code }) => code)).toContain('left_early');
        else expect(proof).toBe(kind.endsWith('totals') && !kind.includes('without') ? 'whole' : proof);
      }
      expect(seen).toEqual(ids);
    }
  });

  test('where it goes on by cursors, a later run asks for no page before', async () => {
    const first = listOf('cursors');
    const reader = createListReader(plain(first), options);
    let checkpoint: Checkpoint | null = null;
    for await (const { checkpoint: at } of reader.pages()) {
      checkpoint = at;
      if (first.requests.length >= 8) break;
    }
    const later = listOf('cursors');
    const rest = await gather(createListReader(plain(later), options).pages({ checkpoint }));
    expect(rest.flatMap(({ items }) => items)).toHaveLength(300 - 7 * 20);
    expect(later.requests.map(({ after }) => after)[0]).toBe(6 * 20);
  });

  test('several ranges at a time, and no more than asked for', async () => {
    let open = 0;
    let most = 0;
    const list = plain(listOf('numbers'));
    const slow: List<Order> = {
      ...list,
      async fetch(request) {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return list.fetch(request);
      },
    };
    for (const prefetch of [1, 3, 8]) {
      most = 0;
      const reader = createListReader(slow, { ...options, prefetch, pages: 1 });
      expect(await gather(reader)).toHaveLength(300);
      expect(most).toBeLessThanOrEqual(prefetch);
      expect(most).toBeGreaterThan(prefetch > 1 ? 1 : 0);
      expect(await reader.verdict).toMatchObject({
        proof: 'whole',
        counted: 300,
        ranges: expect.any(Number),
      });
    }
  });

  test('as a stream, whose checkpoint covers what left it', async () => {
    const reader = createListReader(plain(listOf('numbers')), options);
    const stream = reader.readable({ highWaterMark: 8 });
    const seen: number[] = [];
    for await (const { id } of stream) {
      seen.push(id);
      if (seen.length === 50) break;
    }
    expect(reader.progress().done).toBeGreaterThanOrEqual(50);
    const rest = createListReader(plain(listOf('numbers')), { ...options, checkpoint: reader.checkpoint() });
    const others = (await gather(rest)).map(({ id }) => id);
    expect([...seen, ...others]).toEqual(ids);
  });

  test('to its end where a cursor leads to itself', async () => {
    const list = plain(listOf('cursors'));
    const looping: List<Order> = {
      ...list,
      async fetch(request) {
        const page = await list.fetch(request);
        return { ...page, next: page.next ?? request.after };
      },
    };
    const reader = createListReader(looping, options);
    expect((await gather(reader)).map(({ id }) => id)).toEqual(ids);
    expect(await reader.verdict).toMatchObject({ proof: 'unproven', delivered: 300, duplicates: 20 });
  });

  test('whole where it cannot be asked for ranges, when its pages agree', async () => {
    const list = plain(listOf('numbers', { hasRanges: false }));
    const reader = createListReader(list, { clock });
    expect((await gather(reader)).map(({ id }) => id)).toEqual(ids);
    expect(await reader.verdict).toMatchObject({ proof: 'whole', counted: 300 });
  });

  test('with positions that are no times', async () => {
    const list = plain(listOf('numbers'));
    const byId: List<Order> = {
      ...list,
      async fetch({ from, to, page, size }) {
        const all = orders.filter(({ id }) => id >= (from ?? id) && id < (to ?? id + 1));
        return { items: all.slice(page * size, (page + 1) * size), total: all.length };
      },
      position: ({ id }) => id,
    };
    const reader = createListReader(byId, { from: 0, clock, pages: 1 });
    expect((await gather(reader)).map(({ id }) => id)).toEqual(ids);
    expect((await reader.verdict).proof).toBe('whole');
  });
});

describe('a read of a list that fails', () => {
  test('says where, with a checkpoint, after the items before', async () => {
    const list = plain(listOf('numbers'));
    let requests = 0;
    const failing: List<Order> = {
      ...list,
      async fetch(request) {
        requests += 1;
        if (requests > 6) throw new Error('the API is down');
        return list.fetch(request);
      },
    };
    const reader = createListReader(failing, { ...options, pages: 1, prefetch: 1 });
    const seen: number[] = [];
    const failure = await (async () => {
      for await (const { id } of reader) seen.push(id);
    })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ListError);
    expect(failure).toMatchObject({
      code: 'fetch_failed',
      message: expect.stringContaining('the API is down'),
    });
    await expect(reader.verdict).rejects.toBe(failure);
    const checkpoint = failure instanceof ListError ? failure.checkpoint : null;
    const rest = await gather(createListReader(list, { ...options, pages: 1, prefetch: 1, checkpoint }));
    expect([...seen, ...rest.map(({ id }) => id)]).toEqual(ids);
  });

  test.each([
    ['no page', async () => null, 'unexpected_page'],
    ['no items', async () => ({ records: [] }), 'unexpected_page'],
    ['a total that is text', async () => ({ items: [], total: '7' }), 'unexpected_page'],
    ['a next that is an object', async () => ({ items: [], next: {} }), 'unexpected_page'],
    [
      'items from outside the range',
      async () => ({ items: [{ id: 1, at: 5 }], total: 1 }),
      'list_range_ignored',
    ],
  ])('names what fetch gave: %s', async (_, fetch, code) => {
    const list = { ...plain(listOf('numbers')), fetch } as List<Order>;
    await expect(gather(createListReader(list, options))).rejects.toMatchObject({ name: 'ListError', code });
  });

  test('when its pages never agree, it ends as incomplete', async () => {
    const list = plain(listOf('numbers'));
    const lying: List<Order> = {
      ...list,
      async fetch(request) {
        const page = await list.fetch(request);
        return { ...page, total: (page.total ?? 0) + (page.items.length > 0 ? 1 : 0) };
      },
    };
    await expect(gather(createListReader(lying, options))).rejects.toMatchObject({ code: 'list_incomplete' });
  });

  test.each([
    ['no fetch', { fetch: undefined }, {}, 'list.fetch'],
    ['a size of 0', { size: 0 }, {}, 'list.size'],
    ['an unknown fact', { sise: 1 }, {}, 'list.sise'],
    ['a wrong option', {}, { prefetch: 0 }, 'prefetch'],
    ['a range where there are none', { hasRanges: false }, {}, 'hasRanges'],
    ['a checkpoint of another range', {}, { checkpoint: { version: 1 } }, 'checkpoint'],
  ])('%s is refused before anything is asked', (_, facts, extra, words) => {
    const list = { ...plain(listOf('numbers')), ...facts } as List<Order>;
    expect(() => createListReader(list, { ...options, ...(extra as object) })).toThrow(words);
  });

  test('one reader is read in one way', async () => {
    const reader = createListReader(plain(listOf('numbers')), options);
    await reader.pages().next();
    expect(() => reader[Symbol.asyncIterator]()).toThrow(/already being read as pages/);
  });
});

describe('a read of a list that is left', () => {
  /** A server that answers the first requests and is silent then. */
  async function silentServer(
    answers: number,
  ): Promise<{ server: Server; url: string; sockets: Set<Socket> }> {
    let requests = 0;
    const sockets = new Set<Socket>();
    const server = createServer((_, response) => {
      requests += 1;
      if (requests > answers) return;
      response.end(JSON.stringify({ items: orders.slice(0, 20), total: 300 }));
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return { server, sockets, url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
  }

  const overHttp = (url: string): List<Order> => ({
    ...plain(listOf('numbers')),
    hasRanges: false,
    fetch: ({ signal }) =>
      new Promise((resolve, reject) => {
        const request = get(url, { signal, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => resolve(JSON.parse(text))).on('error', reject);
        });
        request.on('error', reject);
      }),
  });

  test.each(['break', 'throw', 'abort', 'destroy', 'a pipeline that fails'])(
    'leaves no socket and no timer: %s',
    async (how) => {
      const { server, url, sockets } = await silentServer(1);
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
      const before = timers();
      const abort = new AbortController();
      const reader = createListReader(overHttp(url), { clock, signal: abort.signal });
      const leave = async (): Promise<void> => {
        if (how === 'destroy' || how === 'a pipeline that fails') {
          const stream = reader.readable();
          if (how === 'destroy') {
            await once(stream, 'readable');
            stream.destroy();
            await once(stream, 'close');
          } else
            await pipeline(stream, async (items: AsyncIterable<Order>) => {
              for await (const _ of items) throw new Error('enough');
            });
          return;
        }
        for await (const { id } of reader) {
          if (id < 1010) continue;
          if (how === 'throw') throw new Error('enough');
          if (how === 'break') break;
          abort.abort();
        }
      };
      await leave().catch(() => {});
      expect(await reader.verdict).toMatchObject({ proof: 'unproven' });
      while (sockets.size > 0) await Promise.all([...sockets].map((socket) => once(socket, 'close')));
      const closed = once(server, 'close');
      server.close();
      await closed;
      expect(timers()).toBeLessThanOrEqual(before);
    },
  );
});
