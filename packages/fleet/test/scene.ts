import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, createClient } from '@call-attribution/core';
import { createCallStream } from '@call-attribution/node-stream';
import { type Sandbox, type SandboxOptions, startSandbox } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { parquetReadObjects } from 'hyparquet';
import { afterAll } from 'vitest';
import {
  checkJob,
  createWorker,
  credentialsFrom,
  type Engine,
  type Job,
  memoryEngine,
  openTarget,
  type PlannedJob,
  type Worker,
  type WorkerEvent,
  type WorkerOptions,
} from '../src/index.ts';

/** Sids by account. */
export type Sids = ReadonlyMap<string, readonly string[]>;

/** A sandbox with several accounts, their keys in a folder, and a folder for targets. */
export interface Source extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly keys: string;
  readonly folder: string;
  readonly truth: Sids;
  job(into: string, more?: Partial<Job>): Job;
}

/** Starts a source whose last call is long ago, so that nothing of it changes any more. */
export async function openSource(options: SandboxOptions = {}): Promise<Source> {
  const usual = { accounts: 3, records: 600, days: 70, to: '2026-10-01 00:00:00' };
  const sandbox = await startSandbox({ ...usual, ...options });
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  const keys = join(folder, 'keys');
  const truth = new Map<string, string[]>();
  for (const { id, accessKey, secretKey } of sandbox.accounts) {
    writeKeys(keys, id, { accessKey, secretKey });
    const client = createClient({ baseUrl: sandbox.url, auth: apiKeys(accessKey, secretKey) });
    const stream = createCallStream(client, { filter: 'inc_gce:1' });
    truth.set(id, await stream.map(({ sid }) => sid).toArray());
    await client.close();
  }

  sandbox.requests.clear();
  return {
    sandbox,
    keys,
    folder,
    truth,
    job: (into, more) => ({
      name: 'history',
      baseUrl: sandbox.url,
      filter: 'inc_gce:1',
      into,
      accounts: sandbox.accounts.map(({ id }) => ({ id })),
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes or replaces the credentials of an account. */
export function writeKeys(
  folder: string,
  id: string,
  keys: { accessKey: string; secretKey: string },
): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.json`);
  writeFileSync(path, JSON.stringify(keys));
  chmodSync(path, 0o600);
}

/** A worker of this process, and what it has reported. */
export interface TestWorker extends Worker {
  readonly events: WorkerEvent[];
  readonly job: PlannedJob;
}

let made = 0;

/** Makes a worker on a job; by default with an engine of its own. */
export async function workerOn(
  source: Source,
  job: Job,
  more: Partial<WorkerOptions> & { readonly env?: Record<string, string> } = {},
): Promise<TestWorker> {
  made += 1;
  const planned = await checkJob(job);
  const events: WorkerEvent[] = [];
  const { env, ...options } = more;
  const target = options.target ?? (await openTarget(planned.into, env));
  opened.push(target);
  const worker = createWorker({
    job: planned,
    engine: memoryEngine(),
    target,
    credentials: credentialsFrom({ folder: source.keys, onWarning: () => {} }),
    name: `w${made}`,
    ...options,
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  return {
    run: () => worker.run(),
    leave: (grace) => worker.leave(grace),
    get card() {
      return worker.card;
    },
    get trouble() {
      return worker.trouble;
    },
    events,
    job: planned,
  };
}

const opened: AsyncDisposable[] = [];
afterAll(async () => {
  for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
});

/** The tickets of an engine, by account. */
export async function notesOf(engine: Engine) {
  const { tickets } = await engine.look();
  return new Map(tickets.map((ticket) => [ticket.account, ticket]));
}

/** The sids in a target, each as often as it is there. */
export async function sidsIn(into: string): Promise<Sids> {
  return into.startsWith('folder:') ? sidsOfFolder(into.slice(7)) : sidsOfStore(into);
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

/**
 * The files of a folder as `glob` finds them: nothing in a folder whose name begins with a dot or
 * an underscore.
 */
async function sidsOfFolder(folder: string): Promise<Sids> {
  const found = new Map<string, string[]>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.parquet') || path.split('/').some((part) => /^[._]/.test(part))) continue;
    const account = /account=([^/]+)/.exec(path)?.[1] ?? '';
    const sids = await sidsOfFile(readFileSync(join(folder, path)));
    found.set(account, [...(found.get(account) ?? []), ...sids]);
  }

  return found;
}

/** The sids in a file of Parquet. */
export async function sidsOfFile(bytes: Buffer): Promise<string[]> {
  const file = new Uint8Array(bytes).buffer;
  return (await parquetReadObjects({ file, columns: ['sid'] })).map(({ sid }) => String(sid));
}

/** What is in it, to be compared: of each account how many sids, and a hash of all of them. */
export const sorted = (sids: Sids): [string, number, string][] =>
  [...sids]
    .map(([account, list]): [string, number, string] => {
      const hash = createHash('sha256').update([...list].sort().join());
      return [account, list.length, hash.digest('hex').slice(0, 12)];
    })
    .sort();
