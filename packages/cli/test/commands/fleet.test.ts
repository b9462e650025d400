import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FleetStatus } from '@call-attribution/fleet';
import { openStore } from '@call-attribution/store';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { statusScreen } from '../../src/fleet/status.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { textWidth } from '../../src/terminal/width.ts';
import { openStage, serverThat } from '../stage.ts';

const stage = openStage();

const keys = { accessKey: stage.env.CALLS_ACCESS_KEY, secretKey: stage.env.CALLS_SECRET_KEY };

/** A folder with a job of two accounts, which the sandbox takes for one, and their keys. */
function jobFolder(more: object = {}): string {
  const folder = stage.folder();
  mkdirSync(join(folder, 'keys'));
  for (const id of ['101', '102'])
    writeFileSync(join(folder, `keys/${id}.json`), JSON.stringify(keys), { mode: 0o600 });
  const job = {
    name: 'history',
    baseUrl: stage.url,
    accounts: [{ id: '101' }, { id: '102' }],
    filter: 'inc_gce:1',
    into: 'folder:out',
    ...more,
  };
  writeFileSync(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}

const fleet = (folder: string, line: string, more: Parameters<typeof stage.quick>[1] = {}) =>
  stage.quick(`fleet ${line}`, { cwd: folder, ...more });

const files = (folder: string): string[] =>
  readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^account=101\/.*\.parquet$/.test(name),
  );

async function sids(folder: string): Promise<string[]> {
  const rows = files(folder).map((name) =>
    parquetReadObjects({
      file: new Uint8Array(readFileSync(join(folder, 'out', name))).buffer,
      columns: ['sid'],
    }),
  );
  return (await Promise.all(rows)).flat().map(({ sid }) => String(sid));
}

test('a whole job runs in one process, without a server, and is verified from its file', async () => {
  const folder = jobFolder();
  const run = await fleet(folder, 'work job.json --keys keys --name w-1');
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toMatch(
    /^history: 2 accounts into folder:out, filter inc_gce:1\nw-1: 4 slots, in this process; Ctrl-C stops it\n/,
  );
  expect(run.stderr).toMatch(/\nhistory: 2 of 2 accounts proved, 1,200 calls in folder:out\n$/);
  expect(new Set(await sids(folder)).size).toBe(600);
  expect(await sids(folder)).toHaveLength(600);

  const proof = await stage.quick('verify job.json', { cwd: folder });
  expect(proof.code).toBe(0);
  expect(proof.stdout).toMatch(
    /^folder:out\/account=101\/month=\d{4}-\d{2}\.parquet: proved, [\d,]+ calls?, as the receipt/,
  );

  const compared = await stage.quick('verify job.json --against-api --keys keys', {
    cwd: folder,
  });
  expect(compared).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/account=101: proved, 600 calls/),
  });

  // Again: only what may still have changed is read, and nothing is there twice.
  const again = await fleet(folder, 'work job.json --keys keys --log');
  expect(again.code).toBe(0);
  const lines = again.stderr.split('\n').filter((line) => line.startsWith('{'));
  const turns = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'turn');
  expect(
    turns
      .filter(({ outcome }) => outcome === 'round')
      .map(({ account }) => account)
      .sort(),
  ).toEqual(['101', '102']);
  expect(await sids(folder)).toHaveLength(600);
  expect(again.stderr).not.toContain(keys.secretKey);
});

