// The service in Bun and in Deno, as the README says. Express, Fastify, Hono and Node.js are in the
// drill `mounted` of the cli.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openDrill } from '@call-attribution/test-tools/drill';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

openDrill({
  name: 'mounted-runtimes',
  kind: 'cut connections',
  what: 'service.fetch in Bun.serve and Deno.serve: pages, compression, 304, refusals, clients that leave in the middle, and closing',
  countTests: true,
});

interface Runtime {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
}

const root = join(import.meta.dirname, '../../../..');
const runtimes = (
  JSON.parse(
    execFileSync(process.execPath, ['scripts/nodes.mjs'], { cwd: root, encoding: 'utf8' }),
  ) as Runtime[]
).filter(({ name }) => name !== 'node');
beforeAll(() => execFileSync('pnpm', ['build'], { cwd: root, stdio: 'ignore' }), 300_000);

test('both runtimes are there', () => {
  expect(runtimes.map(({ name }) => name)).toEqual(['bun', 'deno']);
});

describe.each(runtimes)('in $name', ({ path, args }) => {
  let child: ChildProcess;
  let url = '';
  let said = '';
  const headers = { authorization: 'Bearer a_bearer' };
  const list = () => `${url}/v2/user/bid-management?rows=1000`;

  beforeAll(async () => {
    const program = join(import.meta.dirname, 'mounted/serve.mjs');
    child = spawn(path, [...args, program], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdout?.on('data', (text) => {
      said += text;
    });
    await Promise.race([once(child, 'exit'), once(child.stdout ?? child, 'data')]);
    url = `http://127.0.0.1:${said.trim()}`;
  }, 60_000);
  afterAll(() => void child.kill());

  test('it answers as everywhere', async () => {
    const page = await fetch(list(), { headers });
    expect([page.status, page.headers.get('content-range')]).toEqual([200, '1-1000/2000']);
    expect(page.headers.get('content-encoding')).toBe('gzip');
    expect(await page.json()).toHaveLength(1_000);
    const known = { ...headers, 'if-none-match': page.headers.get('etag') ?? '' };
    expect((await fetch(list(), { headers: known })).status).toBe(304);
    const refused = await fetch(list());
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { code: 'missing_credentials' },
    ]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('more clients than an account has places may leave in the middle, and the next one is served', async () => {
    for (let i = 0; i < 6; i += 1) {
      const leaving = new AbortController();
      const given = { ...headers, 'accept-encoding': 'identity' };
      const response = await fetch(list(), { headers: given, signal: leaving.signal });
      await response.body?.getReader().read();
      leaving.abort();
    }

    expect(await (await fetch(list(), { headers })).json()).toHaveLength(1_000);
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await expect.poll(metrics).toMatch(/^calls_http_requests_in_flight 1$/m);
  });

  test('closed, it refuses, and nothing was a fault', async () => {
    child.stdin?.write('end\n');
    const [status] = await once(child, 'exit');
    await expect.poll(() => said.split('\n').length).toBe(3);
    const [, line = ''] = said.split('\n');
    const { afterwards, log } = JSON.parse(line) as {
      afterwards: number;
      log: { level: string }[];
    };
    expect([status, afterwards]).toEqual([0, 503]);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log.length).toBeGreaterThan(10);
  });
});
