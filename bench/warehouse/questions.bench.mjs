// Twelve questions over 1, 4 and 10 million calls in a warehouse: a million are generated and loaded, and come again with
// other times and callers. The questions are also asked in other ways: SQL over the JSON of the row store, plain JavaScript over
// lines of JSON, and DuckDB over the same lines. There are all of them at the smallest size and three at the others, or all with
// `CALLS_BENCH_ALL=1` (an hour at 10 million); `CALLS_BENCH_PEERS=4,10` says at which sizes, 0 at none, and `CALLS_BENCH_QUESTIONS`
// names some of them, with semicolons in between.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWarehouse } from '@call-attribution/warehouse';
import { limit } from '../figures.mjs';
import { calls, mostCalls } from './calls.mjs';
import { exportLines, grow } from './grow.mjs';
import { peers } from './peers.mjs';

const sizes = (process.env.CALLS_BENCH_SIZES ?? '1,4,10')
  .split(',')
  .map((millions) => Number(millions) * 1e6);
const peerSizes =
  process.env.CALLS_BENCH_PEERS?.split(',').map((millions) => Number(millions) * 1e6) ?? sizes;
const rounds = process.env.CALLS_BENCH_ROUNDS ?? '5';
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const path = join(folder, 'calls.duckdb');
const daysOf = (count) => Math.floor((730 * count) / mostCalls);

/** Loads the calls of the smallest size; for the larger ones they come again with other times and callers. */
async function fill(size) {
  if (size > sizes[0]) return grow(path, sizes[0], daysOf(sizes[0]), size);
  const warehouse = await openWarehouse(path);
  await warehouse.load('main', calls(0, size));
  await warehouse.close();
}

for (const size of sizes) {
  await fill(size);
  console.log(`\n${size} calls, ${(statSync(path).size / size).toFixed(0)} bytes each`);
  const child = fork(join(import.meta.dirname, 'ask.mjs'), [path, String(daysOf(size)), rounds]);
  const [{ medians, others, rss, rssOfAll }] = await once(child, 'message');
  for (const [name, { wall, cpu }] of Object.entries({ ...medians, ...others }))
    console.log(
      `${name.padEnd(50)} ${wall.toFixed(0).padStart(6)} ms, ${cpu.toFixed(0).padStart(6)} ms of CPU`,
    );
  const slowest = Math.max(...Object.values(medians).map(({ wall }) => wall));
  limit(`slowest of the twelve questions over ${size} calls, in s`, slowest / 1000, { most: 1 });
  limit(`memory of the twelve over ${size} calls, in GB`, rss / 1e9, { most: 1 });
  limit(`memory of all over ${size} calls, in GB`, rssOfAll / 1e9, { most: 1 });
  if (peerSizes.includes(size)) {
    const lines = join(folder, 'calls.ndjson');
    await exportLines(path, lines);
    const asksAll = size === sizes[0] || process.env.CALLS_BENCH_ALL === '1';
    await peers({ folder, lines, path, days: daysOf(size), asksAll });
  }
}
rmSync(folder, { recursive: true, force: true });