test('a damaged file, a file that is gone and rows that are gone are found, and verify ends with status 3', async () => {
  const folder = jobFolder({ accounts: [{ id: '101' }] });
  await fleet(folder, 'work job.json --keys keys');
  const [first = '', second = ''] = files(folder).sort();
  const bytes = readFileSync(join(folder, 'out', first));
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
  writeFileSync(join(folder, 'out', first), bytes);
  rmSync(join(folder, 'out', second));
  const { code, stdout } = await stage.quick('verify job.json --json', { cwd: folder });
  expect(code).toBe(3);
  const { checks } = JSON.parse(stdout);
  expect(checks.slice(0, 2)).toMatchObject([{ verdict: 'differs' }, { verdict: 'differs' }]);

  // Work writes anew what is gone.
  expect((await fleet(folder, 'work job.json --keys keys')).code).toBe(0);
  expect(files(folder)).toContain(second);

  const rows = jobFolder({ into: 'sqlite:calls.db' });
  await fleet(rows, 'work job.json --keys keys');
  const whole = await stage.quick('verify job.json', { cwd: rows });
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^101 in sqlite:.*: proved, 600 calls/),
  });
  const { DatabaseSync: Database } = await import('@call-attribution/sqlite');
  const db = new Database(join(rows, 'calls.db'));
  db.exec(
    'DELETE FROM records WHERE rowid IN (SELECT rowid FROM records ORDER BY rowid LIMIT 200)',
  );
  db.close();
  const gone = await stage.quick('verify job.json', { cwd: rows });
  expect(gone.code).toBe(3);
  expect(gone.stdout).toMatch(/10[12] in sqlite:.*: DIFFERS, 400 calls/);
});

test('a job into a store is compared with the API, account by account, with the keys and the part that its file names', async () => {
  const into = { into: 'sqlite:calls.db' };
  const folder = jobFolder(into);
  await fleet(folder, 'work job.json --keys keys');

  // From here on the job is about a part of what the store holds.
  const job = JSON.parse(readFileSync(join(folder, 'job.json'), 'utf8'));
  writeFileSync(
    join(folder, 'job.json'),
    JSON.stringify({ ...job, filter: 'inc_gce:1,talk_minutes:[1 TO *]' }),
  );
  await fleet(folder, 'work job.json --keys keys');

  const verify = (...more: string[]) =>
    stage.quick(['verify', 'job.json', '--against-api', '--keys', 'keys', ...more], {
      cwd: folder,
    });

  const whole = await verify('--json');
  expect(whole, whole.stderr).toMatchObject({ code: 0 });
  const { checks } = JSON.parse(whole.stdout);
  expect(checks).toMatchObject(
    ['101', '102'].map((account) => ({
      verdict: 'proved',
      rows: 600,
      api: [{ account, proof: 'whole' }],
    })),
  );
  expect(checks[0].api[0].calls).toBeGreaterThan(0);
  expect(checks[0].api[0].calls).toBeLessThan(600);

  // Keys that are refused concern their account alone.
  const hidden = { ...keys, secretKey: 'hunter2' };
  writeFileSync(join(folder, 'keys/101.json'), JSON.stringify(hidden), { mode: 0o600 });
  const refused = await verify();
  expect(refused).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/1 of 2 accounts proved/),
  });
  expect(refused.stdout).toMatch(
    /^101 in sqlite:.*: UNPROVEN, 600 calls\n {2}the API could not be asked: .*\n102 in sqlite:.*: proved, 600 calls, each as the API has it\n/,
  );
  expect(refused.stdout + refused.stderr).not.toContain('hunter2');

  writeFileSync(join(folder, 'keys/101.json'), JSON.stringify(keys), { mode: 0o600 });
  const { DatabaseSync: Database } = await import('@call-attribution/sqlite');
  const db = new Database(join(folder, 'calls.db'));
  db.exec('DELETE FROM records WHERE rowid IN (SELECT rowid FROM records ORDER BY rowid LIMIT 50)');
  db.close();
  const gone = await verify();
  expect(gone.code).toBe(3);
  expect(gone.stdout).toMatch(
    /: DIFFERS, 550 calls\n(?: {2}.*\n)* {2}\d+ calls are missing here, of /,
  );
});

test('refused keys set an account aside; status 4 when that is all accounts', async () => {
  const folder = jobFolder();
  writeFileSync(join(folder, 'keys/102.json'), JSON.stringify({ ...keys, secretKey: 'hunter2' }), {
    mode: 0o600,
  });
  const some = await fleet(folder, 'work job.json --keys keys');
  expect(some.code).toBe(3);
  expect(some.stderr).toMatch(/\n {2}102 is set aside: /);
  expect(some.stderr).toMatch(/history: 1 of 2 accounts proved, 600 calls in /);
  expect(some.stderr).toMatch(/→ correct the cause and run the same command again/);
  expect(some.stderr).not.toContain('hunter2');
  writeFileSync(join(folder, 'keys/101.json'), '{}', { mode: 0o600 });
  const none = await fleet(jobFolder(), 'work job.json --keys nowhere');
  expect(none.code).toBe(4);
  expect(none.stderr).toMatch(
    /101 is set aside: .*nothing is there|101 is set aside: .*no such file/,
  );
});

