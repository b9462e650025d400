// Starts the bench server and single reads as processes of their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const here = import.meta.dirname;

/** Starts a server of `n` records; `stop` ends it. */
export async function startServer(n, latency = 0) {
  const child = fork(join(here, 'server.mjs'), [String(n), String(latency)]);
  const [port] = await once(child, 'message');
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    stats: async () => (await fetch(`${url}/stats`)).json(),
    close: () => child.disconnect(),
  };
}

/**
 * Reads once with the named reader: CPU in microseconds a record, wall time in ms, largest RSS in
 * MB.
 */
export async function readOnce(name, { url }, n, { prefetch = 4, rows = 1000 } = {}) {
  const child = fork(join(here, 'read-once.mjs'), [name, url, String(n), String(prefetch)], {
    env: { ...process.env, BENCH_ROWS: String(rows) },
  });
  const result = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => null)]);
  if (result === null) throw new Error(`${name} ended without a result`);
  const [{ cpu, wall, rss }] = result;
  return { cpu: cpu / n, wall, rss };
}

/** The middle one. */
export function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
