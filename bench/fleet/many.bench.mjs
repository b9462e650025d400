// Many accounts: how fair turns are, how soon a job is started and shown, and what more workers gain. With the engine in memory: pg-boss
// asks for Node.js 22.12.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkJob,
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
  statusOf,
} from '@call-attribution/fleet';
import { limit, timed } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';

const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const keys = join(folder, 'keys');
mkdirSync(keys);
const accountsOf = (count) => Array.from({ length: count }, (_, i) => ({ id: String(i + 1) }));
for (const { id } of accountsOf(2_000))
  writeFileSync(join(keys, `${id}.json`), JSON.stringify({ accessKey: `key-${id}`, secretKey: 'bench' }), {
    mode: 0o600,
  });
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

/** Milliseconds that so many workers with one slot each need for 16 accounts behind a server that takes 300 ms. */
async function withWorkers(api, count) {
  const job = await jobOf(api.url, 16);
  const engine = { ...memoryEngine(), isShared: true };
  const target = await openTarget(job.into);
  const workers = Array.from({ length: count }, (_, i) =>
    createWorker({ ...{ job, engine, target, credentials, name: `w${i}`, slots: 1 } }),
  );
  const { wall } = await timed(() => Promise.all(workers.map((worker) => worker.run())));
  await target.close();
  return wall;
}

const slow = await startServer(5_000, 300);
const quick = await startServer(100_000, 300);
try {
  const one = await withWorkers(slow, 1);
  for (const [count, least] of [
    [2, 1.85],
    [4, 3.4],
    [8, 4.8],
  ])
    limit(`${count} workers, times as fast as one`, one / (await withWorkers(slow, count)), { least });

  const job = await jobOf(quick.url, 500, { every: '10m' });
  const engine = memoryEngine();
  const target = await openTarget(job.into);
  const turns = new Map();
  const worker = createWorker({
    ...{ job, engine, target, credentials, name: 'w', slots: 24 },
    onEvent: (event) => {
      if (event.kind === 'turn') turns.set(event.account, (turns.get(event.account) ?? 0) + 1);
    },
  });
  const running = worker.run();
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  worker.leave(0);
  await running;
  await target.close();
  const served = [...turns.values()].filter((count) => count >= 2).length;
  limit('accounts of 500 that had two turns within a minute, with 24 slots', served, { least: 500 });

  const large = await jobOf(quick.url, 2_000);
  const shown = { ...memoryEngine(), isShared: true };
  const place = await openTarget(large.into);
  const first = createWorker({ ...{ job: large, engine: shown, target: place, credentials, name: 'w' } });
  const begun = performance.now();
  const end = first.run();
  while (first.card.busy === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  limit('a job of 2,000 accounts is started, in seconds', (performance.now() - begun) / 1000, { most: 2 });
  const { wall } = await timed(async () => statusOf(await shown.look(), Date.now()));
  limit('and shown, in milliseconds', wall, { most: 100 });
  first.leave(0);
  await end;
  await place.close();
} finally {
  slow.close();
  quick.close();
  rmSync(folder, { recursive: true, force: true });
}
