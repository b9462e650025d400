import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openStore } from '@call-attribution/store';
import { afterAll, expect, test } from 'vitest';
import type { Finished } from './program.ts';
import { openStage, serverThat } from './stage.ts';

const stage = openStage();
afterAll(() => stage.close());

const keys = { accessKey: stage.env.CALLS_ACCESS_KEY, secretKey: stage.env.CALLS_SECRET_KEY };

/** A folder with a job of two accounts, which the sandbox takes for one, and their keys. */
function jobFolder(more: object = {}): string {
  const folder = stage.folder();
  mkdirSync(join(folder, 'keys'));
  for (const id of ['101', '102'])
    writeFileSync(join(folder, `keys/${id}.json`), JSON.stringify(keys), { mode: 0o600 });
  const job = {
    ...{ name: 'history', baseUrl: stage.url, accounts: [{ id: '101' }, { id: '102' }] },
    ...{ filter: 'inc_gce:1', into: 'folder:out', format: 'ndjson', parcel: 300 },
    ...more,
  };
  writeFileSync(join(folder, 'job.json'), JSON.stringify(job));
  return folder;
}

const fleet = (
  folder: string,
  args: readonly string[],
  more: Parameters<typeof stage.quick>[1] = {},
): Promise<Finished> => stage.quick(['fleet', ...args], { cwd: folder, ...more });

const sids = (folder: string): string[] =>
  readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /account=101\/.*\.ndjson$/.test(name))
    .flatMap((name) =>
      readFileSync(join(folder, 'out', name), 'utf8')
        .split('\n')
        .filter(Boolean),
    )
    .map((line) => JSON.parse(line).sid);

test('a whole job runs in one process, without a board or server, and is verified from its file', async () => {
  const folder = jobFolder();
  const run = await fleet(folder, ['work', 'job.json', '--keys', 'keys']);
  expect(run).toMatchObject({ code: 0, stdout: '' });
  expect(run.stderr).toMatch(/^history: 2 accounts into .*out, filter inc_gce:1\n/);
  expect(run.stderr).toMatch(
    /planned 2 of 2 accounts until \S+ \S+ {3}1,200 records in \d+ parcels {3}\d+ requests, /,
  );
  expect(run.stderr).toMatch(/\nhistory: 2 of 2 accounts proved, 1,200 records in .*out\n$/);
  expect(new Set(sids(folder)).size).toBe(600);
  expect(sids(folder)).toHaveLength(600);

  const proof = await fleet(folder, ['verify', 'job.json', '--keys', 'keys', '--deep']);
  expect(proof.code).toBe(0);
  expect(proof.stdout).toMatch(/^ACCOUNT +PARCELS +RECORDS +SERVER +VERDICT\n101 +\d+ +600 +600 +proved\n/);
  expect(proof.stdout).toMatch(/2 accounts: 2 proved {3}1,200 records\n$/);

  // Again: nothing is left to read, and nothing is there twice.
  const again = await fleet(folder, ['work', 'job.json', '--keys', 'keys', '--log']);
  expect(again.code).toBe(0);
  const lines = again.stderr.split('\n').filter((line) => line.startsWith('{'));
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'parcel');
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['done']));
  expect(sids(folder)).toHaveLength(600);
  expect(again.stderr).not.toContain(keys.secretKey);
});

test('a damaged file is found, and verify ends with status 3', async () => {
  const folder = jobFolder({ accounts: [{ id: '101' }] });
  await fleet(folder, ['work', 'job.json', '--keys', 'keys']);
  const [file = ''] = readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ndjson'),
  );
  const text = readFileSync(join(folder, 'out', file), 'utf8');
  writeFileSync(join(folder, 'out', file), text.replace('"sid"', '"sie"'));
  const { code, stdout } = await fleet(folder, ['verify', 'job.json', '--keys', 'keys', '--deep', '--json']);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ account: '101', verdict: 'differs' });
});

test('refused keys set an account aside; status 4 when that is all accounts', async () => {
  const folder = jobFolder();
  writeFileSync(join(folder, 'keys/102.json'), JSON.stringify({ ...keys, secretKey: 'hunter2' }), {
    mode: 0o600,
  });
  const some = await fleet(folder, ['work', 'job.json', '--keys', 'keys']);
  expect(some.code).toBe(3);
  expect(some.stderr).toMatch(/\n {2}102 is set aside: /);
  expect(some.stderr).toMatch(/history: 1 of 2 accounts proved, 600 records in /);
  expect(some.stderr).toMatch(/→ put the reason right and run the same command/);
  expect(some.stderr).not.toContain('hunter2');
  writeFileSync(join(folder, 'keys/101.json'), '{}', { mode: 0o600 });
  const none = await fleet(jobFolder(), ['work', 'job.json', '--keys', 'nowhere']);
  expect(none.code).toBe(4);
  expect(none.stderr).toMatch(/101 is set aside: .*nothing is there|101 is set aside: .*no such file/);
});