test('each file of credentials that cannot be read is named, and so is each that others can read', async () => {
  const folder = jobFolder();
  expect((await fleet(folder, 'work job.json --keys keys')).code).toBe(0);

  const names = ['101', '102'];
  const compare = () => stage.quick('verify job.json --against-api --keys keys', { cwd: folder });
  if (process.platform !== 'win32') {
    for (const id of names) chmodSync(join(folder, `keys/${id}.json`), 0o644);
    const warning =
      'calls: 2 files of credentials can be read by other users of this machine: 101.json, 102.json. Run chmod 600 on them.\n';
    for (const { code, stderr } of [
      await fleet(folder, 'work job.json --keys keys'),
      await compare(),
    ]) {
      expect(code).toBe(0);
      expect(stderr.split(warning)).toHaveLength(2);
    }
  }

  for (const id of names) rmSync(join(folder, `keys/${id}.json`));
  const none = await compare();
  expect(none.code).toBe(4);
  for (const id of names)
    expect(none.stderr).toContain(
      `The credential of account ${id} (file:${id}.json): there is no such`,
    );
  const work = await fleet(folder, 'work job.json --keys keys');
  for (const id of names) expect(work.stderr).toContain(`  ${id} is set aside: `);
});

test('a job with `every` goes on until Ctrl-C', async () => {
  const folder = jobFolder({ into: 'sqlite:calls.db', every: '1h' });
  const stop = new AbortController();
  const working = fleet(folder, 'work job.json --keys keys --name w-1 --log', {
    signal: stop.signal,
    watchErrors: (text) => {
      if (text.split('"outcome":"round"').length > 2) stop.abort();
    },
  });
  const ended = await working;
  expect(ended.code).toBe(130);
  expect(ended.stderr).toMatch(
    /leaving: what is under way has 1 min to end; a second Ctrl-C ends at once\n/,
  );
  expect(ended.stderr).toMatch(/calls: stopped\n {2}→ what was committed stays/);
});

test('metrics and health are served while it works', async () => {
  const folder = jobFolder({ every: '1h' });
  const stop = new AbortController();
  const seen: string[] = [];
  const working = stage.quick('fleet work job.json --keys keys --status-port 0 --name w-1', {
    cwd: folder,
    signal: stop.signal,
    watchErrors: (text) => {
      const [, url] = /health and metrics on (\S+)/.exec(text) ?? [];
      if (url && seen.length === 0) seen.push(url);
    },
  });
  while (seen.length === 0) await setTimeout(10);
  const get = async (path: string) => (await fetch(`${seen[0]}${path}`)).text();
  expect(await get('/healthz')).toBe('ok\n');
  expect(await get('/readyz')).toBe('ready\n');
  expect(await get('/metrics')).toMatch(/^fleet_turns_total\{outcome="round"\} \d+$/m);
  stop.abort();
  expect((await working).code).toBe(130);
});

