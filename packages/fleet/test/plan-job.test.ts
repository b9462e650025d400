import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AccountValue,
  type Board,
  BoardMemory,
  type CredentialSource,
  cancelJob,
  credentialsFrom,
  FleetError,
  type Job,
  type JobValue,
  type LaneValue,
  memoryBoard,
  openTarget,
  pauseJob,
  pinJob,
  planJob,
  readStatus,
  retryAside,
  type Target,
} from '../src/index.ts';

const now = () => Date.UTC(2026, 10, 3);
let sandbox: Sandbox;
let root: string;
let keys: string;
let credentials: CredentialSource;
beforeAll(async () => {
  sandbox = await startSandbox({ records: 450, accounts: 3, days: 60, to: '2026-11-01 00:00:00' });
  root = await mkdtemp(join(tmpdir(), 'calls-plan-'));
  keys = await mkdtemp(join(root, 'keys-'));
  for (const { id, accessKey, secretKey } of sandbox.accounts)
    await writeFile(join(keys, `${id}.json`), JSON.stringify({ accessKey, secretKey }), { mode: 0o600 });
  credentials = credentialsFrom({ folder: keys });
});
afterAll(async () => {
  await sandbox.close();
  await rm(root, { recursive: true, force: true });
});

let folders = 0;
const newJob = (more: Partial<Job> = {}): Job => ({
  name: 'history',
  baseUrl: sandbox.url,
  accounts: [{ id: '101', name: 'Main' }, { id: '102' }, { id: '103' }],
  into: `folder:${join(root, `out-${folders++}`)}`,
  format: 'ndjson.gz',
  filter: 'inc_gce:1',
  parcel: 30,
  ...more,
});

const open = (job: Job): Promise<Target> => openTarget(job.into, pinJob(job, now()));
const read = <T>(board: Board, key: string): T => board.get(key)?.value as T;
const everything = (board: Board) =>
  Object.fromEntries([...board.entries('')].map(({ key, value }) => [key, value]).sort());
const requestsOf = () => sandbox.requests.entries().length;

test('a job is planned: parcels end to end in the target, lanes and accounts on the board', async () => {
  const job = newJob({ requestsPerMinute: 6000 });
  await using target = await open(job);
  const board = memoryBoard();
  const progress: number[] = [];
  const summary = await planJob(job, {
    ...{ board, target, credentials, clock: { now } },
    onProgress: (done, of) => progress.push(done / of),
  });
  expect(progress).toEqual([1 / 3, 2 / 3, 1]);
  expect(summary).toMatchObject({ accounts: 3, planned: 3, records: 450, aside: [] });
  expect(summary.job).toEqual(pinJob(job, now()));
  let parcels = 0;
  for (const { id } of job.accounts) {
    const plan = await target.planOf(id);
    const value = read<AccountValue>(board, `account.${id}`);
    expect(value).toMatchObject({
      id,
      phase: 'reading',
      credential: `file:${id}.json`,
      requestsPerMinute: null,
    });
    expect(value.parcels).toBe(plan?.parcels.length);
    expect(plan).toMatchObject({ bounds: 'half-open', from: null, to: '2026-11-02 10:00:00' });
    expect(plan?.parcels.map(({ index }) => index)).toEqual([...(plan?.parcels.keys() ?? [])]);
    expect(plan?.parcels.slice(1).map(({ from }) => from)).toEqual(
      plan?.parcels.slice(0, -1).map(({ to }) => to),
    );
    expect(plan?.parcels.reduce((sum, { total }) => sum + total, 0)).toBe(value.total);
    const lane = { parcels: value.parcels, again: [], aside: [], by: null, done: 0 };
    expect(read<LaneValue>(board, `lane.${id}.0`)).toMatchObject({ ...lane, next: 0 });
    expect(read<LaneValue>(board, `lane.${id}.1`)).toMatchObject({ ...lane, next: 1 });
    parcels += value.parcels;
  }
  expect(summary.parcels).toBe(parcels);
  expect(summary.requests).toBeLessThanOrEqual(1.35 * parcels + 18);
  expect(read<JobValue>(board, 'job')).toMatchObject({
    ...{ format: 1, state: 'running', now: false, job: summary.job },
    ...{ accounts: 3, parcels, records: 450 },
  });
  expect(read<AccountValue>(board, 'account.101').name).toBe('Main');
  expect(JSON.stringify(everything(board))).not.toMatch(/test_(?:access|secret)/);
});

