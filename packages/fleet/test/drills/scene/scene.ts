import { type ChildProcess, fork, spawn } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtFile } from '@call-attribution/test-tools';
import type { Tally } from '@call-attribution/test-tools/drill';
import { newDatabase, runSql, startPostgres } from '@call-attribution/test-tools/postgres';
import pg from 'pg';
import { afterAll, expect } from 'vitest';
import { fleetEngine } from '../../../../../scripts/nodes.mjs';
import { engineSchema } from '../../../src/engine/cards.ts';
import type {
  Engine,
  FleetFacts,
  Job,
  TicketNote,
  Turn,
  WorkerCard,
  WorkerEvent,
} from '../../../src/index.ts';
import { type BucketServer, startBucketServer } from '../../bucket-server.ts';
import { type Sids, type Source, sidsIn, sidsOfFile } from '../../scene.ts';

const { node, modules } = fleetEngine();

/** A program of this folder, which finds pg-boss next to it. */
async function built(name: string): Promise<string> {
  const file = await builtFile(new URL(name, import.meta.url).href, [
    {
      name: 'pg-boss-next-to-it',
      setup({ onResolve }) {
        onResolve({ filter: /^pg-boss$/ }, ({ path }) => ({ path, external: true }));
      },
    },
  ]);
  symlinkSync(modules, join(dirname(file), 'node_modules'));
  return file;
}

const program = await built('./program.ts');
const engineProgram = await built('./engine-program.ts');

/** The same program as another release of the package. */
export function otherRelease(version: string): string {
  const built = dirname(dirname(program));
  const folder = `${built}-${version}`;
  cpSync(built, folder, { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version }));
  return join(folder, 'src', basename(program));
}

const server = startPostgres();

/** A new database of the server of this file. */
export async function database(): Promise<string> {
  if (server === null) throw new Error('PostgreSQL is not installed');
  const url = await newDatabase(server.url);

  // The server of the tests loses what it has committed last when it crashes. Those of users do
  // not.
  await runSql(
    url,
    `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = on`,
  );
  return url;
}

/** Ends all connections to a database. */
export const endBackends = (url: string): Promise<void> =>
  runSql(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
  );

/** Kills a process of the server, which then ends all others, too, and recovers. */
export async function crash(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  process.kill(rows[0].pid, 'SIGKILL');
  await new Promise((resolve) => client.once('end', resolve));
}

/** A worker in a process of its own. */
export interface RunningWorker {
  readonly name: string;
  readonly child: ChildProcess;
  readonly gone: Promise<number | null>;
  readonly events: (
    | WorkerEvent
    | { readonly kind: 'open' }
    | { readonly kind: 'end'; readonly reason: string }
  )[];
  readonly errors: string[];
  /** When its turns began and ended, by account. */
  readonly turns: { readonly account: string; readonly from: number; readonly to: number }[];
}

let started = 0;
const running = new Set<ChildProcess>();

/** Starts a worker on a job. */
export function startWorker(
  orders: {
    readonly engine: string | null;
    readonly job: string;
    readonly keys: string;
    readonly slots?: number;
  },
  env: NodeJS.ProcessEnv = {},
  {
    source = program,
    inside = [],
  }: { readonly source?: string; readonly inside?: readonly string[] } = {},
): RunningWorker {
  started += 1;
  const name = `w${started}`;
  const words = [...inside, node, source, JSON.stringify({ slots: 4, ...orders, name })];
  const [command = node, ...args] = words;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
  });
  const events: RunningWorker['events'] = [];
  const errors: string[] = [];
  const turns: RunningWorker['turns'] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event: RunningWorker['events'][number] = JSON.parse(line);
    events.push(event);
    if (event.kind !== 'turn') return;
    const to = performance.now();
    turns.push({ account: event.account, from: to - event.seconds * 1000, to });
  });
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  running.add(child);
  void gone.then(() => running.delete(child));
  return { name, child, gone, events, errors, turns };
}

/** An engine in a process of its own. What fails there says its code first. */
export interface RemoteEngine {
  readonly child: ChildProcess;
  join(job: Job, worker: WorkerCard): Promise<null>;
  /** Keeps the cards as the first release did: as jobs of the queue that never become due. */
  asBefore(): Promise<null>;
  jobs(): Promise<string[]>;
  take(most: number): Promise<Turn[]>;
  keep(turns: readonly Turn[], worker: WorkerCard): Promise<string[]>;
  end(turn: Turn, note: TicketNote, dueAt: number | null): Promise<boolean>;
  fail(turn: Turn, trouble: Parameters<Engine['fail']>[1]): ReturnType<Engine['fail']>;
  gone(worker: string): Promise<null>;
  look(): Promise<FleetFacts>;
  close(): Promise<null>;
}