test('a job that syncs goes on until Ctrl-C; meanwhile the other tasks see it and give orders', async () => {
  const folder = jobFolder({ into: 'sqlite:calls.db', format: undefined, sync: { every: '1h' } });
  const board = ['--board', `memory:${folder}`];
  const stop = new AbortController();
  const working = fleet(
    folder,
    ['work', 'job.json', ...board, '--keys', 'keys', '--name', 'w-1', '--ttl', '1s'],
    {
      signal: stop.signal,
    },
  );
  const json = async () => {
    // A board in memory answers within the same turn of the event loop, which would leave none for the worker.
    await setTimeout(10);
    const { stdout } = await fleet(folder, ['status', 'history', ...board, '--json', '--all']);
    return stdout === '' ? null : JSON.parse(stdout);
  };
  let status = await json();
  while (status?.phases.syncing !== 2) status = await json();
  expect(status).toMatchObject({
    ...{ state: 'running', parcels: { aside: 0 }, records: { done: 1200, total: 1200 } },
    workers: [{ name: 'w-1' }],
    accounts: [{ id: '101', trouble: null }, { id: '102' }],
  });

  const paused = await fleet(folder, ['pause', 'history', ...board]);
  expect(paused).toMatchObject({ code: 0 });
  expect(paused.stderr).toMatch(/history is paused.*calls fleet resume history/);
  const shown = await fleet(folder, ['status', 'history', ...board], { env: { COLUMNS: '80' } });
  expect(shown.stdout).toMatch(
    /^history {3}paused for .*\n[\s\S]*nothing new is read → calls fleet resume history\n/,
  );
  expect((await fleet(folder, ['resume', 'history', ...board])).stderr).toBe('history goes on\n');

  const retried = await fleet(folder, ['retry', 'history', '--account', '101', ...board, '--keys', 'keys']);
  expect(retried.stderr).toMatch(/^101: was not set aside; it is compared with the server once more\n$/);
  expect(
    await fleet(folder, ['retry', 'history', '--account', '9', ...board, '--keys', 'keys']),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/has no account 9/),
  });

  const cancel = await fleet(folder, ['cancel', 'history', ...board]);
  expect(cancel).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no terminal\n.*add --yes/),
  });
  stop.abort();
  const ended = await working;
  expect(ended.code).toBe(130);
  expect(ended.stderr).toMatch(
    /leaving: parcels under way have 1 min to end; a second Ctrl-C ends at once\n/,
  );
  expect(ended.stderr).toMatch(/calls: stopped\n {2}→ what was committed stays/);
  expect(await fleet(folder, ['cancel', 'history', '--yes', ...board])).toMatchObject({ code: 0 });
  expect((await fleet(folder, ['resume', 'history', ...board])).stderr).toMatch(/history was cancelled/);
  expect(await json()).toMatchObject({ state: 'cancelled' });
});

test('metrics and health are served while it works', async () => {
  const folder = jobFolder({ sync: { every: '1h' } });
  const stop = new AbortController();
  const seen: string[] = [];
  const working = stage.quick(
    ['fleet', 'work', 'job.json', '--keys', 'keys', '--status-port', '0', '--name', 'w-1'],
    {
      cwd: folder,
      signal: stop.signal,
      watchErrors: (text) => {
        const [, url] = /health and metrics on (\S+)/.exec(text) ?? [];
        if (url && seen.length === 0) seen.push(url);
      },
    },
  );
  while (seen.length === 0) await setTimeout(10);
  const get = async (path: string) => (await fetch(`${seen[0]}${path}`)).text();
  expect(await get('/healthz')).toBe('ok\n');
  expect(await get('/readyz')).toBe('ready\n');
  expect(await get('/metrics')).toMatch(/^fleet_parcels_total\{outcome="committed"\} \d+$/m);
  stop.abort();
  expect((await working).code).toBe(130);
});