const bad: [line: string, said: RegExp, job?: object][] = [
  ['wrok job.json', /calls fleet has no command "wrok"[\s\S]*did you mean calls fleet work/],
  ['work', /calls fleet work: missing required argument 'job'/],
  ['status history --slots 1', /calls fleet status has no option --slots[\s\S]*calls fleet work/],
  ['status history', /needs the engine .*--engine postgres:\/\/user@host\/name, or CALLS_FLEET/],
  ['status history --engine postgres://me:hunter2@h/db', /--engine must not have a password/],
  ['status history --engine redis://h', /--engine must be postgres:/],
  ['work job.json', /has an unknown name "parcel"/, { parcel: 5 }],
  ['work nothing.json', /nothing.json: there is no such file/],
  ['work job.json', /key/, { accounts: [{ id: '101', secretKey: 'hunter2' }] }],
  [
    'work job.json',
    /credential/,
    { accounts: [{ id: '101', credential: 'hunter2hunter2hunter2' }] },
  ],
  ['work job.json', /accounts.ndjson: there is no such file/, { accounts: 'accounts.ndjson' }],
  ['work job.json', /folder:/, { into: 'ftp://h' }],
  ['work job.json --status-host ::1', /--status-host needs --status-port/],
  ['work job.json --slots 0', /'--slots <slots>' argument '0' is invalid/],
];
test.each(bad)('calls fleet %s is refused before anything is read: %s', async (line, said, job) => {
  let requests = 0;
  const server = await serverThat((response) => {
    requests++;
    response.writeHead(500).end();
  });
  const folder = jobFolder({ baseUrl: server.url, ...job });
  const { code, stdout, stderr } = await fleet(folder, line, { env: { CALLS_FLEET: '' } });
  server.close();
  expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain('hunter2');
  expect(stderr).not.toMatch(/\bat .*\.[jt]s:\d+/);
});

test('a store of a newer schema and a bucket that ignores conditions are refused before anything is read', async () => {
  const newer = jobFolder({ into: 'sqlite:calls.db' });
  const path = `sqlite:${join(newer, 'calls.db')}`;
  await (await openStore(path)).close();
  const { DatabaseSync: Database } = await import('@call-attribution/sqlite');
  const db = new Database(join(newer, 'calls.db'));
  db.exec("UPDATE meta SET layout = 'later'; ALTER TABLE records ADD COLUMN mood text");
  db.close();
  const store = await fleet(newer, 'work job.json --keys keys');
  expect(store).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /is not a store of this release: its table "records" has a column "mood"/,
    ),
  });

  // It keeps what is written and takes every write, whatever its conditions.
  const kept = new Set<string>();
  const list = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
  const bucket = await serverThat((response, url) => {
    if (response.req.method === 'PUT') kept.add(url);
    if (url.includes('list-type=2'))
      response.writeHead(200, { 'content-type': 'application/xml' }).end(list);
    else response.writeHead(kept.has(url) ? 200 : 404, { etag: '"x"' }).end();
  });
  const folder = jobFolder({ into: 's3://calls/raw' });
  const aws = {
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'hunter2',
    AWS_ENDPOINT_URL: bucket.url,
  };
  const refused = await fleet(folder, 'work job.json --keys keys', { env: aws });
  bucket.close();
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/The server of s3:\/\/calls\/raw cannot keep two workers apart: /);
  expect(refused.stderr).not.toContain('hunter2');
});

test.runIf(Number(process.versions.node.split('.')[0]) < 22)(
  'an older Node.js says in one sentence what a shared job needs',
  async () => {
    const folder = jobFolder();
    const run = await fleet(folder, 'work job.json --engine postgres://me@127.0.0.1:1/db');
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(
      /A job for several machines needs Node\.js 22\.12 or later, and this is 20\./,
    );
  },
);

const style = styleFor(process.stdout, { NO_COLOR: '1' });

type Worker = FleetStatus['workers'][number];
type Account = FleetStatus['accounts'][number];

const worker = (name: string, more: Partial<Worker> = {}): Worker => ({
  name,
  version: '0.4.0',
  state: 'working',
  why: null,
  slots: 8,
  busy: 8,
  callsPerSecond: 3120,
  requestsPerSecond: 3,
  silentForMs: 2000,
  forMs: 1,
  ...more,
});

const account = (id: string, more: Partial<Account> = {}): Account => ({
  id,
  state: 'waiting',
  calls: 590_112,
  total: 2_000_000,
  newest: '2026-10-03 12:00:00',
  whole: null,
  lacks: null,
  trouble: null,
  troubleForMs: 0,
  dueInMs: 0,
  readAgoMs: null,
  worker: null,
  ...more,
});

const minute = 60_000;
const troubleOf = (code: string, message: string) => ({
  kind: 'server' as const,
  code,
  message,
  since: 0,
  tries: 1,
  by: 'w-app1-3f2a',
});
const failing = {
  state: 'later',
  trouble: troubleOf('server_error', ''),
  troubleForMs: 14 * minute,
} as const;

