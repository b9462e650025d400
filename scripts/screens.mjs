// Writes what `calls` shows into the README of the cli, between <!-- screen: name --> and <!-- end -->, from the built
// program over made-up calls. With --check it writes nothing and fails when a screen has changed.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const bin = join(root, 'packages/cli/dist/bin.js');
const readme = join(root, 'packages/cli/README.md');
const work = mkdtempSync(join(tmpdir(), 'screens-'));
const plain = { PATH: process.env.PATH ?? '', HOME: work, NO_COLOR: '1' };

/** @typedef {{ command: string, columns: number, own?: Record<string, string> }} Screen */
/** @type {Record<string, Screen>} */
const screens = {
  demo: { command: 'calls demo', columns: 100 },
  list: { command: 'calls list --from 2026-10-30 --min-talk 2 -n 5', columns: 100 },
  report: { command: 'calls report --by campaign,day --include-extensions', columns: 100 },
  sql: {
    command:
      'calls sql "select channel, missed, count(*) as calls, round(avg(talk_minutes), 1) as mean from calls group by all order by all"',
    columns: 100,
    own: { CALLS_STORE: 'duckdb:calls.duckdb' },
  },
};

// What a user sees at the terminal: both outputs, without the lines that depend on how fast the machine is.
/** @param {Screen} screen @param {Record<string, string>} env */
function shown({ command, columns, own }, env) {
  const quoted = command.replace(/^calls/, `'${process.execPath}' '${bin}'`);
  const both = execFileSync('sh', ['-c', `${quoted} 2>&1`], {
    cwd: work,
    env: { ...plain, ...env, ...own, COLUMNS: String(columns) },
    encoding: 'utf8',
  });
  // The clock of the machine is in the time of the last sync.
  const steady = both
    .replace(/last sync .* UTC/, 'last sync 2026-11-21 12:00:00 UTC')
    .replace(/counted again up to [-\d]+ [:\d]+/, 'counted again up to 2026-11-20 12:00:00');
  const lines = steady.split('\n').filter((line) => !/^\(finished in|^ *calls: .*\d\/s\b/.test(line));
  return [`$ ${command}`, ...lines].join('\n').trimEnd();
}

/** @returns {Promise<{ env: Record<string, string>, stop: () => void }>} */
function sandbox() {
  const args = ['serve', '--port', '0', '--records', '5000', '--ready-json'];
  const child = spawn(process.execPath, [bin, ...args], { env: plain, stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error('the sandbox did not start; was the project built?')));
    child.stdout.once('data', (line) => {
      const { url, accounts } = JSON.parse(String(line));
      const [{ accessKey, secretKey }] = accounts;
      const env = { CALLS_BASE_URL: url, CALLS_ACCESS_KEY: accessKey, CALLS_SECRET_KEY: secretKey };
      resolve({ env, stop: () => child.kill() });
    });
  });
}

const { env, stop } = await sandbox();
const before = readFileSync(readme, 'utf8');
let after = before;
try {
  shown({ command: 'calls sync --store duckdb:calls.duckdb', columns: 100 }, env);
  for (const [name, screen] of Object.entries(screens)) {
    const place = new RegExp(`(<!-- screen: ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(after)) throw new Error(`${readme} has no place for the screen "${name}"`);
    const text = shown(screen, env);
    after = after.replace(place, (_, start, end) => `${start}\`\`\`text\n${text}\n\`\`\`\n${end}`);
  }
} finally {
  stop();
  rmSync(work, { recursive: true, force: true });
}
if (after === before) console.log('the screens are as the program shows them');
else if (process.argv.includes('--check')) {
  console.error('the screens in packages/cli/README.md are out of date; run node scripts/screens.mjs');
  process.exitCode = 1;
} else {
  writeFileSync(readme, after);
  console.log('packages/cli/README.md: new screens');
}
