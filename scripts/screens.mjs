// Writes what `calls` shows into the READMEs of cli and fleet, between <!-- screen: name --> and
// <!-- end -->, from the built program over generated calls, and takes the pictures of docs/screens.
// With --check it writes nothing, and fails where one of them is not of today.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oldPictures, setup } from './pictures.mjs';
import { startSandboxProcess } from './sandbox.mjs';
import { root } from './workspace.mjs';

const bin = join(root, 'packages/cli/dist/bin.js');
const files = ['packages/cli/README.md', 'packages/fleet/README.md'];
const work = mkdtempSync(join(tmpdir(), 'screens-'));
const plain = { PATH: process.env.PATH ?? '', HOME: work, NO_COLOR: '1' };

// The generated calls are the same on every day.
const until = '2026-11-01 00:00:00';

/** @typedef {{ command: string, columns: number, hidden?: string, status?: number }} Screen */
/** @type {Record<string, Screen>} */
const screens = {
  report: { command: 'calls report --by campaign,day --include-extensions', columns: 100 },
  'fleet-work': {
    command: 'calls fleet work job.json --keys keys',
    columns: 100,
    hidden: '--name w-app1',
    status: 3,
  },
};

// What a user sees at the terminal: both outputs, without the lines that depend on how fast the
// machine is.
/** @param {Screen} screen @param {Record<string, string>} env */
function shown({ command, columns, hidden = '', status = 0 }, env) {
  const quoted = command.replace(/^calls/, `'${process.execPath}' '${bin}'`);
  const run = spawnSync('sh', ['-c', `${quoted} ${hidden} 2>&1`], {
    cwd: work,
    env: { ...plain, ...env, COLUMNS: String(columns) },
    encoding: 'utf8',
  });
  if (run.status !== status) throw new Error(`${command} ended with ${run.status}:\n${run.stdout}`);
  const both = run.stdout;
  const steady = both
    .replace(/node \S+bin\.js /g, 'calls ')
    .replaceAll(`${work}/`, '')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'https://api.example.com');
  const lines = steady
    .split('\n')
    .filter((line) => !/^\(finished in|^ *[\w -]+: .*\d\/s\b/.test(line));
  return [`$ ${command}`, ...lines].join('\n').trimEnd();
}

// A job of two accounts, which are the same one, and a third one with a wrong key.
/** @param {Record<string, string>} env */
function writeFleet(env) {
  const keys = { accessKey: env.CALLS_ACCESS_KEY, secretKey: env.CALLS_SECRET_KEY };
  mkdirSync(join(work, 'keys'));
  for (const [id, key] of Object.entries({
    101: keys,
    102: keys,
    103: { ...keys, secretKey: 'wrong' },
  }))
    writeFileSync(join(work, `keys/${id}.json`), JSON.stringify(key), { mode: 0o600 });

  const job = {
    name: 'history',
    baseUrl: env.CALLS_BASE_URL,
    accounts: ['101', '102', '103'].map((id) => ({ id })),
    filter: 'inc_gce:1',
    into: 'folder:out',
    from: '2026-09-01',
    until: '2026-10-31',
  };
  writeFileSync(join(work, 'job.json'), JSON.stringify(job));
}

const isCheck = process.argv.includes('--check');
const config = join(work, 'calls.config.json');
writeFileSync(config, JSON.stringify(setup), { mode: 0o600 });
const sandbox = await startSandboxProcess([
  '--records',
  '5000',
  '--to',
  until,
  ...['--store', 'none', '--config', config],
]);
const { CALLS_BASE_URL, CALLS_ACCESS_KEY, CALLS_SECRET_KEY } = sandbox.env;
const env = { CALLS_BASE_URL, CALLS_ACCESS_KEY, CALLS_SECRET_KEY };
/** @type {Map<string, string>} */
const before = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const after = new Map(before);
/** @type {string[]} */
let pictures = [];
try {
  const report = join(work, 'report.html');
  const asked = { command: 'calls report --by campaign,day --period 2026-10', columns: 100 };
  shown({ ...asked, hidden: `-o ${report}` }, { ...env, CALLS_TIME_ZONE: 'UTC' });
  pictures = await oldPictures({ page: sandbox.ready.url, report, isCheck });
  writeFleet(env);
  const made = Object.entries(screens).map(([name, screen]) => [name, shown(screen, env)]);
  for (const [name, text] of made) {
    const place = new RegExp(`(<!-- screen: ${name} -->\n)[^]*?(<!-- end -->)`);
    const file = files.find((each) => place.test(after.get(each) ?? ''));
    if (file === undefined)
      throw new Error(`neither ${files.join(' nor ')} has a place for the screen "${name}"`);
    const page = after.get(file) ?? '';
    after.set(
      file,
      page.replace(place, (_, start, end) => `${start}\`\`\`text\n${text}\n\`\`\`\n${end}`),
    );
  }
} finally {
  await sandbox.close();
  rmSync(work, { recursive: true, force: true });
}
const changed = files.filter((file) => after.get(file) !== before.get(file));
const old = [...changed, ...pictures];
if (old.length === 0) console.log('the screens are as the programs show them');
else if (isCheck) {
  console.error(`${old.join(', ')}: not as the programs show them today; pnpm screens writes them`);
  process.exitCode = 1;
} else {
  for (const file of changed) writeFileSync(join(root, file), after.get(file) ?? '');
  console.log(`${old.join(', ')}: new screens`);
}