const status = (more: Partial<FleetStatus> = {}): FleetStatus => ({
  job: 'history',
  into: 'postgres://db/calls',
  state: 'running',
  forMs: 822 * minute,
  states: { working: 8, waiting: 303, later: 3, read: 180, done: 0, aside: 7 },
  calls: 612_004_118,
  total: 1_000_301_772,
  callsPerSecond: 12_410,
  requestsPerSecond: 14.1,
  leftMs: 521 * minute,
  lagMs: 12 * minute,
  workers: [
    worker('w-app1-3f2a'),
    worker('w-app2-77aa', {
      state: 'resting',
      busy: 0,
      callsPerSecond: 0,
      requestsPerSecond: 0,
      why: 'no space left on the disk, next try in 22 s',
    }),
  ],
  accounts: [
    account('103', {
      state: 'aside',
      trouble: troubleOf('unauthorized', 'the server refused the keys'),
    }),
    account('118', { state: 'read', whole: false, lacks: 'short: 2 calls of 590,114 are missing' }),
    account('122', failing),
    account('125', { state: 'working', worker: 'w-app1-3f2a' }),
  ],
  ...more,
});

test('a status says what runs, what is stuck, why, and which command helps', () => {
  expect(
    statusScreen(status(), { width: 120, style, all: false }).join('\n'),
  ).toMatchInlineSnapshot(`
    "history running for 13 h 42 min, into postgres://db/calls
    61.1 %, 612,004,118 of 1,000,301,772 calls, 12,410 calls/s, 14.1 requests/s, about 8 h 41 min left

    WORKER       VERSION  SLOTS  CALLS/S  REQUESTS/S  STATE
    w-app1-3f2a  0.4.0      8/8    3,120         3.0  working
    w-app2-77aa  0.4.0      0/8        0         0.0  resting
      no space left on the disk, next try in 22 s

    working 8, waiting 303, later 3, read 180, set aside 7, each read in the last 12 min, --all lists all accounts
    ACCOUNT  STATE                     CALLS  NEWEST               WORKER
    103      set aside  590,112 of 2,000,000  2026-10-03 12:00:00
      unauthorized: the server refused the keys
      → calls fleet retry history --account 103
    118      read                    590,112  2026-10-03 12:00:00
      short: 2 calls of 590,114 are missing
    122      later      590,112 of 2,000,000  2026-10-03 12:00:00
      server_error; for 14 min, tried again"
  `);
});

test('on a narrow terminal no reason and no command is cut', () => {
  const lines = statusScreen(status(), { width: 45, style, all: false });
  expect(lines.filter((line) => textWidth(line) > 45)).toEqual([]);
  for (const whole of [
    'no space left on the disk, next try in 22 s',
    'unauthorized: the server refused the keys',
    '→ calls fleet retry history --account 103',
    'short: 2 calls of 590,114 are missing',
    'server_error; for 14 min, tried again',
  ])
    expect(lines.join('\n')).toContain(whole);
});

test('a job without workers says what to do first', () => {
  const lines = (more: Partial<FleetStatus>) =>
    statusScreen(status(more), { width: 80, style, all: false }).join('\n');
  expect(lines({ workers: [] })).toContain('no worker is at work → calls fleet work JOB.json');
  expect(lines({ workers: [worker('w-1', { state: 'silent', silentForMs: 90_000 })] })).toMatch(
    /no worker is at work .*\n[\s\S]*no sign of life for 1 min 30 s; others have its work/,
  );
});

test('ten accounts with trouble are shown, all of them with --all', () => {
  const accounts = Array.from({ length: 14 }, (_, i) => account(String(100 + i), failing));
  const screen = (more: Account[], all: boolean) =>
    statusScreen(status({ accounts: [...accounts, ...more] }), { width: 100, style, all });
  expect(screen([], false).at(-1)).toBe('and 4 more');
  expect(screen([account('200')], true).join('\n')).toMatch(/\n113 [\s\S]*\n200 /);
});
