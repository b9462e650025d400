import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Finished } from './program.ts';
import { openStage, serverThat } from './stage.ts';

const stage = openStage();

test('a wrong key ends with status 4, what is expected, and no key in the message', async () => {
  const { code, stderr } = await stage.quick('count --debug', {
    env: { CALLS_SECRET_KEY: 'wrong-key-4711' },
  });
  expect(code).toBe(4);
  expect(stderr).toMatch(/401/);
  expect(stderr).toMatch(/secret_key/);
  expect(stderr).toMatch(/calls doctor/);
  expect(stderr).not.toContain('wrong-key-4711');
  expect(stderr).not.toContain(stage.env.CALLS_ACCESS_KEY);
});

test('a server that is down ends with status 5 and names the URL', async () => {
  const { code, stderr } = await stage.quick(['count'], {
    env: { CALLS_BASE_URL: 'http://127.0.0.1:1' },
  });
  expect(code).toBe(5);
  expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:1/);
  expect(stderr).toMatch(/the server is running/);
});

test('a name that hangs in DNS ends with status 5, the name, and what to do', async () => {
  const hang = "import dns from 'node:dns'; dns.lookup = () => {};";
  const { code, stderr } = await stage.calls(['count'], {
    env: {
      CALLS_BASE_URL: 'https://calls.example.com',
      CALLS_TIMEOUT: '200ms',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hang)}`,
    },
  });
  expect({ code, stderr }).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(
      'The address of calls.example.com was not found in time: DNS did not answer.',
    ),
  });
  expect(stderr).toContain(
    '→ Check the name in the base URL, and the DNS servers and the network of this machine.',
  );
});

test('a login page ends with status 2, as no API is at the URL, and is not shown', async () => {
  const page = '<!doctype html><html><body>Please log in</body></html>';
  const server = await serverThat((response) =>
    response.setHeader('content-type', 'text/html').end(page),
  );
  const { code, stdout, stderr } = await stage.quick(['count'], {
    env: { CALLS_BASE_URL: server.url },
  });
  server.close();
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).not.toMatch(/<html|<body/i);
});

test.each([
  [429, { 'retry-after': '300' }, 8, /slow down \(status 429\)[\s\S]*→ try again in 300 s\n/],
  [
    503,
    { 'retry-after': '300' },
    8,
    /failed \(status 503\)[\s\S]*→ the server or a proxy .*; try again in 300 s\n/,
  ],
  [
    404,
    {},
    2,
    /^calls: there is no JSON API here: looked for http:\S+\/v3\/user\/bid-management and got status 404\n {2}→ --base-url/,
  ],
  [
    400,
    {},
    1,
    /The parameter rows must be from \[number\] to \[number\][\s\S]*→ check --rows, .*the times: they are what was sent\n/,
  ],
])(
  'status %d ends with the reason of the server, what to do, and a status of its own',
  async (status, headers, code, said) => {
    const server = await serverThat((response) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end('{"message":"The parameter rows must be from 1 to 500."}'),
    );
    const env = { CALLS_BASE_URL: server.url };
    const args = status === 400 ? ['export', '-o', '-'] : ['count'];
    const result = await stage.quick(args, { env });
    expect([result.code, result.stderr.replace(/^calls through.*\n/, '')]).toEqual([
      code,
      expect.stringMatching(said),
    ]);
    expect(result.stderr).not.toMatch(/--resume|baseUrl|timeout\./);
    if (status === 404) {
      const { code, stderr } = await stage.quick(['get', '99'], { env });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/there is no JSON API here/)]);
    }

    server.close();
  },
);

test('a server that stops responding ends with status 5 after CALLS_TIMEOUT', async () => {
  const server = await serverThat(() => {});
  const env = { CALLS_BASE_URL: server.url, CALLS_TIMEOUT: '0.2s' };
  const { code, stderr } = await stage.quick(['count'], { env });
  server.close();
  expect(code).toBe(5);
  expect(stderr).toMatch(/→ CALLS_TIMEOUT=3m gives a request more time\n/);
  expect(stderr).toMatch(/calls doctor/);
});

test('a store that cannot be opened is reported in one line', async () => {
  for (const [store, status] of [
    ['nosuch:x', 2],
    ['sqlite:/nowhere/calls.db', 7],
    ['postgres://nobody@127.0.0.1:1/calls', 5],
  ] as const) {
    const { code, stdout, stderr } = await stage.quick(['sync', '--store', store]);
    expect({ code, stdout }).toEqual({ code: status, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  }

  const sms = await stage.quick(['sms'], { env: { CALLS_LEGACY_BASE_URL: '' } });
  expect(sms).toMatchObject({ code: 2, stdout: '' });
  expect(sms.stderr).toMatch(/set CALLS_LEGACY_BASE_URL/);
});

test.skipIf(process.platform === 'win32')(
  'Ctrl-C ends any command with status 130 and one line',
  async () => {
    // A server that takes a request and never responds: the moment to press is when it has one.
    let stop = (): unknown => undefined;
    const silent = await serverThat(() => stop());
    const env = { CALLS_BASE_URL: silent.url };

    const isStopped = (args: string[], { code, stderr }: Finished): void => {
      expect({ args, code }).toEqual({ args, code: 130 });
      expect(stderr).toMatch(/calls: stopped\n$/);
    };

    const args = ['list', '--all', '--format', 'ndjson'];

    const started = (child: ChildProcess): void => {
      stop = () => child.kill('SIGINT');
    };

    isStopped(args, await stage.calls(args, { env, started }));
    for (const args of [['count'], ['get', 'x'], ['report']]) {
      const signal = new AbortController();
      stop = () => signal.abort();
      isStopped(args, await stage.quick(args, { env, signal: signal.signal }));
    }

    silent.close();
  },
);

test.skipIf(process.platform === 'win32')(
  'a full disk ends with status 7 and the reason',
  async () => {
    const full = openSync('/dev/full', 'w');

    const isFull = (args: string[], { code, stderr }: Finished): void => {
      expect(code, args.join(' ')).toBe(7);
      expect(stderr).toMatch(/no space left on the disk \(ENOSPC\)/);
    };

    const args = ['list', '--format', 'csv', '--all'];
    isFull(args, await stage.calls(args, { stdout: full }));
    for (const args of [['export', '--output', '-'], ['report'], ['fields'], ['count']])
      isFull(args, await stage.quick(args, { stdoutFails: 'ENOSPC' }));
  },
);
