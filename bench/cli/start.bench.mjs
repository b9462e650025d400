// What `calls --help` costs beside bare node (whole processes, in turns), and how long `calls demo` takes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '../../packages/cli/dist/bin.js');
const work = mkdtempSync(join(tmpdir(), 'start-'));
const empty = join(work, 'empty.mjs');
writeFileSync(empty, '');

/** @param {readonly string[]} argv */
function milliseconds(argv) {
  const started = process.hrtime.bigint();
  const { status } = spawnSync(process.execPath, argv, { cwd: work, stdio: 'ignore' });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`);
  return Number(process.hrtime.bigint() - started) / 1e6;
}

const subjects = {
  'bare node': [empty],
  'calls --help': [bin, '--help'],
  'calls export --help': [bin, 'export', '--help'],
  'calls --version': [bin, '--version'],
};
/** @type {Map<string, number[]>} */
const times = new Map(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < 25; round++) {
  for (const [name, argv] of Object.entries(subjects)) times.get(name)?.push(milliseconds(argv));
}

/** @param {string} name @param {number} share */
const at = (name, share) => {
  const list = [...(times.get(name) ?? [])].sort((a, b) => a - b);
  return list[Math.floor(list.length * share)] ?? 0;
};
const base = at('bare node', 0.25);
console.log('| command | lower quartile ms | median ms | to bare node |');
console.log('|---|---|---|---|');
for (const name of times.keys()) {
  const low = at(name, 0.25);
  console.log(`| ${name} | ${low.toFixed(1)} | ${at(name, 0.5).toFixed(1)} | ${(low / base).toFixed(2)} |`);
}
const demo = milliseconds([bin, 'demo']) / 1000;
rmSync(work, { recursive: true });

const ratio = at('calls --help', 0.25) / base;
/** @param {boolean} held */
const verdict = (held) => (held ? 'held' : 'MISSED');
console.log(`\ncalls --help at most 1.6 times bare node: ${ratio.toFixed(2)}, ${verdict(ratio <= 1.6)}`);
console.log(`calls demo under 20 s: ${demo.toFixed(1)} s, ${verdict(demo < 20)}`);
process.exitCode = ratio <= 1.6 && demo < 20 ? 0 : 1;
