import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL server for tests. It may still be starting. */
export interface TestPostgres {
  /** URL of a database on it from which others can be created. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The server in CALLS_TEST_POSTGRES_URL, or a throw-away one made with an installed PostgreSQL.
 * Null, with one line that says so, when there is neither; in CI on Linux that is an error.
 */
export function startPostgres(): TestPostgres | null {
  const given = process.env.CALLS_TEST_POSTGRES_URL;
  if (given) return { url: given, close: async () => undefined };
  const programs = findPrograms();
  if (programs !== null) return startServer(programs);
  const line =
    'PostgreSQL tests are left out: it is not installed, and CALLS_TEST_POSTGRES_URL is not set.';

  // CI installs PostgreSQL on Linux only.
  if (process.env.CI && process.platform === 'linux') throw new Error(line);
  process.stderr.write(`${line}\n`);
  return null;
}

function findPrograms(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
    : [];
  const path = (process.env.PATH ?? '').split(':');
  const places = [...versions.map((version) => join(debian, version, 'bin')), ...path];
  const has = (place: string) =>
    existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres'));
  return places.find(has) ?? null;
}

const settings = [
  // A socket in the folder only: there is no port to clash with and nothing to reach from outside.
  'listen_addresses=',
  'max_connections=100',
  // Nothing in this server has to survive a crash.
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
];

// The shell waits for the end of its input, which comes when the test run ends in any way, also
// when it is killed. A server that has only just started ignores the signal, so it is sent until
// the server has ended.
const script = `
"$1/initdb" -D "$HOME/data" -U calls --auth=trust --no-sync -E UTF8 --locale=C > /dev/null || exit 1
server="$1/postgres"; shift
"$server" -D "$HOME/data" "$@" & cat > /dev/null
while kill -INT $! 2> /dev/null; do sleep 0.1; done; wait $!; rm -rf "$HOME"`;

function startServer(programs: string): TestPostgres {
  const folder = mkdtempSync(join(tmpdir(), 'calls-pg-'));
  const owner = ordinaryUser();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid as number);
  const options = [
    '-c',
    `unix_socket_directories=${folder}`,
    ...settings.flatMap((line) => ['-c', line]),
  ];
  const server = spawn('sh', ['-c', script, 'sh', programs, ...options], {
    ...owner,
    env: { PATH: process.env.PATH, LC_ALL: 'C', HOME: folder },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return {
    url: `postgres://calls@localhost/postgres?host=${encodeURIComponent(folder)}`,
    async close() {
      const ended = new Promise((done) => server.once('exit', done));
      server.stdin?.end();
      if (server.exitCode === null) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root, so root starts it as a user without rights. */
function ordinaryUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user =
    users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (user === undefined)
    throw new Error('PostgreSQL needs a user other than root: add one named postgres.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/**
 * Creates an empty database on a server and returns its URL. Waits for a server that is still
 * starting.
 */
export async function newDatabase(server: string): Promise<string> {
  const name = `calls_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  for (let tries = 1; ; tries += 1) {
    try {
      await runSql(server, `CREATE DATABASE ${name}`);
      break;
    } catch (cause) {
      if (tries === 600)
        throw new Error('The PostgreSQL server for tests does not respond.', { cause });
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs one statement on a connection of its own. */
export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}
