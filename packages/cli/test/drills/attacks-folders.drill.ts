import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openStage, serverThat } from '../stage.ts';

openDrill({
  name: 'attacks-folders',
  kind: 'hostile clients',
  what: 'Commands run in folders that somebody else has made, with files that another user has planted and against servers that lie in names; nothing is sent, read by others, written or removed elsewhere, and no control character is shown',
  countTests: true,
});

const stage = openStage();
const folder = stage.folder();
// Commands of another user have to reach the files.
for (let path = folder; path !== '/'; path = join(path, '..'))
  if (statSync(path).uid === process.geteuid?.()) chmodSync(path, 0o755);

/** Everything that a server or a database of the attacker has received. */
let received: string[] = [];
const listener = createServer((socket) => {
  socket.on('data', (data) => {
    received.push(String(data));
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  socket.on('error', () => {});
}).listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));
const evil = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
afterAll(async () => {
  listener.close();
});
beforeEach(() => {
  received = [];
});

const secrets = {
  CALLS_ACCESS_KEY: 'canary-access',
  CALLS_SECRET_KEY: 'canary-secret',
  CALLS_BEARER_TOKEN: 'canary-token',
  PGPASSWORD: 'canary-password',
};

describe('a cloned folder gets nothing', () => {
  const config = {
    'another server': { baseUrl: `http://${evil}` },
    'another server of the SMS listing': { legacyBaseUrl: `http://${evil}` },
    'another database': { baseUrl: stage.url, store: `postgres://someone@${evil}/db` },
    'a file of the user as a token': {
      baseUrl: `http://${evil}`,
      apiVersion: 'v2',
      bearerTokenFile: 'token',
    },
    'a file outside as a token': { baseUrl: `http://${evil}`, bearerTokenFile: '../../token' },
    'accounts with keys of the environment': {
      baseUrl: `http://${evil}`,
      accounts: { main: { accessKeyEnv: 'CALLS_ACCESS_KEY', secretKeyEnv: 'CALLS_SECRET_KEY' } },
    },
  };
  const commands = [
    ['count'],
    ['doctor'],
    ['list', '--account', 'main'],
    ['sync'],
    ['sms'],
    ['export', '-o', 'a.ndjson'],
    ['store', 'accounts'],
    ['mcp'],
  ];
  const homes = [
    {},
    { HOME: '.' },
    { HOME: '', XDG_CONFIG_HOME: '.' },
    { XDG_CONFIG_HOME: 'config' },
  ];

  test.each(Object.entries(config))('that names %s', async (_, content) => {
    const cwd = join(folder, `clone-${received.length}-${Object.keys(content).join('-')}`);
    const token = join(folder, 'token');
    writeFileSync(token, 'canary-file');
    for (const place of [
      '.',
      '.config/call-attribution',
      'config/call-attribution',
      'call-attribution',
    ]) {
      mkdirSync(join(cwd, place), { recursive: true });
      writeFileSync(join(cwd, place, 'calls.config.json'), JSON.stringify(content));
    }

    if (!existsSync(join(cwd, 'token'))) symlinkSync(token, join(cwd, 'token'));
    const before = process.cwd();
    process.chdir(cwd);
    try {
      for (const home of homes)
        for (const command of commands) {
          const empty = { CALLS_BASE_URL: '', CALLS_LEGACY_BASE_URL: '', CALLS_TIME_ZONE: '' };
          await stage.quick(command, { cwd, env: { ...empty, ...secrets, ...home } });
        }
    } finally {
      process.chdir(before);
    }

    expect(received).toEqual([]);
  });

  test('the listener hears what is sent: with the file named, it is', async () => {
    const cwd = stage.folder();
    writeFileSync(join(cwd, 'calls.config.json'), JSON.stringify({ baseUrl: `http://${evil}` }));
    await stage.quick('count --config calls.config.json', {
      cwd,
      env: { ...secrets, CALLS_BASE_URL: '' },
    });
    expect(received.join()).toContain('canary-access');
  });
});

const other = ['--reuid=65534', '--regid=65534', '--clear-groups'];
const canBeOther =
  process.geteuid?.() === 0 && spawnSync('setpriv', [...other, 'true']).status === 0;
if (!canBeOther)
  process.stdout.write('Only root can be another user: planted files of one were left out.\n');
const asOther = (script: string, cwd: string) =>
  spawnSync('setpriv', [...other, 'sh', '-c', script], { cwd, encoding: 'utf8' });

