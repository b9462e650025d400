// `pnpm drills`: long tests that kill, stop, fill, cut, move and attack, and count what was lost, doubled, hung or lied about. Its limit
// is six minutes on two cores. `--long`: full length, and the files `*.long.drill.ts` too. `--write`: writes the results into
// docs/reliability.md, next to those of drills that were not run. A path or a part of one chooses files, long ones included; what
// follows `--` goes to vitest.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { readResults, reliabilityPage } from './reliability.mjs';
import { root } from './workspace.mjs';

/** @typedef {import('./reliability.mjs').Result} Result */

// One measures how long others wait, one keeps the machine busy: they cannot run next to other drills.
const alone = [
  'packages/service/test/drills/attack.long.drill.ts',
  'packages/test-tools/test/drills/busy-machine.long.drill.ts',
];

const end = process.argv.includes('--') ? process.argv.indexOf('--') : process.argv.length;
const given = process.argv.slice(2, end);
const options = given.filter((each) => each.startsWith('-'));
const unknown = options.filter((each) => each !== '--long' && each !== '--write');
const paths = given.filter((each) => !each.startsWith('-'));
if (unknown.length > 0)
  fail(`unknown option ${unknown[0]}: pnpm drills [--long] [--write] [path ...] [-- options of vitest]`);
const isLong = options.includes('--long');

const folder = mkdtempSync(join(tmpdir(), 'drills-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const report = join(folder, 'report.ndjson');
const more = process.argv.slice(end + 1);
const started = Date.now();
let passed = true;
const files = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}/test/drills`)
  .filter((path) => existsSync(join(root, path)))
  .flatMap((path) => readdirSync(join(root, path)).map((file) => `${path}/${file}`))
  .filter((file) => file.endsWith('.drill.ts'))
  .filter((file) =>
    paths.length === 0
      ? isLong || !file.endsWith('.long.drill.ts')
      : paths.some((path) => file.includes(path)),
  );
if (files.length === 0) fail(`no drill has ${paths.join(' or ')} in its path`);
const together = files.filter((file) => !alone.includes(file));
if (together.length > 0) passed = await vitest(together);
for (const file of files.filter((file) => alone.includes(file))) passed = (await vitest([file])) && passed;
const results = readResults(existsSync(report) ? readFileSync(report, 'utf8') : '');
// Some files are checks of a browser or a terminal, and count nothing.
if (results.length > 0) print(results);
if (options.includes('--write')) {
  const page = join(root, 'docs/reliability.md');
  const machine = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, Node.js ${process.versions.node}`;
  const form = isLong ? /** @type {const} */ ('long') : /** @type {const} */ ('usual');
  const run = { form, isWhole: paths.length === 0, machine, day: new Date().toISOString().slice(0, 10) };
  writeFileSync(page, reliabilityPage(existsSync(page) ? readFileSync(page, 'utf8') : '', results, run));
  console.log('docs/reliability.md is written');
}
if (!passed) process.exitCode = 1;

/** @param {string[]} args @returns {Promise<boolean>} */
function vitest(args) {
  // A log shows what failed and nothing else; on a terminal each file is shown when it ends.
  const reporter = `--reporter=${process.stdout.isTTY ? 'default' : 'minimal'}`;
  const command = ['exec', 'vitest', 'run', '--project', 'drills', reporter, ...args, ...more];
  const env = { ...process.env, CALLS_DRILLS: isLong ? 'long' : 'usual', CALLS_DRILLS_REPORT: report };
  return new Promise((resolve) => {
    spawn('pnpm', command, { cwd: root, env, stdio: 'inherit' }).on('exit', (code) => resolve(code === 0));
  });
}

/** @param {readonly Result[]} results */
function print(results) {
  const rows = [
    ['drill', 'kind', 'runs', 'lost', 'doubled', 'hung', 'lied', 's'],
    ...results.map(({ name, kind, runs, lost, doubled, hung, lied, seconds }) => [
      ...[name, kind],
      ...[runs, lost, doubled, hung, lied, seconds].map((count) => count.toLocaleString('en-US')),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    );
  console.log(`${results.length} drills took ${Math.round((Date.now() - started) / 1000)} s`);
}

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`drills: ${why}`);
  process.exit(1);
}
