// The packages as npm gets them, on every runtime, over every transport, and through proxies.
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { openDrill } from '@call-attribution/test-tools/drill';
import { localhostTls } from '@call-attribution/test-tools/tls';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/index.ts';
import { proxyPassword, startTestProxy, type TestProxy } from './runtimes/test-proxy.ts';

interface Runtime {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly args: readonly string[];
}

const records = 600;
const root = join(import.meta.dirname, '../../../..');
const run = (...args: string[]) =>
  execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
const runtimes = JSON.parse(run('scripts/nodes.mjs')) as Runtime[];
const named = ({ name, version }: Runtime) => `${name} ${version}`;
const oldest = runtimes[0] as Runtime;
const node = runtimes.find(({ version }) => version.startsWith('24.')) ?? oldest;
openDrill({
  name: 'runtimes',
  kind: 'cut connections',
  what: 'The packed packages list, stream, sync and store on Node.js 20 to 26, Bun and Deno, with undici 7 and 8 and fetch, and through proxies that work, refuse, close or stay silent; what comes is the same everywhere',
  countTests: true,
});

const folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
let sandbox: Sandbox;
beforeAll(async () => {
  execFileSync('pnpm', ['build'], { cwd: root, stdio: 'ignore' });
  const undicis = ['7.30.2', '8.12.4'].map(
    (version) => `undici${version[0]}@npm:undici@${version}`,
  );
  run('scripts/pack.mjs', folder, 'node-stream', 'store', 'sqlite', ...undicis, '@types/node@20');
  for (const name of ['program.mjs', 'proxied.mjs', 'store.mjs'])
    copyFileSync(join(import.meta.dirname, 'runtimes', name), join(folder, name));
  sandbox = await startSandbox({ records, days: 20 });
}, 300_000);
afterAll(async () => {
  await sandbox?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => sandbox.faults.clear());

/** What a program prints, as JSON. It must end with status 0. */
function start(
  runtime: Runtime,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<unknown> {
  const child = spawn(runtime.path, [...runtime.args, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NO_COLOR: '1', ...env },
    timeout: 60_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  return new Promise((resolve, reject) => {
    child.once('close', (code) =>
      code === 0
        ? resolve(JSON.parse(stdout))
        : reject(new Error(`status ${code}\n${stdout}${stderr}`)),
    );
  });
}

let outputs = 0;
const program = (runtime: Runtime, transport: string) => {
  const output = join(folder, `output-${outputs++}`);
  mkdirSync(output);
  return start(runtime, ['program.mjs', sandbox.url, String(records), output, transport]);
};
const steps = 12;

describe.each(runtimes.map((runtime) => ({ title: named(runtime), runtime })))(
  'on $title',
  ({ runtime }) => {
    test.each(['default', 'fetch'])(
      'a program lists, retries, stops, streams and syncs (%s)',
      async (transport) => {
        expect(await program(runtime, transport)).toHaveLength(steps);
      },
    );
  },
);

test('a store in SQLite gives the same answers, errors and files everywhere', async () => {
  const answers: unknown[] = [];
  for (const runtime of runtimes) {
    const output = join(folder, `store-${outputs++}`);
    mkdirSync(output);
    const { found, sqlite } = (await start(runtime, ['store.mjs', output])) as {
      found: unknown;
      sqlite: string;
    };
    const hasItsOwn = runtime.name !== 'node' || Number.parseInt(runtime.version, 10) >= 24;
    expect([named(runtime), sqlite]).toEqual([
      named(runtime),
      expect.stringMatching(hasItsOwn ? /built in$/ : /of @call-attribution\/sqlite$/),
    ]);
    answers.push(found);
  }

  expect(answers[0]).toMatchObject({
    upsert: { added: 3_001 },
    again: { added: 0, changed: 1 },
    count: 3_000,
    left: [0, ['calls.db']],
    file: [
      'invalid_sql',
      'The SQL has a mistake: no such function: writefile. The view calls has a column for each field: calls fields lists them.',
    ],
    late: ['time_limit', 'The statement took longer than 0.5 s and was stopped.'],
    removed: ['store_damaged', expect.any(String)],
  });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

describe('dispatchers of undici', () => {
  test.each(['undici7', 'undici8'])('%s sends the same', async (undici) => {
    expect(await program(node, undici)).toHaveLength(steps);
  });

  test('all their dispatchers are of the right type', () => {
    const lines = [7, 8].map(
      (version) => `import * as u${version} from 'undici${version}';
createClient({ dispatcher: new u${version}.Agent() });
createClient({ dispatcher: new u${version}.ProxyAgent('http://proxy') });
createClient({ dispatcher: new u${version}.MockAgent() });
createClient({ fetch: (url, init) => u${version}.fetch(url, init) });
`,
    );
    const imports = "import { createClient, type ClientOptions } from '@call-attribution/core';\n";
    const rest = `createClient({ fetch });\nexport const options: ClientOptions = { dispatcher: undefined };\n`;
    writeFileSync(join(folder, 'types.ts'), imports + lines.join('') + rest);
    const strict = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noEmit',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    const kind = ['--module', 'nodenext', '--target', 'es2023'];
    const tsc = join(root, 'node_modules/.bin/tsc');
    expect(
      execFileSync(tsc, [...strict, ...kind, 'types.ts'], { cwd: folder, encoding: 'utf8' }),
    ).toBe('');
  }, 60_000);
});

test('a store without the package of its database names the command that installs it', () => {
  // Outside of the folder, which has that package.
  const bare = mkdtempSync(join(tmpdir(), 'runtimes-bare-'));
  onTestFinished(() => rmSync(bare, { recursive: true, force: true }));
  run('scripts/pack.mjs', bare, 'store');
  const code = `import { openStore } from '@call-attribution/store';
for (const url of ['sqlite::memory:', 'postgres://localhost/x'])
  await openStore(url).catch(({ code, message }) => console.log(code, message));`;
  const options = { cwd: bare, encoding: 'utf8' } as const;
  expect(
    execFileSync(oldest.path, ['--input-type=module', '-e', code], options).split('\n'),
  ).toEqual([
    'missing_package A store in SQLite needs Node.js 24.15 or later, or the package @call-attribution/sqlite. Install it with: npm install @call-attribution/sqlite',
    'missing_package A store in PostgreSQL needs the package pg. Install it with: npm install pg',
    '',
  ]);
}, 120_000);

describe('proxies', () => {
  let proxy: TestProxy;
  let secure: string;
  const tls = createTlsServer(localhostTls, (socket) => {
    const plain = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    socket.on('error', () => plain.destroy());
    plain.on('error', () => socket.destroy());
    socket.pipe(plain).pipe(socket);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    secure = `https://localhost:${(tls.address() as AddressInfo).port}`;
  });
  afterAll(() => void tls.close());
  beforeEach(async () => {
    proxy = await startTestProxy();
    return () => proxy.close();
  });
  const trusted = { NODE_EXTRA_CA_CERTS: localhostTls.certFile, DENO_CERT: localhostTls.certFile };
  const credentials = `me:${encodeURIComponent(proxyPassword)}@`;
  const through = (host: string, scheme = 'http') => `${scheme}://${credentials}${host}`;
  const list = (env: Record<string, string>, url = secure, runtime = node) =>
    start(runtime, ['proxied.mjs', url], { ...trusted, ...env });
  const others = runtimes.filter(({ name }) => name !== 'node');
  const newestAndOldest = [oldest, node, ...others];

  test.each(newestAndOldest.map((runtime) => ({ title: named(runtime), runtime })))(
    'a server with https is read through a tunnel, which shows the proxy no keys, on $title',
    async ({ runtime }) => {
      // Deno takes no certificate that is its own authority.
      const trust = runtime.name === 'deno' ? { NODE_TLS_REJECT_UNAUTHORIZED: '0' } : {};
      const result = await list({ HTTPS_PROXY: through(proxy.host), ...trust }, secure, runtime);
      expect(result).toMatchObject({ calls: records });

      // Deno also asks for its own latest version.
      expect(proxy.targets).toContain(`CONNECT ${new URL(secure).host}`);

      // The next page is requested while one is read.
      if (runtime.name === 'node') expect(proxy.targets.length).toBeLessThanOrEqual(2);
      expect(Buffer.concat(proxy.tunneled).length).toBeGreaterThan(1_000);
      expect(Buffer.concat(proxy.tunneled).includes('test_access')).toBe(false);
    },
  );

  test('names in lower case come first, and a proxy may itself need TLS', async () => {
    const encrypted = await startTestProxy({ withTls: true });
    try {
      const env = {
        https_proxy: through(encrypted.host, 'https'),
        HTTPS_PROXY: through(proxy.host),
      };
      expect(await list(env)).toMatchObject({ calls: records });
      expect([encrypted.targets.length > 0, proxy.targets]).toEqual([true, []]);
      expect(
        await list({ HTTP_PROXY: through(encrypted.host, 'https') }, sandbox.url),
      ).toMatchObject({
        calls: records,
      });
    } finally {
      encrypted.close();
    }
  });

  test('a server with http is read through HTTP_PROXY', async () => {
    expect(
      await list(
        { HTTP_PROXY: through(proxy.host), HTTPS_PROXY: 'http://localhost:9' },
        sandbox.url,
      ),
    ).toMatchObject({
      calls: records,
    });
    expect(proxy.targets[0]).toBe(`${sandbox.url}/v3/user/bid-management?q=inc_gce%3A1&rows=100`);
  });

  test.each([
    { NO_PROXY: 'localhost' },
    { no_proxy: '*' },
    { HTTP_PROXY: 'http://localhost:9', HTTPS_PROXY: '' },
  ])('the proxy is not used with %j', async (env) => {
    expect(await list({ HTTPS_PROXY: through(proxy.host), ...env })).toMatchObject({
      calls: records,
    });
    expect(proxy.targets).toEqual([]);
  });

  test.each([
    [
      'wrong credentials',
      'ok',
      'me:wr%2Fong@',
      { code: 'proxy_failed', status: 407, attempts: 1 },
      1,
    ],
    ['no credentials', 'ok', '', { code: 'proxy_failed', status: 407, attempts: 1 }, 1],
    [
      'a rule against the server',
      403,
      credentials,
      { code: 'proxy_failed', status: 403, attempts: 1 },
      1,
    ],
    [
      'a server that the proxy cannot reach',
      502,
      credentials,
      { code: 'proxy_failed', status: 502, attempts: 2 },
      2,
    ],
    [
      'a proxy that closes the connection',
      'close',
      credentials,
      { code: 'proxy_failed', attempts: 2 },
      2,
    ],
    [
      'a proxy that stays silent',
      'silent',
      credentials,
      { code: 'timeout', limit: 'connect', attempts: 2 },
      2,
    ],
  ] as const)(
    '%s is reported without the password, and the client closes at once',
    async (_, mode, given, error, connections) => {
      proxy.mode = mode;
      const result = (await list({ HTTPS_PROXY: `http://${given}${proxy.host}` })) as Record<
        string,
        unknown
      >;
      expect(result).toMatchObject(error);
      expect(result.message).toContain(`http://${proxy.host}`);
      expect(proxy.targets).toHaveLength(connections);
      for (const secret of [
        'p@ss',
        'p%40ss',
        'wr%2Fong',
        'wr/ong',
        'test_access',
        Buffer.from(`me:${proxyPassword}`).toString('base64'),
      ])
        expect(result.shown).not.toContain(secret);

      expect(result.closedInMs).toBeLessThan(3_000);
    },
  );

  test('a dead proxy, a server that nobody trusts, and a server that is down are told apart', async () => {
    const dead = (await list({ HTTPS_PROXY: through('localhost:9') })) as Record<string, unknown>;
    expect([dead.code, String(dead.shown).includes('p@ss')]).toEqual(['proxy_failed', false]);
    const env = { HTTPS_PROXY: through(proxy.host) };
    expect(await list({ ...env, NODE_EXTRA_CA_CERTS: '' })).toMatchObject({
      code: 'connection_failed',
    });
    expect(await list(env, 'https://localhost:9')).toMatchObject({ attempts: 2 });
  });
});