describe.runIf(canBeOther)('files that another user has planted', () => {
  const shared = () => {
    const cwd = stage.folder();
    execFileSync('chmod', ['1777', cwd]);
    writeFileSync(join(cwd, 'victim'), 'precious', { mode: 0o600 });
    return cwd;
  };

  const plants = {
    'a file that all can read': 'umask 0; echo bait > calls.ndjson.partial',
    'a link': 'ln -s victim calls.ndjson.partial',
    'a pipe': 'mkfifo -m 666 calls.ndjson.partial',
    'links at every name':
      'for n in partial checkpoint new lock-x receipt.json; do ln -s victim calls.ndjson.$n; done',
  };
  test.each(Object.entries(plants))('%s in place of an unfinished file', async (_, script) => {
    const cwd = shared();
    expect(asOther(script, cwd).status).toBe(0);
    const umask = process.umask(0o077);
    try {
      const done = await stage.quick(['export', '-o', 'calls.ndjson', '--include-extensions'], {
        cwd,
      });
      expect(done).toMatchObject({ code: 0 });
    } finally {
      process.umask(umask);
    }

    expect(readFileSync(join(cwd, 'victim'), 'utf8')).toBe('precious');
    expect(readFileSync(join(cwd, 'calls.ndjson'), 'utf8').trimEnd().split('\n')).toHaveLength(600);
    expect(asOther('cat calls.ndjson', cwd).status).not.toBe(0);
  });

  test('an unfinished file of another user is not resumed', async () => {
    const cwd = shared();
    asOther(
      `printf '{"sid":"x"}\\n' > calls.ndjson.partial; echo '{}' > calls.ndjson.checkpoint`,
      cwd,
    );
    const { code, stderr } = await stage.quick(['export', '-o', 'calls.ndjson', '--resume'], {
      cwd,
    });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /calls\.ndjson\.partial belongs to another user\. Remove both to start over/,
    );
    expect(existsSync(join(cwd, 'calls.ndjson'))).toBe(false);
  });

  test.each([
    [
      'the log of a database',
      'ln -s victim calls.db-wal',
      'sqlite:calls.db',
      'is a link to another place',
    ],
    [
      'the log of a database that is theirs',
      'touch calls.db-wal',
      'sqlite:calls.db',
      'belongs to another user',
    ],
  ])('%s', async (_, script, store, said) => {
    const cwd = shared();
    expect(asOther(script, cwd).status).toBe(0);
    const { code, stderr } = await stage.quick(['sync', '--account', 'main', '--store', store], {
      cwd,
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain(said);
    expect(readFileSync(join(cwd, 'victim'), 'utf8')).toBe('precious');
  });

  test('a pipe in the place of a database', async () => {
    const cwd = shared();
    asOther('mkfifo -m 666 calls.file', cwd);
    const store = 'sqlite:calls.file';
    for (const command of [
      ['verify', '--store', store],
      ['sync', '--account', 'main', '--store', store],
    ]) {
      const { code } = await stage.quick(command, { cwd });
      expect(code).not.toBe(0);
      expect(statSync(join(cwd, 'calls.file')).isFIFO()).toBe(true);
    }
  });

  test('a key file that is a pipe or endless is refused at once', async () => {
    const cwd = shared();
    asOther('mkfifo -m 666 key', cwd);
    for (const file of ['key', '/dev/zero']) {
      const { code, stderr } = await stage.quick('count', {
        cwd,
        env: { CALLS_SECRET_KEY: '', CALLS_SECRET_KEY_FILE: file },
      });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('cannot be read (not a regular file)'),
      ]);
    }
  });
});

describe('a server that sends elsewhere gets no keys there', () => {
  test.each([301, 302, 303, 307, 308])('with status %i', async (status) => {
    const server = await serverThat((response) => {
      response.writeHead(status, { location: `http://${evil}/calls?x=1` }).end();
    });
    const cwd = stage.folder();
    try {
      for (const command of [
        ['list'],
        ['count'],
        ['get', 'x'],
        ['doctor'],
        ['sync', '--store', 'sqlite:calls.db'],
      ])
        await stage.quick(command, { cwd, env: { CALLS_BASE_URL: server.url } });
    } finally {
      await server.close();
    }

    expect(received).toEqual([]);
  });
});

describe('a file that is not the database it seems to be is refused in one sentence', () => {
  const text = Buffer.from('not a database\n'.repeat(500));
  const sqlite = Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(8_192, 0xff)]);
  test.each<[string, Buffer]>([
    ['text', text],
    ['the beginning of one', sqlite],
    ['a cut one', sqlite.subarray(0, 120)],
  ])('%s', async (_, bytes) => {
    const cwd = stage.folder();
    for (const command of [
      ['report', '--by', 'campaign'],
      ['list'],
      ['sync', '--account', 'main'],
    ]) {
      writeFileSync(join(cwd, 'calls.file'), bytes);
      const { code, stderr } = await stage.quick([...command, '--store', 'sqlite:calls.file'], {
        cwd,
      });
      expect(code, stderr).not.toBe(0);
      expect(stderr).toMatch(/calls\.file/);
      expect(stderr).not.toMatch(/^ +at |Error:/m);
      expect(readFileSync(join(cwd, 'calls.file')).equals(bytes)).toBe(true);
    }
  });
});

describe('a server that lies in names', () => {
  const nasty = 'a\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eb';
  const call = {
    sid: nasty,
    acct_id: '../../up',
    date_added: '2026-10-01 10:00:00',
    ppc_campaign: nasty,
  };
  const answers: readonly (readonly [status: number, type: string, body: string])[] = [
    [200, 'application/json', JSON.stringify([call])],
    [200, 'application/json', JSON.stringify({ [nasty]: nasty })],
    [400, 'application/json', JSON.stringify({ error: nasty, message: nasty, detail: nasty })],
    [422, 'text/plain', nasty],
    [403, 'text/html', `<title>${nasty}</title>`],
  ];
  const commands = [
    ['list'],
    ['get', 'x'],
    ['report', '--by', 'campaign'],
    ['doctor'],
    ['sync', '--store', 'sqlite:calls.db'],
  ];
  test.each(answers)('%i %s %s', async (status, type, body) => {
    const server = await serverThat((response) => {
      response.writeHead(status, { 'content-type': type, 'content-range': '1-1/1' }).end(body);
    });
    const cwd = stage.folder();
    try {
      for (const command of commands) {
        const { stdout, stderr } = await stage.quick(command, {
          cwd,
          env: { CALLS_BASE_URL: server.url },
        });
        expect(stdout + stderr, command.join(' ')).not.toMatch(/(?![\n\t])\p{Cc}|\u202e/u);
      }
    } finally {
      await server.close();
    }
  });
});
