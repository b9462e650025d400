import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL for tests, and a way to get empty databases on it. */
export interface TestPostgres {
  newDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * The server named by CALLS_TEST_POSTGRES_URL, else a throw-away cluster made from an installed PostgreSQL. Null, with
 * one line that says so, when there is neither; in CI on Linux that is an error.
 */
export async function startPostgres(): Promise<TestPostgres | null> {
  const given = process.env.CALLS_TEST_POSTGRES_URL;
  if (given) return onServer(given, async () => undefined);
  const bin = findPrograms();
  if (bin === null) {
    const line = 'PostgreSQL tests left out: none is installed and CALLS_TEST_POSTGRES_URL is not set.';
    // Where CI runs on Linux PostgreSQL is installed; elsewhere its absence is not the fault of the code.
    if (process.env.CI && process.platform === 'linux') throw new Error(line);
    process.stderr.write(`${line}\n`);
    return null;
  }
  return startCluster(bin);
}

function findPrograms(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
    '/usr/pgsql/bin',
    '/opt/homebrew/opt/postgresql/bin',
  ];
  return (
    places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres'))) ?? null
  );
}

async function startCluster(bin: string): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'calls-pg-'));
  const owner = ordinaryUser();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid as number);
  const env = { PATH: process.env.PATH, LC_ALL: 'C', HOME: folder };
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'calls', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { ...owner, env, cwd: folder, stdio: 'pipe' },
  );
  // Only a socket in the folder: no port to clash with, nothing to reach from outside.
  const settings = [
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
    '-c',
    'max_connections=60',
  ];
  // The shell waits for the end of its input, which comes when the tests end in whatever way, killed ones too.
  const script = '"$@" & cat > /dev/null; kill -INT $!; wait $!; rm -rf "$HOME"';
  const server = spawn('sh', ['-c', script, 'sh', join(bin, 'postgres'), '-D', data, ...settings], {
    ...owner,
    env,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const url = `postgres://calls@localhost/postgres?host=${encodeURIComponent(folder)}`;
  await answering(url, server);
  return onServer(url, async () => {
    const gone = new Promise((done) => server.once('exit', done));
    server.stdin?.end();
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
}

/** PostgreSQL refuses to run as root, so root lends the cluster to a user that has no rights. */
function ordinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined) throw new Error('PostgreSQL needs a user other than root: add one named postgres.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (server.exitCode !== null)
      throw new Error(`The test PostgreSQL ended with status ${server.exitCode}.`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  throw new Error('The test PostgreSQL did not answer within 20 s.');
}

function onServer(url: string, stop: () => Promise<void>): TestPostgres {
  const made: string[] = [];
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    async newDatabase() {
      const name = `calls_${process.pid}_${made.length}_${Math.random().toString(36).slice(2, 8)}`;
      await run(`CREATE DATABASE ${name}`);
      made.push(name);
      const own = new URL(url);
      own.pathname = `/${name}`;
      return own.href;
    },
    async stop() {
      for (const name of made) await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await stop();
    },
  };
}
