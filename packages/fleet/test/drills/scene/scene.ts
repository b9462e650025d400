import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { type Sandbox, startSandbox } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { builtFile } from '@call-attribution/test-tools';
import type { Tally } from '@call-attribution/test-tools/drill';
import { afterAll, expect } from 'vitest';
import {
  type AccountValue,
  type Board,
  credentialsFrom,
  type Job,
  openBoard,
  openTarget,
  type PlanSummary,
  pinJob,
  planJob,
  type WorkerEvent,
} from '../../../src/index.ts';

const program = await builtFile(new URL('./work.ts', import.meta.url).href);

/** Sids by account. */
export type Sids = ReadonlyMap<string, readonly string[]>;

/** A sandbox with several accounts, and their keys in a folder: what the jobs of a drill read. */
export interface Source extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly keys: string;
  readonly truth: Sids;
  job(name: string, into: string, more?: Partial<Job>): Job;
}

/** Starts a source whose last call is long ago, so that a plan covers all of them. */
export async function openSource({ accounts = 4, records = 6000, latency = 0 } = {}): Promise<Source> {
  const sandbox = await startSandbox({
    accounts,
    records,
    days: 20,
    to: '2026-10-01 00:00:00',
    journal: 10,
  });
  const keys = mkdtempSync(join(tmpdir(), 'fleet-keys-'));
  const truth = new Map<string, string[]>();
  for (const { id, accessKey, secretKey } of sandbox.accounts) {
    writeKeys(keys, id, { accessKey, secretKey });
    const client = createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) });
    truth.set(
      id,
      await createCallStream(client, { filter: 'inc_gce:1' })
        .map(({ sid }) => sid)
        .toArray(),
    );
    await client.close();
  }
  if (latency > 0) sandbox.faults.set('*', [{ latency }]);
  return {
    sandbox,
    keys,
    truth,
    job: (name, into, more) => ({
      name,
      baseUrl: sandbox.url,
      accounts: sandbox.accounts.map(({ id }) => ({ id })),
      filter: 'inc_gce:1',
      into,
      parcel: 100,
      ...(into.startsWith('folder:') || into.startsWith('s3:') ? { format: 'ndjson.gz' as const } : {}),
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      rmSync(keys, { recursive: true, force: true });
      await sandbox.close();
    },
  };
}

/** Writes or replaces the credentials of an account. */
export function writeKeys(folder: string, id: string, keys: { accessKey: string; secretKey: string }): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.json`);
  writeFileSync(path, JSON.stringify(keys));
  chmodSync(path, 0o600);
}

/** Plans a job, as `calls fleet plan` does. */
export async function plan(board: Board, job: Job, keys: string): Promise<PlanSummary> {
  const target = await openTarget(job.into, pinJob(job));
  try {
    return await planJob(job, { board, target, credentials: credentialsFrom({ folder: keys }) });
  } finally {
    await target.close();
  }
}

/** A worker in a process of its own. */
export interface RunningWorker {
  readonly name: string;
  readonly child: ChildProcess;
  readonly gone: Promise<number | null>;
  readonly events: WorkerEvent[];
  readonly errors: string[];
}

let started = 0;

/** Starts a worker on a job. */
export function startWorker(
  orders: { board: string; job: string; keys: string },
  { ttl = 2000, slots = 2, env = {} }: { ttl?: number; slots?: number; env?: NodeJS.ProcessEnv } = {},
): RunningWorker {
  started += 1;
  const name = `w${started}`;
  const child = spawn(process.execPath, [program, JSON.stringify({ ...orders, name, ttl, slots })], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
  });
  const events: WorkerEvent[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)));
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  running.add(child);
  void gone.then(() => running.delete(child));
  return { name, child, gone, events, errors };
}

/** Lets workers leave in peace, which must succeed. One that has not begun yet is ended at once. */
export async function endAll(workers: readonly RunningWorker[]): Promise<void> {
  for (const { child, events } of workers) child.kill(events.length === 0 ? 'SIGKILL' : 'SIGTERM');
  for (const { gone, events, errors } of workers) {
    const code = await gone;
    if (events.length > 0) expect(code, errors.join('\n')).toBe(0);
  }
}

const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** The accounts on a board. */
export function accountsOn(board: Board): AccountValue[] {
  return [...board.entries('account.')]
    .map(({ value }) => value as unknown as AccountValue)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Waits until all accounts are done: final, or set aside. */
export async function untilDone(board: Board): Promise<void> {
  const isDone = (account: AccountValue) => account.phase === 'final' || account.phase === 'aside';
  while (!(accountsOn(board).length > 0 && accountsOn(board).every(isDone)))
    await board.changed({ within: 500 });
}

/** Compares what lies in a target with what the source has, and counts parcels and records. */
export async function compare(tally: Tally, source: Source, into: string): Promise<void> {
  const found = into.startsWith('folder:') ? sidsOfFolder(into.slice(7)) : await sidsOfStore(into);
  for (const [account, sids] of source.truth) {
    tally.compare(sids, found.get(account) ?? []);
    tally.happened('records', sids.length);
  }
}

async function sidsOfStore(url: string): Promise<Sids> {
  await using store = await openStore(url);
  const found = new Map<string, string[]>();
  for (const { id } of await store.accounts()) {
    const sids: string[] = [];
    for await (const { sid } of store.calls(id)) sids.push(sid);
    found.set(id, sids);
  }
  return found;
}

/** The files of a folder as `glob` finds them: nothing in a folder whose name begins with a dot or an underscore. */
function sidsOfFolder(folder: string): Sids {
  const found = new Map<string, string[]>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ndjson.gz') && !path.split('/').some((part) => /^[._]/.test(part)),
  );
  for (const path of files) {
    const account = /account=([^/]+)/.exec(path)?.[1] ?? '';
    const lines = gunzipSync(readFileSync(join(folder, path)))
      .toString()
      .split('\n')
      .filter((line) => line !== '');
    const sids = found.get(account) ?? [];
    sids.push(...lines.map((line) => String(JSON.parse(line).sid)));
    found.set(account, sids);
  }
  return found;
}

/** What workers said about parcels: how many they committed, and how many were committed more than once. */
export function countParcels(tally: Tally, workers: readonly RunningWorker[]): void {
  const seen = new Map<string, number>();
  for (const { events } of workers)
    for (const event of events) {
      if (event.kind !== 'parcel' || event.records === 0) continue;
      const key = `${event.account} ${event.index}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
  tally.happened('parcels', seen.size);
  tally.happened(
    'committed twice',
    [...seen.values()].reduce((sum, times) => sum + times - 1, 0),
  );
}

/** A board to look at, closed after the test file. */
export async function watchBoard(url: string, job: string): Promise<Board> {
  const board = await openBoard(url, job);
  boards.push(board);
  return board;
}

const boards: Board[] = [];
afterAll(async () => {
  for (const board of boards) await board.close().catch(() => {});
});
