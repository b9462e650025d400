// Twelve questions over 1, 4 and 10 million calls in a warehouse. At the smallest size three of them are also asked in
// other ways: SQL over the JSON of the row store, plain JavaScript over lines of JSON, and DuckDB over the same lines.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWarehouse } from '@call-attribution/warehouse';
import { limit, timed } from '../figures.mjs';
import { calls, mostCalls, writeNdjson } from './calls.mjs';
import { peers } from './peers.mjs';

const sizes = (process.env.CALLS_BENCH_SIZES ?? '1,4,10')
  .split(',')
  .map((millions) => Number(millions) * 1e6);
const rounds = process.env.CALLS_BENCH_ROUNDS ?? '5';
const folder = mkdtempSync(join(tmpdir(), 'calls-bench-'));
const path = join(folder, 'calls.duckdb');
const daysOf = (count) => Math.floor((730 * count) / mostCalls);

const made = calls(0, sizes.at(-1));
/** The next calls, in the order of their times. */
function* next(count) {
  for (let i = 0; i < count; i += 1) yield made.next().value;
}

let loaded = 0;
for (const size of sizes) {
  const warehouse = await openWarehouse(path);
  const { cpu } = await timed(() => warehouse.load('main', next(size - loaded)));
  await warehouse.close();
  console.log(
    `\n${size} calls, ${(statSync(path).size / size).toFixed(0)} bytes each; loading took ${((cpu / (size - loaded)) * 1000).toFixed(0)} us of CPU per call, making them up included`,
  );
  loaded = size;
  const child = fork(join(import.meta.dirname, 'ask.mjs'), [path, String(daysOf(size)), rounds]);
  const [{ medians, others, rss }] = await once(child, 'message');
  for (const [name, { wall, cpu }] of Object.entries({ ...medians, ...others }))
    console.log(
      `${name.padEnd(50)} ${wall.toFixed(0).padStart(6)} ms, ${cpu.toFixed(0).padStart(6)} ms of CPU`,
    );
  const slowest = Math.max(...Object.values(medians).map(({ wall }) => wall));
  limit(`slowest of the twelve questions over ${size} calls, in s`, slowest / 1000, { most: 1 });
  limit(`memory of the questions over ${size} calls, in GB`, rss / 1e9, { most: 1 });
  if (size === sizes[0] && process.env.CALLS_BENCH_PEERS !== '0') {
    const lines = join(folder, 'calls.ndjson');
    writeNdjson(lines, size);
    await peers({ folder, lines, path, size, days: daysOf(size) });
  }
}
rmSync(folder, { recursive: true, force: true });