test('planned again it asks nothing, adds new accounts, and takes a new reference for an old one', async () => {
  const job = newJob({ accounts: [{ id: '101' }, { id: '102' }] });
  await using target = await open(job);
  const board = memoryBoard();
  await planJob(job, { board, target, credentials, clock: { now } });
  const before = everything(board);
  const requests = requestsOf();
  const later = () => now() + 86_400_000;
  await planJob(job, { board, target, credentials, clock: { now: later } });
  expect(requestsOf()).toBe(requests);
  expect(everything(board)).toEqual(before);
  const more = { ...job, accounts: [{ id: '101', credential: 'env:CALLS_101' }, { id: '103' }] };
  const summary = await planJob(more, { board, target, credentials, clock: { now: later } });
  expect(summary).toMatchObject({
    accounts: 3,
    planned: 1,
    records: 450,
    job: { to: '2026-11-02 10:00:00' },
  });
  expect(read<JobValue>(board, 'job').accounts).toBe(3);
  expect(read<AccountValue>(board, 'account.101').credential).toBe('env:CALLS_101');
  expect(before['lane.102.1']).toEqual(read(board, 'lane.102.1'));
});

test('two planners at once make one plan', async () => {
  const job = newJob();
  const memory = new BoardMemory();
  const targets = [await open(job), await open(job)] as const;
  const summaries = await Promise.all(
    targets.map((target, i) =>
      planJob(job, {
        board: memoryBoard(memory),
        target,
        credentials,
        clock: { now: () => now() + i * 3_600_000 },
      }),
    ),
  );
  expect(summaries.map(({ records }) => records)).toEqual([450, 450]);
  const board = memoryBoard(memory);
  // Each would have ended at another time.
  const { job: held } = read<JobValue>(board, 'job');
  expect(summaries.map((summary) => summary.job)).toEqual([held, held]);
  for (const { id } of job.accounts)
    expect(read<AccountValue>(board, `account.${id}`).parcels).toBe(
      (await targets[0].planOf(id))?.parcels.length,
    );
  expect([...board.entries('')].map(({ key }) => key)).toHaveLength(1 + 3 + 6);
  for (const target of targets) await target.close();
});

test('ended at any of its writes it goes on when it is run again', async () => {
  const job = newJob({ parcel: 200 });
  const memory = new BoardMemory();
  const wanted = memoryBoard();
  {
    await using target = await open(newJob({ parcel: 200 }));
    await planJob(
      { ...job, into: target.name },
      { board: wanted, target, credentials, clock: { now }, concurrency: 1 },
    );
  }
  for (let writes = 0; ; writes += 1) {
    await using target = await open(job);
    let left = writes;
    const board = memoryBoard(memory);
    const dying: Board = Object.assign(Object.create(board) as Board, {
      write: async (...args: Parameters<Board['write']>) => {
        if (left-- <= 0) throw new FleetError('board_unavailable', 'The board is away.');
        return board.write(...args);
      },
    });
    const outcome = await planJob(job, {
      board: dying,
      target,
      credentials,
      clock: { now },
      concurrency: 1,
    }).catch((error) => error);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'board_unavailable' });
    else break;
    expect(writes).toBeLessThan(20);
  }
  const without = (board: Board) => ({ ...everything(board), job: null });
  expect(without(memoryBoard(memory))).toEqual(without(wanted));
});

test('a board that lost everything is filled from the plans in the target', async () => {
  const job = newJob();
  await using target = await open(job);
  const first = memoryBoard();
  await planJob(job, { board: first, target, credentials, clock: { now } });
  const requests = requestsOf();
  const second = memoryBoard();
  const summary = await planJob(job, {
    board: second,
    target,
    credentials,
    clock: { now: () => now() + 9e9 },
  });
  expect(requestsOf()).toBe(requests);
  expect(everything(second)).toEqual(everything(first));
  expect(summary.requests).toBe(0);
});

test('a target that lost everything is planned again, and the board begins again', async () => {
  const job = newJob();
  const board = memoryBoard();
  const plan = async () => {
    await using target = await open(job);
    await planJob(job, { board, target, credentials, clock: { now } });
  };
  await plan();
  const before = everything(board);
  const lane = board.get('lane.101.0');
  const advanced = { ...(lane?.value as object), next: 4, done: 2, records: 50 };
  await board.write('lane.101.0', advanced, lane?.revision ?? 0);
  await plan();
  expect(read(board, 'lane.101.0')).toEqual(advanced);
  await rm(job.into.slice('folder:'.length), { recursive: true });
  await plan();
  expect(everything(board)).toEqual(before);
});

test('a job that differs from the one on the board or in the target is refused, and what differs is named', async () => {
  const job = newJob({ filter: 'talk_minutes:[2 TO *]' });
  await using target = await open(job);
  const board = memoryBoard();
  await planJob(job, { board, target, credentials, clock: { now } });
  const before = everything(board);
  const other = { ...job, filter: 'talk_minutes:[3 TO *]', lanes: 3, to: '2026-10-01 00:00:00' };
  for (const place of [board, memoryBoard()]) {
    const error = await planJob(other, { board: place, target, credentials, clock: { now } }).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'job_differs' });
    expect(error.message).toContain('filter, ');
    expect(error.message).toContain('lanes (2, now 3)');
    expect(error.message).toContain('to ("2026-11-02 10:00:00", now "2026-10-01 00:00:00")');
    expect(error.message).not.toContain('talk_minutes');
  }
  const { filter: _, ...without } = job;
  await expect(planJob(without, { board, target, credentials, clock: { now } })).rejects.toMatchObject({
    code: 'job_differs',
  });
  expect(everything(board)).toEqual(before);
  await board.write(
    'job',
    { ...read<object>(board, 'job'), format: 2 } as never,
    board.get('job')?.revision ?? 0,
  );
  await expect(planJob(job, { board, target, credentials, clock: { now } })).rejects.toMatchObject({
    code: 'job_newer',
  });
});

