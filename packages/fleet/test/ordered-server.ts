import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatNaive } from '@call-attribution/core/time';
import { matcher, parse } from '@call-attribution/query-dsl';
import { callWith } from '@call-attribution/test-tools/call-with';

/** In which order servers list calls. */
export const orders = ['oldest first', 'newest first', 'in no order'] as const;

/** A server with 1,500 calls of six months of one account, which lists them in an order. */
export async function startOrderedServer(order: (typeof orders)[number]) {
  const begin = Date.UTC(2026, 3, 3);
  const calls = Array.from({ length: 1_500 }, (_, n) =>
    callWith({
      sid: `c${n}`,
      date_added: formatNaive(begin + n * 10_000_000),
      talk_minutes: '1.0',
    }),
  );
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  if (order === 'newest first') calls.reverse();
  if (order === 'in no order') calls.sort((a, b) => (hashOf(a.sid) < hashOf(b.sid) ? -1 : 1));
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    const matches = matcher(parse(query.get('q') ?? '', { version: 'v3' }));
    const found = calls.filter((call) => matches(call));
    const rows = Number(query.get('rows') ?? 100);
    const first = Number(query.get('start') ?? 0) * rows;
    const page = found.slice(first, first + rows);
    response.setHeader('content-range', `${first + 1}-${first + page.length}/${found.length}`);
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sids: calls.map(({ sid }) => sid),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
