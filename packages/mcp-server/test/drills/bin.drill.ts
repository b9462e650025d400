import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fakeApi, fixtureCalls } from '@call-attribution/core/testing';
import { bundle } from '@call-attribution/test-tools/bundle';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize as initializeRequest } from '../support/rpc.ts';

openDrill({
  name: 'mcp-program',
  kind: 'whole programs',
  what: 'The program starts, answers, refuses and ends as hosts expect of a process',
  countTests: true,
});

const folder = mkdtempSync(join(tmpdir(), 'mcp-bin-'));
const bin = join(folder, 'bin.mjs');

beforeAll(async () => {
  const source = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
  await bundle({ entryPoints: [source], outfile: bin });
});

afterAll(() => rmSync(folder, { recursive: true }));

function start(args: readonly string[], env: Record<string, string> = {}, preload?: string) {
  const flags =
    preload === undefined
      ? []
      : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const child = spawn(process.execPath, [...flags, bin, ...args], {
    env: { PATH: process.env.PATH, XDG_DATA_HOME: folder, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (part) => {
    out += part;
  });
  child.stderr.on('data', (part) => {
    err += part;
  });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));

  const until = async (text: string, read: () => string): Promise<void> => {
    while (!read().includes(text)) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  return { child, exit, out: () => out, err: () => err, until };
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const initialize = line(initializeRequest());
const call = (id: number, name: string, args: object = {}) =>
  line({ id, method: 'tools/call', params: { name, arguments: args } });

describe('the program', () => {
  it('serves without any key, says on stderr what is missing, and exits when its input ends', async () => {
    const { child, exit, out, err } = start([]);
    child.stdin.end(initialize + line({ id: 2, method: 'tools/list' }) + call(3, 'count_calls'));
    expect(await exit).toBe(0);
    const messages = out()
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(messages[2].result.content[0].text).toContain('CALLS_ACCESS_KEY is missing');
    expect(err()).toContain('CALLS_BASE_URL is missing');
  });

  it('reads the API', async () => {
    const api = await fakeApi({ calls: fixtureCalls(40) }).listen();
    const env = {
      CALLS_BASE_URL: api.url,
      CALLS_LEGACY_BASE_URL: api.url,
      CALLS_ACCESS_KEY: 'real-key',
      CALLS_SECRET_KEY: 'real-secret',
    };
    const { child, exit, out, err } = start([], env);
    child.stdin.end(
      initialize + call(2, 'list_calls') + call(3, 'list_sms_numbers') + call(4, 'analyze_calls'),
    );
    expect(await exit).toBe(0);
    expect(out()).toContain('37 website calls of all time');
    expect(out()).toContain('1 number, which takes text messages');
    expect(out()).toMatch(/\d+ website calls of all time \(\d+ through call extensions left out/);
    expect(`${out()}${err()}`).not.toContain('real-');
    await api.close();
  });

  it('answers for several accounts of the configuration file, each with its own keys', async () => {
    const servers = await Promise.all(
      [30, 20].map((n) => fakeApi({ calls: fixtureCalls(n) }).listen()),
    );
    const names = ['main', 'berlin'];
    const config = join(folder, 'calls.config.json');
    const accounts = names.map((name, i) => {
      const files = {
        accessKeyFile: join(folder, `${name}.access`),
        secretKeyFile: join(folder, `${name}.secret`),
      };
      for (const file of Object.values(files))
        writeFileSync(file, `key-of-${name}`, { mode: 0o600 });
      return [name, { baseUrl: servers[i]?.url, ...files }];
    });
    writeFileSync(config, JSON.stringify({ accounts: Object.fromEntries(accounts) }), {
      mode: 0o600,
    });
    const { child, exit, out, err } = start(['--all-accounts'], { CALLS_CONFIG: config });
    child.stdin.end(
      initialize +
        call(2, 'analyze_calls', { calls: 'all', measures: 'calls', group_by: 'account' }) +
        call(3, 'count_calls', { account: 'berlin', calls: 'all' }),
    );
    expect(await exit).toBe(0);
    expect(out()).toContain('\\"rows\\":[[\\"main\\",30],[\\"berlin\\",20]]');
    expect(out()).toContain('berlin: 20 calls of all time');
    expect(out() + err()).not.toContain('key-of-');
    for (const server of servers) await server.close();
  });

  it('has no key in a diagnostic report', async () => {
    const report = join(folder, 'report.json');
    const env = {
      CALLS_BASE_URL: 'http://127.0.0.1:9',
      CALLS_ACCESS_KEY: 'hidden-access',
      CALLS_SECRET_KEY: 'hidden-secret',
      CALLS_BEARER_TOKEN: 'hidden-token',
      CALLS_MCP_TOKEN: 'hidden-mcp',
    };
    const preload = `process.on('exit', () => process.report.writeReport(${JSON.stringify(report)}, new Error('end')))`;
    const { child, exit, out, err } = start([], env, preload);
    child.stdin.end(initialize + call(2, 'count_calls'));
    expect(await exit).toBe(0);
    expect(out()).toContain('"isError":true');
    const text = readFileSync(report, 'utf8');
    expect(text).toContain('CALLS_BASE_URL');
    expect(text + out() + err()).not.toContain('hidden-');
  });

  it('keeps stdout free of what other code prints', async () => {
    // Other code in the same process prints as soon as the server listens.
    const noise =
      "setInterval(() => { if (process.stdin.listenerCount('data')) { console.log('noise'); process.stdout.write('more noise'); } }, 5).unref()";
    const { child, exit, out, err, until } = start([], {}, noise);
    child.stdin.write(initialize);
    await until('more noise', err);
    child.stdin.end();
    expect(await exit).toBe(0);
    expect(out().trim().split('\n')).toHaveLength(1);
    expect(err()).toContain('noise');
  });

  it('exits with its host even while the API keeps a socket open', async () => {
    const sockets: { destroy(): void }[] = [];
    const silent = createTcpServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const env = {
      CALLS_BASE_URL: `http://127.0.0.1:${port}`,
      CALLS_ACCESS_KEY: 'a',
      CALLS_SECRET_KEY: 'b',
    };
    const { child, exit } = start([], env);
    child.stdin.write(initialize + call(2, 'list_calls'));
    while (sockets.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.stdin.write(line({ method: 'notifications/cancelled', params: { requestId: 2 } }));
    child.stdin.end();
    expect(await exit).toBe(0);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops its HTTP endpoint on %s', async (signal) => {
    const { child, exit, err, until } = start(['--http', '0'], {
      CALLS_MCP_TOKEN: 'a-token-of-the-endpoint',
    });
    await until('Serving on', err);
    const url = /http:\S+\/mcp/.exec(err())?.[0] ?? '';
    expect((await fetch(url.replace('/mcp', '/healthz'))).status).toBe(200);
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    expect(err()).not.toContain('a-token-of');
    child.kill(signal);
    expect(await exit).toBe(0);
  });
});
