// `pnpm drills`: long tests that kill, stop, fill, cut, move and attack, and count what was lost (records that should be there and are
// not), doubled, hung (runs that did not end in time) or lied about (a success without all records,
// a wrong total, a record that never was). `--long`: full length, the files `*.long.drill.ts` too,
// and the packages on each Node.js. A path or a part of one chooses files, long ones included; what
// follows `--` goes to vitest. All run on one machine: a cut network between hosts, a power failure
// and a disk that loses what it has confirmed are not part of them.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { root } from './workspace.mjs';

/**
 * @typedef {{ name: string, kind: string, runs: number, lost: number, doubled: number, hung: number, lied: number,
 *   seconds: number, events: Record<string, number> }} Result
 */

// One measures how long others wait, one keeps the machine busy: they cannot run next to other
// drills.
const alone = [
  'packages/service/test/drills/attack.long.drill.ts',
  'packages/test-tools/test/drills/busy-machine.long.drill.ts',
];

const end = process.argv.includes('--') ? process.argv.indexOf('--') : process.argv.length;
const given = process.argv.slice(2, end);
const options = given.filter((each) => each.startsWith('-'));
const unknown = options.filter((each) => each !== '--long');
const paths = given.filter((each) => !each.startsWith('-'));
if (unknown.length > 0)
  fail(`unknown option ${unknown[0]}: pnpm drills [--long] [path ...] [-- options of vitest]`);
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
for (const file of files.filter((file) => alone.includes(file)))
  passed = (await vitest([file])) && passed;
// Some files are checks of a browser or a terminal, and count nothing.
if (existsSync(report)) print(readFileSync(report, 'utf8'));
printFailures();
if (isLong && paths.length === 0)
  passed =
    (await run('pnpm', ['build'])) && (await run('pnpm', ['packages', '--each-node'])) && passed;
if (!passed) process.exitCode = 1;

/** @param {string[]} args @returns {Promise<boolean>} */
function vitest(args) {
  // A log shows what failed and nothing else; on a terminal each file is shown when it ends.
  const reporters = [
    `--reporter=${process.stdout.isTTY ? 'default' : 'minimal'}`,
    '--reporter=json',
    `--outputFile.json=${join(folder, `results-${readdirSync(folder).length}.json`)}`,
  ];
  return run('pnpm', [
    'exec',
    'vitest',
    'run',
    '--project',
    'drills',
    ...reporters,
    ...args,
    ...more,
  ]);
}

/** @param {string} command @param {string[]} args @returns {Promise<boolean>} */
function run(command, args) {
  const env = {
    ...process.env,
    CALLS_DRILLS: isLong ? 'long' : 'usual',
    CALLS_DRILLS_REPORT: report,
  };
  return new Promise((resolve) => {
    spawn(command, args, { cwd: root, env, stdio: 'inherit' }).on('exit', (code) =>
      resolve(code === 0),
    );
  });
}

/** @param {string} lines of JSON, one a drill */
function print(lines) {
  /** @type {Result[]} */
  const results = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
  console.table(
    Object.fromEntries(
      results.map(({ name, events, ...counts }) => {
        const happened = Object.entries(events).map(([event, count]) => `${count} ${event}`);
        return [name, { ...counts, events: happened.join(', ') }];
      }),
    ),
  );
  console.log(`${results.length} drills took ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Says once more, last, what failed: of a long log, often only the end is kept. */
function printFailures() {
  const results = readdirSync(folder).filter((name) => name.startsWith('results-'));
  for (const name of results) {
    /** @type {{ testResults: { name: string, message: string, assertionResults: {
     *   status: string, fullName: string, failureMessages: string[] }[] }[] }} */
    const { testResults } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const file of testResults) {
      const failed = file.assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0 && file.message === '') continue;

      console.log(`\n${relative(root, file.name)} failed. ${file.message}`);
      for (const { fullName, failureMessages } of failed)
        console.log(`- ${fullName}\n  ${failureMessages.join('\n  ').slice(0, 3000)}`);
    }
  }
}

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`drills: ${why}`);
  process.exit(1);
}
