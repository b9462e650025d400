import { apiKeys, type Client, createClient } from '@call-attribution/core';
import {
  type FakeApiServer,
  type Fault,
  fakeApi,
  fastRetry,
  fixtureCalls,
} from '@call-attribution/core/testing';
import { readSettings } from '@call-attribution/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, createServer, type ToolResult } from '../src/index.ts';
import { redactMessage } from '../src/privacy/text.ts';
import { clientFrom, problemsOf } from '../src/program.ts';
import { toolsThatRead } from './support/ask.ts';
import { brokenClient, fakeClient } from './support/fake-client.ts';
import { request } from './support/handlers.ts';

const secrets = ['a-secret-access-key', 'a-secret-secret-key'] as const;
let hostile: FakeApiServer;
let client: Client;
/** What the server does to every request while it is set. */
let fault: Fault | undefined;

beforeAll(async () => {
  hostile = await fakeApi({ calls: fixtureCalls(20), faults: () => fault }).listen();
  client = createClient({
    baseUrl: hostile.url,
    legacyBaseUrl: hostile.url,
    auth: apiKeys(...secrets),
    retry: fastRetry,
    // Silence ends every attempt; on a busy machine nothing else may.
    timeout: { idle: 500, attempt: 30_000, total: 60_000 },
  });
});

afterAll(async () => {
  await client.close();
  await hostile.close();
});

const textOf = (result: ToolResult): string => result.content[0]?.text ?? '';

/**
 * Checks what an agent needs: four lines of text, no structured content next to an error, no
 * secret.
 */
function expectUsable(result: ToolResult): void {
  expect(result.isError).toBe(true);
  expect(result.structuredContent).toBeUndefined();
  expect(textOf(result)).toMatch(/^.+\.\nWhy: .+\nNext: .+\nRetry: .+$/s);
  for (const secret of secrets) expect(textOf(result)).not.toContain(secret);
}

describe('when the API fails', () => {
  it.each<[string, Fault, RegExp]>([
    ['401', { status: 401 }, /HTTP 401[\s\S]*API keys[\s\S]*Retry: No/],
    ['403', { status: 403 }, /HTTP 403[\s\S]*do not allow[\s\S]*Retry: No/],
    ['400', { status: 400 }, /HTTP 400[\s\S]*Use from, to[\s\S]*Retry: No/],
    ['503', { status: 503 }, /HTTP 503[\s\S]*Retry: Yes/],
    ['an HTML page', { html: true }, /Next: [\s\S]*Retry: /],
    ['cut JSON', { quietCut: 0.5 }, /Next: [\s\S]*Retry: /],
    ['a lost connection', { reset: true }, /Next: [\s\S]*Retry: Yes/],
    ['silence', { silent: true }, /Next: [\s\S]*Retry: Yes/],
    ['another page', { range: 'other-page' }, /Next: [\s\S]*Retry: /],
    ['a redirect', { redirect: 'http://127.0.0.1:1/' }, /Next: [\s\S]*Retry: No/],
  ])(
    'a tool says what failed, why, what to do next and whether to retry: %s',
    async (_kind, always, text) => {
      fault = always;
      const result = await callTool(createServer(client), 'list_calls');
      fault = undefined;
      expectUsable(result);
      expect(textOf(result)).toMatch(text);
      expect(
        textOf(await callTool(createServer(client), 'count_calls')),
        'the next call works',
      ).toContain('20 website calls');
    },
  );

  it('a tool says how long to wait before a retry', async () => {
    const impatient = createClient({
      baseUrl: hostile.url,
      auth: apiKeys(...secrets),
      retry: { ...fastRetry, attempts: 1 },
    });
    hostile.next({ status: 429, retryAfter: '30' });
    const result = await callTool(createServer(impatient), 'count_calls');
    expectUsable(result);
    expect(textOf(result)).toContain('Retry: Yes, after 30 seconds.');
    await impatient.close();
  });

  it.each(['http://127.0.0.1:9', 'http://[::1]:9', 'http://no-such-host.invalid:8443/api'])(
    'a tool names the API that does not answer: %s',
    async (baseUrl) => {
      const away = createClient({ baseUrl, auth: apiKeys(...secrets), retry: { attempts: 1 } });
      const result = await callTool(createServer(away), 'count_calls');
      expectUsable(result);
      expect(textOf(result)).toContain(`${new URL(baseUrl).origin} `);
      await away.close();
    },
  );

  it('a tool hides every other address that an error names', () => {
    const url = 'https://10.0.0.7:81/v3/user/bid-management?rows=1';
    const text =
      'No response from https://10.0.0.7:81 for 10.0.0.8, asked by 203.0.113.9 or +1 617 555 0123.';
    expect(redactMessage(text, url)).toBe(
      'No response from https://10.0.0.7:81 for [ip], asked by [ip] or [number].',
    );
    for (const unusable of [undefined, '', '/v3', 'not a url'])
      expect(redactMessage(text, unusable)).not.toContain('10.0.0');
  });

  it('get_call says how to find a call that does not exist', async () => {
    const result = await callTool(createServer(client), 'get_call', { sid: 'no such call' });
    expectUsable(result);
    expect(textOf(result)).toContain('Look the sid up with list_calls');
  });
});