test('an account whose key is refused is set aside with the way back, and the others are planned', async () => {
  const job = newJob({ accounts: [...newJob().accounts, { id: '104' }] });
  await using target = await open(job);
  const board = memoryBoard();
  let isReady = false;
  const some: CredentialSource = async (reference, account) => {
    // A source that somebody else wrote may say too much.
    if (account === '104' && !isReady) throw new Error('vault: no 104 next to test_secret_103');
    return account === '102' && !isReady
      ? credentials('file:wrong.json', '102')
      : credentials(reference, account);
  };
  await writeFile(join(keys, 'wrong.json'), '{"accessKey":"a","secretKey":"b"}', { mode: 0o600 });
  const summary = await planJob(job, { board, target, credentials: some, clock: { now } });
  expect(summary).toMatchObject({ accounts: 4, planned: 2 });
  expect(summary.aside.map(({ account, code }) => [account, code]).sort()).toEqual([
    ['102', 'unauthorized'],
    ['104', 'credential_missing'],
  ]);
  expect(read<AccountValue>(board, 'account.102')).toMatchObject({
    ...{ phase: 'aside', parcels: 0, total: 0 },
    aside: {
      code: 'unauthorized',
      message: expect.stringContaining('calls fleet retry history --account 102'),
      by: 'plan',
    },
  });
  expect(readStatus(board).accounts.filter(({ phase }) => phase === 'aside')).toHaveLength(2);
  expect(JSON.stringify(everything(board))).not.toContain('test_secret');

  isReady = true;
  const [retried] = await retryAside(board, { target, credentials: some, account: '102' });
  expect(retried).toMatchObject({ outcome: 'again' });
  expect(retried?.parcels).toBeGreaterThan(1);
  expect(read<AccountValue>(board, 'account.102')).toMatchObject({ phase: 'reading', aside: null });
  expect(read<LaneValue>(board, 'lane.102.1').parcels).toBe(retried?.parcels);

  await writeFile(join(keys, '104.json'), '{"accessKey":"test_access_101","secretKey":"test_secret_101"}', {
    mode: 0o600,
  });
  const again = await planJob(job, { board, target, credentials: some, clock: { now } });
  expect(again).toMatchObject({ accounts: 4, planned: 1, aside: [] });
  expect(read<AccountValue>(board, 'account.104')).toMatchObject({ phase: 'reading', aside: null });
});

test('a signal ends it, and what concerns all accounts is thrown', async () => {
  const job = newJob();
  await using target = await open(job);
  const abort = new AbortController();
  await expect(
    planJob(job, {
      ...{ board: memoryBoard(), target, credentials, clock: { now }, concurrency: 1, signal: abort.signal },
      onProgress: () => abort.abort(),
    }),
  ).rejects.toMatchObject({ name: 'AbortError' });
  const full = Object.assign(Object.create(target) as Target, {
    plan: () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })),
  });
  await expect(
    planJob(job, { board: memoryBoard(), target: full, credentials, clock: { now } }),
  ).rejects.toMatchObject({
    code: 'ENOSPC',
  });
});

test('a paused job stays paused, a cancelled one is taken up again', async () => {
  const job = newJob({ accounts: [{ id: '101' }] });
  await using target = await open(job);
  const board = memoryBoard();
  await planJob(job, { board, target, credentials, clock: { now } });
  await pauseJob(board);
  await planJob(job, { board, target, credentials, clock: { now } });
  expect(read<JobValue>(board, 'job').state).toBe('paused');
  await cancelJob(board);
  await planJob(job, { board, target, credentials, clock: { now } });
  expect(read<JobValue>(board, 'job').state).toBe('running');
});

test('a job that cannot be used is refused before anything is asked', async () => {
  const job = newJob();
  await using target = await open(job);
  const board = memoryBoard();
  const requests = requestsOf();
  const set = { board, target, credentials, clock: { now } };
  for (const wrong of [{ to: '2026-11-03 00:00:00' }, { parcel: 0 }, { accounts: [] }, { secretKey: 'x' }])
    await expect(planJob({ ...job, ...wrong } as Job, set)).rejects.toMatchObject({ code: 'job_invalid' });
  await expect(planJob(job, { ...set, concurency: 2 } as never)).rejects.toThrow('Did you mean concurrency?');
  expect(requestsOf()).toBe(requests);
  expect(everything(board)).toEqual({});
});
