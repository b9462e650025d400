// Many accounts: what more workers gain (processes on pg-boss and PostgreSQL), how fair turns are,
// how soon a job is started and shown, and the memory of a worker (with the engine in memory).
// CALLS_BENCH_PARTS=workers,fair,start,memory chooses some of it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkJob,
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
  statusOf,
} from '@call-attribution/fleet';
import { fleetEngine } from '../../scripts/nodes.mjs';
import { limit, timed } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { postgresServer } from '../store/postgres-server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const keys = join(folder, 'keys');
mkdirSync(keys);
const accountsOf = (count) => Array.from({ length: count }, (_, i) => ({ id: String(i + 1) }));
for (const { id } of accountsOf(2_000))
  writeFileSync(
    join(keys, `${id}.json`),
    JSON.stringify({ accessKey: `key-${id}`, secretKey: 'bench' }),
    {
      mode: 0o600,
    },
  );
const credentials = credentialsFrom({ folder: keys });
let runs = 0;

async function jobOf(baseUrl, count, more = {}) {
  runs += 1;
  const into = `sqlite:${join(folder, `${runs}.db`)}`;
  return checkJob({
    name: 'bench',
    baseUrl,
    accounts: accountsOf(count),
    filter: 'inc_gce:1',
    into,
    ...more,
  });
}

/**
 * Milliseconds that so many workers, each a process with one slot, need for 16 accounts behind a
 * server that takes its time. Each time PostgreSQL is a new one, too: it would still tidy up after
 * the last.
 */
async function withWorkers(api, count) {
  const postgres = await postgresServer();
  if (postgres === null) throw new Error('PostgreSQL is not installed');
  const into = await postgres.newUrl();
  const job = {
    name: 'bench',
    baseUrl: api.url,
    accounts: accountsOf(16),
    filter: 'inc_gce:1',
    into,
  };
  runs += 1;
  const path = join(folder, `job-${runs}.json`);
  writeFileSync(path, JSON.stringify(job));
  const { node, modules } = fleetEngine();
  const children = [];
  for (let i = 0; i < count; i += 1) {
    const child = fork(
      join(import.meta.dirname, 'machine.mjs'),
      [path, keys, into, `w${i}`, modules],
      {
        execPath: node,
      },
    );
    await once(child, 'message');
    children.push(child);
  }

  const ends = children.map((child) => once(child, 'message'));
  const begun = performance.now();
  const before = idleMs();
  for (const child of children) child.send('go');
  const all = (await Promise.all(ends)).map(([facts]) => facts);
  const wall = performance.now() - begun;
  const busy = 100 * (1 - (idleMs() - before) / wall / cpus().length);
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  await postgres.close();
  const sum = (of) => all.reduce((total, facts) => total + facts[of], 0);
  console.log(
    `${count} workers: ${(wall / 1000).toFixed(1)} s, ${sum('turns')} turns, ${sum('requests')} requests, ${sum('cpu').toFixed(1)} s of CPU in them, ${busy.toFixed(0)} % of the machine busy`,
  );
  if (sum('calls') < 16 * callsOfAccount) throw new Error(`${sum('calls')} calls were written`);
  return wall;
}

/** Milliseconds that the cores have had nothing to do. */
const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);

const callsOfAccount = Number(process.env.CALLS_BENCH_CALLS ?? 20_000);
/** Milliseconds of the server for a request. */
const latency = Number(process.env.CALLS_BENCH_LATENCY ?? 300);

/** What more workers gain. */
async function workers() {
  const api = await startServer(callsOfAccount, latency);
  try {
    const one = await withWorkers(api, 1);
    for (const [count, least] of [
      [2, 1.85],
      [4, 3],
    ])
      limit(`${count} workers, times as fast as one`, one / (await withWorkers(api, count)), {
        least,
      });
  } finally {
    api.close();
  }
}

/**
 * Whether each of 500 accounts is served twice within a minute, where they are brought up to date.
 * In a first read a turn has at least one page: two for each account are a million calls.
 */
async function fair() {
  const small = await served(100);
  limit('accounts of 500 that had two turns within a minute, with 24 slots', small, { least: 500 });
  await served(100_000);
}

/** How many of 500 accounts with so many calls had two turns within a minute. */
async function served(calls) {
  const api = await startServer(calls, 300);
  const job = await jobOf(api.url, 500, { every: '20s' });
  const engine = memoryEngine();
  const target = await openTarget(job.into);
  const turns = new Map();
  const worker = createWorker({
    job,
    engine,
    target,
    credentials,
    name: 'w',
    slots: 24,
    onEvent: (event) => {
      if (event.kind === 'turn') turns.set(event.account, (turns.get(event.account) ?? 0) + 1);
    },
  });
  const running = worker.run();
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  worker.leave(0);
  await running;
  await target.close();
  api.close();
  const counts = [...turns.values()];
  const all = counts.reduce((sum, count) => sum + count, 0);
  console.log(`${all} turns of ${counts.length} accounts of ${calls} calls within a minute`);
  return counts.filter((count) => count >= 2).length;
}

/** How soon a large job is started and shown. */
async function start() {
  const api = await startServer(100_000, 300);
  const job = await jobOf(api.url, 2_000);
  const engine = { ...memoryEngine(), isShared: true };
  const target = await openTarget(job.into);
  const worker = createWorker({ job, engine, target, credentials, name: 'w' });
  const begun = performance.now();
  const end = worker.run();
  while (worker.card.accounts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  limit('a job of 2,000 accounts is started, in seconds', (performance.now() - begun) / 1000, {
    most: 2,
  });
  const { wall } = await timed(async () => statusOf(await engine.look(), Date.now()));
  limit('and shown, in milliseconds', wall, { most: 100 });
  worker.leave(0);
  await end;
  await target.close();
  api.close();
}

/** Memory of a worker that writes Parquet. */
async function memory() {
  const records = 100_000;
  const api = await startServer(records);
  for (const [slots, most] of [
    [1, 310],
    [4, 560],
  ]) {
    // The calls of the server lie in one month, which is the most that a file holds.
    const job = {
      name: 'bench',
      baseUrl: api.url,
      accounts: accountsOf(slots),
      filter: 'inc_gce:1',
      into: `folder:${join(folder, `parquet-${slots}`)}`,
      from: '2023-01-01',
      until: '2023-02-01',
    };
    const path = join(folder, `job-${slots}.json`);
    writeFileSync(path, JSON.stringify(job));
    const child = fork(join(import.meta.dirname, 'work-once.mjs'), [path, keys, String(slots)]);
    const [{ calls, mb }] = await once(child, 'message');
    if (calls !== records * slots)
      throw new Error(`${calls} of ${records * slots} calls were written`);
    limit(`memory of a worker that writes Parquet, ${slots} slots, in MB`, mb, { most });
  }

  api.close();
}

const parts = { workers, fair, start, memory };
try {
  for (const name of (process.env.CALLS_BENCH_PARTS ?? Object.keys(parts).join()).split(','))
    await parts[name]();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
