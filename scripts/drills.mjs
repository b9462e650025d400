// `pnpm drills`: long tests that kill, stop, fill, cut, move and attack, and count what was lost, doubled, hung or lied about.
// About ten minutes by default. `--long`: full length. `--write`: writes the counts into docs/reliability.md. A path or a part of
// one chooses files; what follows `--` goes to vitest.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './workspace.mjs';

// It measures how long others wait, so it cannot run next to other drills.
const alone = ['packages/service/test/drills/attack.drill.ts'];

const end = process.argv.includes('--') ? process.argv.indexOf('--') : process.argv.length;
const given = process.argv.slice(2, end);
const options = given.filter((each) => each.startsWith('--'));
const unknown = options.filter((each) => each !== '--long' && each !== '--write');
const paths = given.filter((each) => !each.startsWith('--'));
if (unknown.length > 0)
  fail(`unknown option ${unknown[0]}: pnpm drills [--long] [--write] [path ...] [-- options of vitest]`);
const isLong = options.includes('--long');
if (options.includes('--write') && paths.length > 0) fail('--write needs all drills: leave out the paths');

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
  .filter((file) => paths.length === 0 || paths.some((path) => file.includes(path)));
if (files.length === 0) fail(`no drill has ${paths.join(' or ')} in its path`);
const together = files.filter((file) => !alone.includes(file));
if (together.length > 0) passed = await vitest(together);
for (const file of files.filter((file) => alone.includes(file))) passed = (await vitest([file])) && passed;
/** @type {Result[]} */
const results = existsSync(report)
  ? readFileSync(report, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  : [];
results.sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name));
// Some files are checks of a browser or a terminal, and count nothing.
if (results.length > 0) print(results);
if (options.includes('--write')) {
  if (!passed) fail('a drill failed: docs/reliability.md stays as it is');
  writeFileSync(join(root, 'docs/reliability.md'), page(results));
  console.log('docs/reliability.md is written');
}
if (!passed) process.exitCode = 1;

/**
 * @typedef {{ name: string, kind: string, what: string, runs: number, lost: number, doubled: number, hung: number,
 *   lied: number, events: Record<string, number> }} Result
 */

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

/** @param {Result[]} results */
function print(results) {
  const rows = [
    ['drill', 'kind', 'runs', 'lost', 'doubled', 'hung', 'lied'],
    ...results.map((each) => [each.name, each.kind, ...counts(each)]),
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

/** @param {Result} result */
function counts({ runs, lost, doubled, hung, lied }) {
  return [runs, lost, doubled, hung, lied].map((count) => count.toLocaleString('en-US'));
}

/** @param {Result[]} results */
function page(results) {
  const sum = (/** @type {'runs' | 'lost' | 'doubled' | 'hung' | 'lied'} */ key) =>
    results.reduce((total, each) => total + each[key], 0).toLocaleString('en-US');
  const rows = results.map((each) => {
    const events = Object.entries(each.events).map(
      ([event, count]) => `${count.toLocaleString('en-US')} ${event}`,
    );
    const what = `${each.what}.${events.length > 0 ? ` In this run: ${events.join(', ')}.` : ''}`;
    return `| ${each.name} | ${each.kind} | ${what} | ${counts(each).join(' | ')} |`;
  });
  const minutes = Math.round((Date.now() - started) / 60_000);
  const machine = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, Node.js ${process.versions.node}`;
  return `# Reliability

<!-- Written by \`pnpm drills --write\`: change scripts/drills.mjs or the drills instead of this page. -->

Drills are tests that break what the packages depend on, over and over, and then compare records one by one. \`pnpm drills\` takes
about ten minutes and is part of \`pnpm check\`; \`pnpm drills --long\` takes longer; \`pnpm drills <path>\` runs one file. Each drill counts:

- **runs**: processes, reads or histories;
- **lost**: records that should be there and are not;
- **doubled**: records that are there more than once;
- **hung**: runs that did not end in time;
- **lied**: results that were not true, such as an exit status of 0 without all records, a wrong total, or a record that never was.

A drill fails if one of the last four is not zero. What the drills do not show: they run on one machine, so a cut network between
hosts and a disk that loses what it has confirmed are not part of them. Power failures are not simulated either; files and
databases are synced to the disk before something is reported as written.

The last run of ${isLong ? '`pnpm drills --long`' : '`pnpm drills`'}, ${minutes} minutes on ${machine}:

| drill | kind | what it does, and what must hold | runs | lost | doubled | hung | lied |
|---|---|---|---:|---:|---:|---:|---:|
${rows.join('\n')}
| all | | | ${sum('runs')} | ${sum('lost')} | ${sum('doubled')} | ${sum('hung')} | ${sum('lied')} |
`;
}

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`drills: ${why}`);
  process.exit(1);
}
