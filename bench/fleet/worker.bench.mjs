// One worker as a process: its memory by slots and format, and how long it takes until another one has the lane of a killed one.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { limit, median } from '../figures.mjs';
import { startServer } from '../node-stream/run.mjs';
import { end, hasNats, planned, start } from './processes.mjs';

/** The most memory that a worker ever had, in MB. */
async function memory(api, slots, format) {
  const job = await planned(api, 2, 50_000, format);
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
  if (!hasNats) process.exit();
  const quick = await startServer(100_000);
  for (const format of ['ndjson.gz', 'parquet'])
    for (const slots of [1, 2, 4])
      limit(`MB of a worker with ${slots} slots, ${format}`, await memory(quick, slots, format), {
        most: 150 + 40 * slots,
      });
  quick.close();

  const patient = await startServer(100_000, 300);
  const took = [];
  for (let round = 0; round < 5; round += 1) took.push(await takeOver(patient, '4s'));
  patient.close();
  console.log(`taken over after ${took.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`);
  limit('seconds until the lane of a killed worker is taken, TTL 4 s', median(took) / 1000, { most: 6 });
} finally {
  await end();
}
