// What prefetch is for: the wall time of 60 pages from a server that answers after 100 ms, and what
// is asked of the server when the consumer is slow.
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { median, readOnce, startServer } from './run.mjs';

/**
 * Ratios of wall time, sequential to 8 pages ahead: against the raw loop, and against ourselves
 * with one page.
 */
export async function latency(rounds, rows) {
  const n = 60 * rows;
  const server = await startServer(n, 100);
  const ratios = { raw: [], own: [] };
  for (let round = 0; round < rounds; round += 1) {
    const raw = await readOnce('raw', server, n, { rows });
    const one = await readOnce('ours: for await', server, n, { rows, prefetch: 1 });
    const eight = await readOnce('ours: for await', server, n, { rows, prefetch: 8 });
    ratios.raw.push(raw.wall / eight.wall);
    ratios.own.push(one.wall / eight.wall);
  }

  server.close();
  return { raw: median(ratios.raw), own: median(ratios.own) };
}

/**
 * Requests a consumer causes that takes 30 records, one each 20 ms, and then rests for a second.
 */
export async function slowConsumer(prefetch) {
  const server = await startServer(100_000);
  const client = createClient({ baseUrl: server.url, auth: apiKeys('bench', 'bench') });
  const stream = createCallStream(client, { rows: 1000, prefetch });
  let taken = 0;
  for await (const _ of stream) {
    taken += 1;
    await new Promise((resolve) => setTimeout(resolve, taken < 30 ? 20 : 1000));
    if (taken === 30) break;
  }

  const { requests } = await server.stats();
  await client.close();
  server.close();
  return requests;
}

/** Largest RSS while reading 200,000 and 1,000,000 records. */
export async function memory() {
  const rss = [];
  for (const n of [200_000, 1_000_000]) {
    const server = await startServer(n);
    rss.push((await readOnce('ours: for await', server, n)).rss);
    server.close();
  }

  return rss;
}
