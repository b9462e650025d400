import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, plainSettings, secretSettings } from '@call-attribution/core/settings';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { readSettings } from '@call-attribution/settings';
import { describe, expect, it, vi } from 'vitest';
import { problemsOf, run } from '../src/program.ts';
import { version } from '../src/server.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

async function execute(argv: readonly string[], env: Environment = {}) {
  let out = '';
  const log: string[] = [];
  const code = await run(argv, {
    env,
    write: (text) => {
      out += text;
    },
    log: (line) => log.push(line),
    stopped: Promise.resolve(),
  });
  return { code, out, log: log.join('\n') };
}

describe('the command line', () => {
  it('prints help and the version', async () => {
    expect(version).toBe(manifest.version);
    expect(await execute(['--version'])).toEqual({ code: 0, out: `${version}\n`, log: '' });
    const help = await execute(['-h']);
    expect(help.code).toBe(0);
    for (const word of ['--http', '--check', '--reveal', 'CALLS_ACCESS_KEY'])
      expect(help.out).toContain(word);
  });

  it('is in the registry of MCP as npm has it, with variables that exist', () => {
    const entry = JSON.parse(readFileSync(new URL('../server.json', import.meta.url), 'utf8'));
    const { version, mcpName: name, name: identifier, repository } = manifest;
    expect(entry).toMatchObject({ name, version, packages: [{ identifier, version }] });
    expect(entry.repository.subfolder).toBe(repository.directory);
    expect(entry.description.length).toBeLessThanOrEqual(100);
    const secrets: string[] = Object.values(secretSettings);
    const plain: string[] = Object.values(plainSettings).map(({ variable }) => variable);
    for (const { name, isSecret = false } of entry.packages[0].environmentVariables)
      expect([name, (isSecret ? secrets : plain).includes(name)]).toEqual([name, true]);
  });

  it.each([
    [['--chek'], 'Did you mean --check?'],
    [['--reveal', 'callers'], 'Did you mean caller?'],
    [['--http', '99999'], '--http is HOST:PORT or a port'],
    [['--http', '0', '--resource', 'https://x.example'], 'must be used together'],
    [['serve'], 'Unexpected argument'],
  ])('refuses %j: %s', async (argv, text) => {
    const { code, out, log } = await execute(argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(log).toContain(text);
    expect(log).not.toContain('    at ');
  });

  it('says what to do when the port is taken', async () => {
    const other = createTcpServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, log } = await execute(['--http', String(port)]);
    expect(code).toBe(2);
    expect(log).toContain(`port ${port} is in use`);
    other.close();
  });
});

describe('--check', () => {
  it('tests the credentials and says what works', async () => {
    const server = await fakeApi({ calls: fixtureCalls(12) }).listen();
    const env = {
      CALLS_BASE_URL: server.url,
      CALLS_LEGACY_BASE_URL: server.url,
      CALLS_ACCESS_KEY: 'real-key',
      CALLS_SECRET_KEY: 'real-secret',
      CALLS_TIME_ZONE: 'America/Chicago',
    };
    const good = await execute(['--check'], env);
    expect(good).toMatchObject({ code: 0, log: '' });
    expect(good.out).toContain('ok     Listing calls works: the account has 12 calls');
    expect(good.out).toContain('ok     Listing SMS numbers works: 1 number');
    const lines: string[] = [];
    const written = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
    const logged = await execute(['--check'], { ...env, CALLS_LOG: 'debug' });
    written.mockRestore();
    expect(logged, 'the log does not go to stdout').toEqual(good);
    expect(lines.at(-1)).toMatch(
      /Z debug call-attribution: attempt operation=sms attempt=1 status=200 /,
    );
    expect(lines.join()).not.toContain('real-');
    const wrong = await execute(['--check'], { ...env, CALLS_LOG: 'wran' });
    expect(wrong.out).toContain(
      'FAILED CALLS_LOG must be debug, info, warn, error or off, not "wran"; did you mean warn?',
    );
    const older = { ...env, CALLS_API_VERSION: 'v2', CALLS_BEARER_TOKEN: 'real-token' };
    const both = await execute(['--check'], older);
    expect(both.out, 'the SMS listing uses the keys where calls use the token').toContain(
      'Listing SMS numbers works',
    );
    server.next({ send: (_, response) => void response.writeHead(401).end() });
    const bad = await execute(['--check'], env);
    expect(bad.code).toBe(1);
    expect(bad.out).toContain('FAILED Listing calls fails');
    expect(bad.out).not.toContain('real-');
    await server.close();
  });

  it('names every missing variable', async () => {
    const { code, out } = await execute(['--check']);
    expect(code).toBe(1);
    for (const name of ['CALLS_BASE_URL', 'CALLS_ACCESS_KEY', 'CALLS_SECRET_KEY'])
      expect(out).toContain(`FAILED ${name} is missing`);
  });
});

describe('a mistake in a definition of the configuration file', () => {
  it('is refused in a report too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
    const file = join(folder, 'calls.config.json');
    writeFileSync(file, JSON.stringify({ reports: { weekly: { bye: 'campaign' } } }));
    const { code, log } = await execute(['--check'], { CALLS_CONFIG: file });
    rmSync(folder, { recursive: true });
    expect(code).toBe(2);
    expect(log).toContain(`${file}: reports.weekly has no option "bye"; did you mean by?`);
  });

  it.each([['--check'], ['--http=127.0.0.1:0']])('is refused with the file: %s', async (option) => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-config-'));
    const file = join(folder, 'calls.config.json');
    const definitions = { office: "anni IN ('303-555-0100')" };
    writeFileSync(file, JSON.stringify({ definitions }));
    const { code, out, log } = await execute([option], { CALLS_CONFIG: file });
    rmSync(folder, { recursive: true });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(log).toContain(`${file}: definitions.office: There is no field anni.`);
    expect(log).not.toContain('555-0100');
  });
});

describe('the settings', () => {
  it('are missing only once when the URL of the API is wrong', () => {
    const env = { CALLS_BASE_URL: 'ftp://x', CALLS_BEARER_TOKEN: 'a-token', HOME: '/nowhere' };
    expect(problemsOf(readSettings({ env }))).toEqual([
      'CALLS_BASE_URL must be a URL that begins with https:// or http://.',
    ]);
  });
});
