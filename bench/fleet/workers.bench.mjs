// Workers as processes over NATS on a server that takes 300 ms: records per second of 1, 2 and 4 workers with one slot each, without
// their start-up; memory of one worker by its slots; how long until the parcel of a killed worker is taken over.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { credentialsFrom, openBoard, openTarget, pinJob, planJob } from '@call-attribution/fleet';
import { limit, median } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { accountsIn, natsServer, newFolder, plannedAt } from './scene.mjs';

const folder = newFolder();
const nats = await natsServer();
if (nats === null) process.exit(0);
let jobs = 0;

/** Plans a job of accounts with so many records each. */
async function planned(api, accountCount, parcel, format = 'ndjson.gz') {
  jobs += 1;
  const name = `bench-${jobs}`;
  const { keys, accounts } = accountsIn(folder.path, accountCount);
  const job = {
    ...{ name, baseUrl: api.url, accounts, into: `folder:${join(folder.path, name)}`, format },
    ...{ partition: 'none', until: '2026-01-01 00:00:00', parcel },
  };
  const board = await openBoard(nats.url, name);
  await using target = await openTarget(job.into, pinJob(job, plannedAt));
  const now = () => plannedAt;
  const plan = await planJob(job, { board, target, credentials: credentialsFrom({ folder: keys }), now });
  return { name, keys, board, plan };
}

function start({ name, keys }, slots = 1, ttl = '30s') {
  const events = [];
  const child = fork(join(import.meta.dirname, 'work.mjs'), [nats.url, name, keys, String(slots), ttl]);
  child.on('message', (event) => events.push(event));
  return { child, events, gone: once(child, 'exit') };
}

const parcelsOf = (workers) =>
  workers
    .flatMap(({ events }) =>
      events.filter(({ kind, outcome }) => kind === 'parcel' && outcome === 'committed'),
    )
    .sort((a, b) => a.at - b.at);

/** Records per second from when all are under way until the first one finds nothing more to do. */
async function speed(api, count) {
  const job = await planned(api, 8, 3_000);
  const workers = Array.from({ length: count }, () => start(job));
  await Promise.all(workers.map(({ gone }) => gone));
  await job.board.close();
  const all = parcelsOf(workers);
  const records = all.reduce((sum, event) => sum + event.records, 0);
  if (records !== job.plan.records) throw new Error(`${records} of ${job.plan.records} records`);
  const firsts = workers.map(
    ({ events }) => events.find(({ kind, outcome }) => kind === 'parcel' && outcome === 'committed').at,
  );
  const lasts = workers.map((worker) => parcelsOf([worker]).at(-1).at);
  const [begin, end] = [Math.max(...firsts), Math.min(...lasts)];
  const between = all.filter(({ at }) => at > begin && at <= end);
  return (between.reduce((sum, event) => sum + event.records, 0) * 1000) / (end - begin);
}

/** The most memory that a worker ever had, in MB. */
async function memory(api, slots) {
  const job = await planned(api, 4, 50_000, 'parquet');
  const { child, gone } = start(job, slots);
  let most = 0;
  const look = setInterval(() => {
    try {
      const [, kb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      most = Math.max(most, Number(kb ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 200);
  await gone;
  clearInterval(look);
  await job.board.close();
  return most;
}

/** Milliseconds from the death of a worker until another one has its lane. */
async function takeOver(api, ttl) {
  const job = await planned(api, 1, 20_000);
  const first = start(job, 2, ttl);
  const lanes = () => [...job.board.entries('lane.')].filter(({ value }) => value.by !== null);
  while (lanes().length < 2) await delay(20);
  const second = start(job, 2, ttl);
  await delay(3_000);
  const held = lanes().map(({ key, value }) => [key, value.by]);
  first.child.kill('SIGKILL');
  const killed = Date.now();
  const isTaken = () => held.some(([key, by]) => ![null, by].includes(job.board.get(key)?.value.by));
  while (!isTaken()) await delay(10);
  const took = Date.now() - killed;
  second.child.kill('SIGKILL');
  await Promise.all([first.gone, second.gone]);
  await job.board.close();
  return took;
}

try {
  const slow = await startServer(12_000, 300);
  const speeds = new Map();
  for (const count of [1, 2, 4]) speeds.set(count, await speed(slow, count));
  slow.stop();
  for (const [count, rate] of speeds) console.log(`${count} workers: ${rate.toFixed(0)} records per second`);
  limit('2 workers against 1', speeds.get(2) / speeds.get(1), { least: 1.9 });
  limit('4 workers against 1', speeds.get(4) / speeds.get(1), { least: 3.4 });

  const quick = await startServer(200_000);
  for (const slots of [1, 2, 4]) {
    const most = await memory(quick, slots);
    limit(`MB of a worker with ${slots} slots, Parquet`, most, { most: 150 + 40 * slots });
  }
  quick.stop();

  const patient = await startServer(100_000, 300);
  const took = [];
  for (let round = 0; round < 5; round += 1) took.push(await takeOver(patient, '4s'));
  patient.stop();
  console.log(`taken over after ${took.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s at a TTL of 4 s`);
  limit('seconds until the lane of a killed worker is taken, TTL 4 s', median(took) / 1000, { most: 6 });
} finally {
  await nats.stop();
  folder.remove();
}
