// What the benches of the fleet share: servers, keys, jobs and plans.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBoard, openBoard } from '@call-attribution/fleet';
import { build } from 'esbuild';
import { postgresServer } from '../store/postgres-server.mjs';

/** When plans are made: after all records of the bench server. */
export const plannedAt = Date.UTC(2026, 0, 1);

/** A folder that is removed with `remove`. */
export function newFolder() {
  const path = mkdtempSync(join(tmpdir(), 'calls-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A folder with the keys of accounts `1` to `count`, and these accounts. */
export function accountsIn(folder, count) {
  const keys = join(folder, 'keys');
  mkdirSync(keys, { recursive: true });
  const ids = Array.from({ length: count }, (_, i) => String(i + 1));
  for (const id of ids)
    writeFileSync(join(keys, `${id}.json`), JSON.stringify({ accessKey: `key-${id}`, secretKey: 'bench' }), {
      mode: 0o600,
    });
  return { keys, accounts: ids.map((id) => ({ id })) };
}

/** The API with no call at all, without a network. */
export const emptyApi = async () =>
  new Response('[]', { headers: { 'content-type': 'application/json', 'content-range': '*/0' } });

/** A plan of so many parcels of an hour, `total` records in each. */
export function hourlyPlan(count, total = 0) {
  const begin = Date.UTC(2020, 0, 1);
  const time = (hour) => new Date(begin + hour * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
  const parcels = Array.from({ length: count }, (_, index) => ({
    index,
    from: time(index),
    to: time(index + 1),
    total,
  }));
  return { bounds: 'half-open', from: time(0), to: time(count), parcels };
}

/** Boards that can be had here: `open` gives a new one for a job, and `again` another one over the same. */
export async function boards() {
  const nats = await natsServer();
  const postgres = await postgresServer();
  const url = postgres && (await postgres.newUrl());
  const kinds = [{ kind: 'memory', open: async () => memoryBoard() }];
  if (nats) kinds.push({ kind: 'NATS', open: (job) => openBoard(nats.url, job) });
  if (url) kinds.push({ kind: 'PostgreSQL', open: (job) => openBoard(url, job) });
  const stop = async () => {
    await nats?.close();
    await postgres?.close();
  };
  return { kinds, postgres, stop };
}

/** A NATS server, or null when none is installed: the one that tests start, bundled for plain Node. */
export async function natsServer(options = {}) {
  const outfile = new URL(
    `../../packages/test-tools/node_modules/.bench-nats-${process.pid}.mjs`,
    import.meta.url,
  ).pathname;
  const entry = new URL('../../packages/test-tools/src/nats.ts', import.meta.url).pathname;
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  try {
    const { findNats, startNats } = await import(outfile);
    return findNats() === null ? null : await startNats(options);
  } finally {
    rmSync(outfile);
  }
}
