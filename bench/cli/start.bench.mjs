// What `calls --help` and `calls list -n 1` cost compared to bare Node.js (whole processes, in
// turns), and how long `calls demo` takes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '../../packages/cli/dist/bin.js');
const work = mkdtempSync(join(tmpdir(), 'start-'));
const empty = join(work, 'empty.mjs');
writeFileSync(empty, '');

// A server for `calls list`.
const server = spawn(
  process.execPath,
  [bin, 'serve', '--store', 'none', '--records', '300', '--port', '0', '--ready-json'],
  {
    stdio: ['ignore', 'pipe', 'ignore'],
  },
);
const [line] = await once(server.stdout, 'data');
const { url, accounts } = JSON.parse(String(line));
const { accessKey, secretKey } = accounts[0];
const env = {
  ...process.env,
  HOME: work,
  CALLS_STORE: '',
  CALLS_BASE_URL: url,
  CALLS_ACCESS_KEY: accessKey,
  CALLS_SECRET_KEY: secretKey,
};

/** @param {readonly string[]} argv CPU time and wall time of one whole process, in milliseconds. */
function measure(argv) {
  const started = process.hrtime.bigint();

  // The shell tells what its children took of the processor: that holds still where other work
  // shares the machine.
  const script = 'for i in 1 2 3 4 5; do "$@" > /dev/null || exit 1; done; times';
  const shell = [
    '-c',
    argv.includes('demo') ? '"$@" > /dev/null && times' : script,
    'sh',
    process.execPath,
    ...argv,
  ];
  const runs = argv.includes('demo') ? 1 : 5;
  const { status, stdout } = spawnSync('sh', shell, {
    cwd: work,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}`);
  const wall = Number(process.hrtime.bigint() - started) / 1e6;
  const children = stdout.trim().split('\n')[1] ?? '';
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, m, sec]) => Number(m) * 60 + Number(sec),
  );
  return { cpu: (parts.reduce((sum, part) => sum + part, 0) * 1000) / runs, wall: wall / runs };
}

const subjects = {
  'bare node': [empty],
  'calls --help': [bin, '--help'],
  'calls export --help': [bin, 'export', '--help'],
  'calls --version': [bin, '--version'],
  'calls list -n 1': [bin, 'list', '-n', '1'],
};
/** @type {Map<string, { cpu: number, wall: number }[]>} */
const times = new Map(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < 7; round++) {
  for (const [name, argv] of Object.entries(subjects)) times.get(name)?.push(measure(argv));
}

/** @param {string} name @param {'cpu' | 'wall'} what */
const median = (name, what) => {
  const list = (times.get(name) ?? []).map((time) => time[what]).sort((a, b) => a - b);
  return list[Math.floor(list.length / 2)] ?? 0;
};
/** @param {string} name */
const ratioOf = (name) => median(name, 'cpu') / median('bare node', 'cpu');
console.log('| command | CPU ms (median) | wall ms (median) | CPU to bare node |');
console.log('|---|---|---|---|');
for (const name of times.keys()) {
  const cpu = median(name, 'cpu');
  const wall = median(name, 'wall');
  console.log(`| ${name} | ${cpu.toFixed(0)} | ${wall.toFixed(0)} | ${ratioOf(name).toFixed(2)} |`);
}
const demo = measure([bin, 'demo']).wall / 1000;
server.kill();
rmSync(work, { recursive: true });

/** @param {boolean} held */
const verdict = (held) => (held ? 'held' : 'not held');
console.log('');
for (const [name, most] of /** @type {const} */ ([
  ['calls --help', 0.12],
  ['calls list -n 1', 0.35],
])) {
  const above = (median(name, 'cpu') - median('bare node', 'cpu')) / 1000;
  console.log(
    `${name} at most ${most} s of CPU above bare Node.js: ${above.toFixed(2)} s, ${verdict(above <= most)}`,
  );
}
console.log(`calls demo under 20 s: ${demo.toFixed(1)} s, ${verdict(demo < 20)}`);
