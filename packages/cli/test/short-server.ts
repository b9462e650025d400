import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Call } from '@call-attribution/core';
import { matcher, parse } from '@call-attribution/query-dsl';

/** A server whose lists may lack calls that its counts know. */
export interface ShortServer {
  readonly url: string;
  /** Sids that lists leave out; counts know them all the same. */
  hidden: ReadonlySet<string>;
  /** Requests answered. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Serves calls as the API does, v2 and v3. */
export async function startShortServer(
  calls: readonly Call[],
  maxRows: number,
): Promise<ShortServer> {
  const sorted = [...calls].sort((a, b) =>
    `${a.date_added} ${a.sid}` < `${b.date_added} ${b.sid}` ? -1 : 1,
  );
  let answered = 0;
  const state = { hidden: new Set<string>() as ReadonlySet<string> };
  const server = createServer((request, response) => {
    answered += 1;
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, version, , , sid] = url.pathname.split('/');

    const send = (body: unknown, headers: Record<string, string> = {}) =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));

    if (sid !== undefined)
      return send(sorted.find((call) => call.sid === decodeURIComponent(sid)) ?? {});
    const asked = Number(url.searchParams.get('rows') ?? 20);
    const rows = Math.min(maxRows, asked);
    const q = url.searchParams.get('q') ?? '';
    const matches = matcher(parse(q, { version: version === 'v2' ? 'v2' : 'v3' }));
    const all = sorted.filter(
      (call) => matches({ ...call }) && (asked === 1 || !state.hidden.has(call.sid)),
    );
    const from = Number(url.searchParams.get('start') ?? 0) * rows;
    const page = all.slice(from, from + rows);
    const range =
      page.length === 0 ? `0-0/${all.length}` : `${from + 1}-${from + page.length}/${all.length}`;
    return send(page, { 'content-range': range });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    requests: () => answered,
    close: () =>
      new Promise<void>((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  });
}