const bad: [string, string[], RegExp[], object?][] = [
  [
    'an unknown task',
    ['plann', 'job.json'],
    [/calls fleet has no command "plann"/, /did you mean calls fleet plan/],
  ],
  ['a task without a job', ['status'], [/calls fleet status needs job/]],
  [
    'an option of another task',
    ['status', 'history', '--deep'],
    [/calls fleet status has no option --deep/, /calls fleet verify/],
  ],
  ['no board', ['status', 'history'], [/needs a board: --board nats:\/\/host, or CALLS_FLEET_BOARD/]],
  [
    'a plan on a board of this process',
    ['plan', 'job.json', '--board', 'memory:'],
    [/seen by one process only/],
  ],
  [
    'a status of a board of this process',
    ['status', 'history', '--board', 'memory:x'],
    [/seen by one process only/],
  ],
  [
    'work in this process by name',
    ['work', 'history', '--board', 'memory:'],
    [/calls fleet work history.json --board memory:/],
  ],
  ['a plan by name', ['plan', 'history', '--board', 'memory:'], [/needs the file of the job/]],
  [
    'a password in the board',
    ['status', 'history', '--board', 'postgres://me:hunter2@h/db'],
    [/--board must not have a password/],
  ],
  ['an unknown kind of board', ['status', 'history', '--board', 'redis://h'], [/nats:\/\/host, postgres:/]],
  ['a job file that is not there', ['work', 'nothing.json'], [/nothing.json: there is no such file/]],
  [
    'a key in clear in the job',
    ['work', 'job.json'],
    [/key/],
    { accounts: [{ id: '101', secretKey: 'hunter2' }] },
  ],
  [
    'a key in place of a reference',
    ['work', 'job.json'],
    [/credential/],
    { accounts: [{ id: '101', credential: 'hunter2hunter2hunter2' }] },
  ],
  [
    'an unknown file of accounts',
    ['work', 'job.json'],
    [/accounts.ndjson: there is no such file/],
    { accounts: 'accounts.ndjson' },
  ],
  ['an unknown kind of target', ['work', 'job.json'], [/folder:/], { into: 'ftp://h' }],
  [
    '--status-host alone',
    ['work', 'job.json', '--status-host', '::1'],
    [/--status-host needs --status-port/],
  ],
  ['no slots', ['work', 'job.json', '--slots', '0'], [/--slots must be a whole number from 1 to 64/]],
];
test.each(bad)('%s is refused in one sentence before anything is read', async (_, args, said, job) => {
  let requests = 0;
  const server = await serverThat((response) => {
    requests++;
    response.writeHead(500).end();
  });
  const folder = jobFolder({ baseUrl: server.url, ...job });
  const { code, stdout, stderr } = await fleet(folder, args, { env: { CALLS_FLEET_BOARD: '' } });
  server.close();
  expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
  for (const text of said) expect(stderr).toMatch(text);
  expect(stderr).not.toContain('hunter2');
  expect(stderr).not.toMatch(/\bat .*\.[jt]s:\d+/);
});

test('a store of a newer schema and a bucket that ignores conditions are refused before anything is read', async () => {
  const newer = jobFolder({ into: 'sqlite:calls.db', format: undefined });
  const path = `sqlite:${join(newer, 'calls.db')}`;
  await (await openStore(path)).close();
  const { default: Database } = await import('libsql');
  const db = new Database(join(newer, 'calls.db'));
  db.exec('UPDATE meta SET version = 999');
  db.close();
  const store = await fleet(newer, ['work', 'job.json', '--keys', 'keys']);
  expect(store).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/are of version 999; this release reads/),
  });

  // It keeps what is written and takes every write, whatever its conditions.
  const kept = new Set<string>();
  const list = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
  const bucket = await serverThat((response, url) => {
    if (response.req.method === 'PUT') kept.add(url);
    if (url.includes('list-type=2')) response.writeHead(200, { 'content-type': 'application/xml' }).end(list);
    else response.writeHead(kept.has(url) ? 200 : 404, { etag: '"x"' }).end();
  });
  const folder = jobFolder({ into: 's3://calls/raw' });
  const aws = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'hunter2', AWS_ENDPOINT_URL: bucket.url };
  Object.assign(process.env, aws);
  const refused = await fleet(folder, ['work', 'job.json', '--keys', 'keys']);
  for (const name of Object.keys(aws)) delete process.env[name];
  bucket.close();
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(
    /The server of s3:\/\/calls\/raw cannot keep two workers apart: .*200 instead of 412/,
  );
  expect(refused.stderr).not.toContain('hunter2');
});