describe('a tool call that takes too long', () => {
  it('is aborted, and its socket is closed', async () => {
    hostile.next({ silent: true });
    const patient = createClient({ baseUrl: hostile.url, auth: apiKeys(...secrets) });
    const seen = hostile.abortSeen();
    const result = await callTool(createServer(patient, { callTimeout: 100 }), 'list_calls');
    expectUsable(result);
    expect(textOf(result)).toContain('It took longer than 0.1 seconds.');
    expect((await seen).aborted).toBe(true);
    await patient.close();
  });

  it('can be cancelled, and its socket is closed', async () => {
    fault = { silent: true };
    const seen = hostile.abortSeen();
    const controller = new AbortController();
    const before = hostile.requests.length;
    const result = callTool(createServer(client), 'list_calls', {}, { signal: controller.signal });
    await expect.poll(() => hostile.requests.length).toBeGreaterThan(before);
    controller.abort();
    expectUsable(await result);
    fault = undefined;
    expect((await seen).aborted).toBe(true);
  });
});

describe('a server without credentials', () => {
  it('lists its tools and names the missing variables in each call', async () => {
    const settings = readSettings({
      env: { CALLS_BASE_URL: 'http://127.0.0.1:1', CALLS_ACCESS_KEY: 'x' },
    });
    expect(problemsOf(settings)).toEqual([
      expect.stringMatching(/^CALLS_SECRET_KEY is missing: .+\.$/),
    ]);
    const server = createServer(() => clientFrom(settings));
    const list = await request(server, 'tools/list');
    expect(list.tools).toHaveLength(toolsThatRead.length);
    for (const name of ['list_calls', 'count_calls', 'analyze_calls', 'list_sms_numbers']) {
      const result = await callTool(server, name);
      expectUsable(result);
      expect(textOf(result)).toContain('CALLS_SECRET_KEY is missing');
    }
  });

  it('names the variable of the SMS listing, which has an address of its own', async () => {
    const env = { CALLS_BASE_URL: hostile.url, CALLS_ACCESS_KEY: 'x', CALLS_SECRET_KEY: 'y' };
    const server = createServer(() => clientFrom(readSettings({ env })));
    const result = await callTool(server, 'list_sms_numbers');
    expectUsable(result);
    expect(textOf(result)).toContain('CALLS_LEGACY_BASE_URL');
  });

  it('works as soon as the client can be made', async () => {
    let ready = false;
    const server = createServer(() => {
      if (!ready) throw new Error('not yet');
      return fakeClient(fixtureCalls(3));
    });
    const early = await callTool(server, 'count_calls');
    expectUsable(early);
    expect(textOf(early)).toContain('Why: not yet');
    ready = true;
    expect((await callTool(server, 'count_calls')).structuredContent).toMatchObject({ total: 3 });
  });
});

describe('an unexpected error', () => {
  it('goes to the log, not to the agent', async () => {
    const log: string[] = [];
    const broken = brokenClient(new Error('details of the inside'));
    const result = await callTool(
      createServer(broken, { log: (line) => log.push(line) }),
      'list_calls',
    );
    expectUsable(result);
    expect(textOf(result)).not.toContain('of the inside');
    expect(log.join()).toContain('details of the inside');
  });
});
