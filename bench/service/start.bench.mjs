// How long `calls serve` over an existing store takes until it answers, next to bare Node.js: wall
// time and CPU, in turns.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limit, median } from '../figures.mjs';

const rounds = Number(process.env.CALLS_BENCH_ROUNDS ?? 15);
const bin = join(import.meta.dirname, '../../packages/cli/dist/bin.js');
const folder = mkdtempSync(join(tmpdir(), 'calls-start-'));
const empty = join(folder, 'empty.mjs');
writeFileSync(empty, 'console.log(0); setTimeout(() => {}, 1e6);');
const store = `sqlite:${folder}/calls.db`;

/** CPU that a process has used, in milliseconds. @param {number} pid */
const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** Starts a program until its first line. @param {readonly string[]} argv */
async function start(argv) {
  const began = performance.now();
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const wall = performance.now() - began;
  const cpu = cpuOf(child.pid ?? 0);
  child.kill();
  await once(child, 'exit');
  return { wall, cpu };
}

try {
  const made = spawnSync(
    process.execPath,
    [bin, 'store', 'accounts', 'add', '--account', '101', '--store', store],
    { stdio: 'ignore' },
  );
  if (made.status !== 0) throw new Error(`calls store accounts add ended with ${made.status}`);
  const serve = [bin, 'serve', '--store', store, '--port', '0', '--ready-json'];
  const seen = { node: [], serve: [] };
  for (let round = 0; round < rounds; round += 1) {
    seen.node.push(await start([empty]));
    seen.serve.push(await start(serve));
  }
  for (const [name, all] of Object.entries(seen)) {
    const of = (what) => median(all.map((one) => one[what])).toFixed(0);
    console.log(`  ${name.padEnd(6)} ${of('wall').padStart(5)} ms, ${of('cpu')} ms of CPU`);
  }
  // 0.3 s where bare Node.js takes 40 ms, as it does on a quiet machine; other work slows both
  // down.
  const wallOf = (all) => median(all.map(({ wall }) => wall));
  limit('calls serve against bare Node.js', wallOf(seen.serve) / wallOf(seen.node), { most: 7.5 });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