/** Opens an engine in a process of its own. */
export async function remoteEngine(url: string, job: string): Promise<RemoteEngine> {
  const child = fork(engineProgram, [url, job], { execPath: node, execArgv: [] });
  running.add(child);
  const waiting = new Map<number, (answer: { error?: string; value?: unknown }) => void>();
  let asked = 0;
  child.on('message', ({ id, ...answer }: { id: number }) => waiting.get(id)?.(answer));
  child.once('exit', (code) => {
    running.delete(child);
    for (const answer of waiting.values()) answer({ error: `the process has ended (${code})` });
  });

  const ask = (method: string, args: readonly unknown[]): Promise<unknown> => {
    asked += 1;
    const id = asked;
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ error, value }) => {
        waiting.delete(id);
        if (error === undefined) resolve(value);
        else reject(new Error(error));
      });
      child.send({ id, method, args });
    });
  };

  await ask('open', []);
  return new Proxy({ child } as RemoteEngine, {
    get(target, name: string) {
      if (name === 'then') return undefined;
      return name === 'child' ? target.child : (...args: unknown[]) => ask(name, args);
    },
  });
}

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await bucket?.close();
  await server?.close();
});

let bucket: BucketServer | undefined;

/** A target of each kind, and how what is in it is read. */
export interface Place {
  readonly into: string;
  readonly env: NodeJS.ProcessEnv;
  sids(): Promise<Sids>;
}

let places = 0;

/** A new target. */
export async function newPlace(
  kind: 'postgres' | 'sqlite' | 'folder' | 's3',
  folder: string,
): Promise<Place> {
  places += 1;
  if (kind === 's3') {
    bucket ??= await startBucketServer();
    const { objects, env, bucket: name } = bucket;
    const prefix = `p${places}`;
    return {
      into: `s3://${name}/${prefix}`,
      env,
      async sids() {
        const found = new Map<string, string[]>();
        for (const [key, { body }] of objects) {
          const account = new RegExp(`^${prefix}/account=([^/]+)/.*\\.parquet$`).exec(key)?.[1];
          if (account === undefined) continue;
          found.set(account, [...(found.get(account) ?? []), ...(await sidsOfFile(body))]);
        }

        return found;
      },
    };
  }

  const into = kind === 'postgres' ? await database() : `${kind}:${join(folder, `place${places}`)}`;
  return { into, env: {}, sids: () => sidsIn(into) };
}

/** Writes the file of a job. */
export function jobFile(source: Source, job: Job): string {
  places += 1;
  const path = join(source.folder, `job${places}.json`);
  writeFileSync(path, JSON.stringify(job));
  return path;
}

/** The tickets of a job, as they lie in the tables of pg-boss. */
export async function ticketsIn(
  url: string,
  job: string,
): Promise<{ account: string; code: string | null; state: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const sql = `SELECT substr(singleton_key, 9) AS account, output->>'code' AS code, CASE
        WHEN state = 'active' THEN 'active' WHEN state = 'failed' THEN 'aside'
        WHEN start_after > '9000-01-01' THEN 'done' ELSE 'open' END AS state
      FROM ${engineSchema}.job WHERE name = $1 AND singleton_key LIKE 'account/%'`;
    const { rows } = await client.query(sql, [`fleet/${job}`]);
    return rows;
  } finally {
    await client.end();
  }
}

/** All workers end by themselves, all was read, and each account has one ticket. */
export async function allDone(
  workers: readonly RunningWorker[],
  url: string,
  job: string,
  source: Source,
) {
  for (const worker of workers) expect(await worker.gone, worker.errors.join('\n')).toBe(0);
  const tickets = await ticketsIn(url, job);
  expect(tickets.map(({ state }) => state)).toEqual(tickets.map(() => 'done'));
  const accounts = tickets.map(({ account }) => account).sort();
  expect(accounts).toEqual([...source.truth.keys()].sort());
}

/** Turns of two workers with the same account at a time. What a line takes to arrive is no turn. */
export function readTwice(workers: readonly RunningWorker[], tolerance = 500): string[] {
  const turns = workers.flatMap(({ turns, name }) => turns.map((turn) => ({ ...turn, name })));
  return turns.flatMap((one, i) =>
    turns
      .slice(i + 1)
      .filter(({ account, name }) => account === one.account && name !== one.name)
      .filter((other) => Math.min(one.to, other.to) - Math.max(one.from, other.from) > tolerance)
      .map((other) => `${one.account}: ${one.name} and ${other.name}`),
  );
}

/** Compares what lies in a place with what the source has. */
export async function compare(tally: Tally, source: Source, place: Place): Promise<void> {
  const found = await place.sids();
  for (const [account, sids] of source.truth) {
    tally.compare(sids, found.get(account) ?? []);
    tally.happened('calls', sids.length);
    expect({ account, calls: found.get(account)?.length }).toEqual({ account, calls: sids.length });
  }
}
