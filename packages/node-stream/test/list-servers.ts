import { createServer } from 'node:http';
import type { List, ListPage, ListRequest } from '../src/lists.ts';

/**
 * An item of the servers: a number that tells it from all others, and when it was made, in
 * milliseconds.
 */
export interface Order {
  readonly id: number;
  readonly at: number;
}

/** What a server answers. */
type Answer = (query: URLSearchParams, orders: Order[]) => object;

/** A server on loopback that counts its requests. */
export interface ListServer {
  readonly url: string;
  /** Requests answered. */
  requests: number;
  close(): Promise<void>;
}

/**
 * Starts a server. `before` runs before each answer, with the number of the request from 0: orders
 * may come and go.
 */
export async function startListServer(
  orders: readonly Order[],
  answer: Answer,
  before: (request: number, orders: Order[]) => void = () => {},
): Promise<ListServer> {
  const held = [...orders];
  const server = createServer((request, response) => {
    before(self.requests, held);
    self.requests += 1;
    const body = answer(new URL(request.url ?? '/', 'http://localhost').searchParams, held);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const self: ListServer = {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

/** The range of a request. `closed`: its end is part of it. */
export function inRange(
  orders: readonly Order[],
  query: URLSearchParams,
  isClosed = false,
): Order[] {
  const from = Number(query.get('from') ?? Number.NEGATIVE_INFINITY);
  const to = Number(query.get('to') ?? Number.POSITIVE_INFINITY);
  return orders.filter(({ at }) => at >= from && (isClosed ? at <= to : at < to));
}

/** A list over a server: what is in `facts`, and the answers as they come. */
export function listOf(server: ListServer, facts: Partial<List<Order>> = {}): List<Order> {
  return {
    async fetch({ signal, ...request }: ListRequest): Promise<ListPage<Order>> {
      const query = Object.entries(request).flatMap(([name, value]) =>
        value === null ? [] : [[name, String(value)] as const],
      );
      const response = await fetch(
        `${server.url}/?${new URLSearchParams(Object.fromEntries(query))}`,
        {
          signal,
        },
      );
      return (await response.json()) as ListPage<Order>;
    },
    id: ({ id }) => id,
    position: ({ at }) => at,
    size: 20,
    ...facts,
  };
}

/** Orders a minute apart. */
export const ordersFrom = (start: number, count: number): Order[] =>
  Array.from({ length: count }, (_, i) => ({ id: 1000 + i, at: start + i * 60_000 }));

/** Requests that a loop over all pages takes. */
export const naive = (count: number, size = 20): number => Math.ceil(count / size);
