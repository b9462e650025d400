// Each operator against a loop by hand, RxJS and iter-ops, over 1,000,000 records: `node
// operators.bench.mjs [rounds]`, run by
// `pnpm bench node-stream`. Writes operators.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { operators } from './operators.mjs';
import { median } from './run.mjs';

const rounds = Number(process.argv[2] ?? 5);
const n = 1_000_000;

async function runOnce(operator, way, count = n) {
  const child = fork(join(import.meta.dirname, 'operator-once.mjs'), [
    operator,
    way,
    String(count),
  ]);
  const [result] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [null]),
  ]);
  if (result === null) throw new Error(`${operator} (${way}) ended without a result`);
  return result;
}

const rows = [];
for (const [operator, ways] of Object.entries(operators)) {
  const runs = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  // Within a round all ways meet the same machine.
  for (let round = 0; round < rounds; round += 1)
    for (const way of Object.keys(ways)) runs[way].push(await runOnce(operator, way));
  const outputs = new Set(Object.values(runs).flatMap((all) => all.map(({ taken }) => taken)));
  if (outputs.size !== 1)
    throw new Error(`${operator}: the ways give different numbers of items: ${[...outputs]}`);
  const ratio = (way) =>
    runs[way] === undefined ? null : median(runs.ours.map(({ cpu }, i) => cpu / runs[way][i].cpu));
  const cpu = (way) => (runs[way] === undefined ? null : median(runs[way].map(({ cpu }) => cpu)));
  const small = await runOnce(operator, 'ours', n / 5);
  const flat = median(runs.ours.map(({ rss }) => rss)) / small.rss;
  const peers = ['RxJS', 'iter-ops'];
  const held =
    ratio('loop') <= 2.5 && peers.every((peer) => (ratio(peer) ?? 0) <= 1) && flat <= 1.2;
  rows.push({
    operator,
    ways: ['ours', 'loop', ...peers].map(cpu),
    ratios: ['loop', ...peers].map(ratio),
    flat,
    held,
  });
  process.stderr.write(`${operator} ${held ? 'held' : 'not held'}\n`);
}

const figure = (value) => (value === null ? '–' : value.toFixed(2));
const text = `# Operators: last results

${new Date().toISOString().slice(0, 10)}, Node ${process.version.slice(1)}, ${cpus().length} x ${cpus()[0].model.trim()}. \`pnpm bench node-stream\`, ${rounds} interleaved rounds, load average ${loadavg()[2].toFixed(1)}.
Each operator over 1,000,000 records in pages of 1000, each way alone in a process. CPU in µs a record, medians of ratios within a round. The loop by hand keeps no position, takes no late records and checks nothing.
Limits: at most 2.5 times the loop, no slower than RxJS and iter-ops, and at most 1.2 times the memory of 200,000 records.

| operator | ours | loop | RxJS | iter-ops | to the loop | to RxJS | to iter-ops | memory | |
|---|---|---|---|---|---|---|---|---|---|
${rows.map(({ operator, ways, ratios, flat, held }) => `| ${operator} | ${ways.concat(ratios).map(figure).join(' | ')} | ${figure(flat)} | ${held ? 'held' : 'not held'} |`).join('\n')}

A dash: the peer has no such operator.
`;
writeFileSync(join(import.meta.dirname, 'operators.md'), text);
console.log(text);
