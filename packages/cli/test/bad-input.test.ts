import { conversions, sheetFormats } from '@call-attribution/conversions';
import { type Client, ConfigurationError } from '@call-attribution/core';
import { createServer, mountHttp, serveHttp } from '@call-attribution/mcp-server';
import { startSandbox } from '@call-attribution/sandbox';
import { createService } from '@call-attribution/service';
import { openStore } from '@call-attribution/store';
import { expect, test } from 'vitest';

const refused = async (run: () => unknown): Promise<string> => {
  try {
    await run();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
};

const client = { version: 'v3', listCalls: () => null, getCall: () => null } as unknown as Client;
const server = createServer(client);
const service = createService({ store: null });
const rules = { timeZone: 'UTC', conversionName: 'Call', now: 0 };
const judge = (changes: object) =>
  conversions([], { ...rules, ...changes }, sheetFormats['google-ads-clicks']);
const any = (options: unknown) => options as never;

test.each<[string, () => unknown, string]>([
  ['a store', () => openStore(any(undefined)), 'url must be a string such as sqlite:calls.db'],
  [
    'a store',
    () => openStore('sqlite::memory:', any({ poolsize: 3 })),
    'no option poolsize. Did you mean poolSize?',
  ],
  [
    'a store',
    () => openStore('sqlite::memory:', { statementTimeout: any('9') }),
    'statementTimeout must be milliseconds or a string such as',
  ],
  ['a service', () => createService(any({})), 'store must be a store opened with openStore(), or null'],
  ['a service', () => createService(any({ store: 'sqlite:calls.db' })), 'store must be a store'],
  [
    'a service',
    () => createService(any({ store: null, maxRow: 5 })),
    'no option maxRow. Did you mean maxRows?',
  ],
  ['a service', () => createService(any({ store: null, idleTimout: 5 })), 'Did you mean idleTimeout?'],
  ['listen', () => service.listen({ port: any('8080') }), 'port must be a port from 0 to 65535; got "8080".'],
  ['listen', () => service.listen(any({ hots: 'x' })), 'no option hots. Did you mean host?'],
  ['a sandbox', () => startSandbox(any({ record: 5 })), 'no option record. Did you mean records?'],
  [
    'a sandbox',
    () => startSandbox({ live: any({ sped: 2 }) }),
    'no option live.sped. Did you mean live.speed?',
  ],
  ['a sandbox', () => startSandbox({ records: any('many') }), 'records is many: expected a whole number'],
  ['an MCP server', () => createServer(any(undefined)), 'client must be a client made by createClient()'],
  [
    'an MCP server',
    () => createServer(client, any({ revael: [] })),
    'no option revael. Did you mean reveal?',
  ],
  [
    'an MCP server',
    () => createServer(client, { pseudonymKey: any(5) }),
    'pseudonymKey must be a string or bytes',
  ],
  ['MCP over HTTP', () => serveHttp(server, any({ prot: 1 })), 'no option prot. Did you mean port?'],
  [
    'MCP over HTTP',
    () => mountHttp(server, any({ auth: { tokn: 'a-secret-value' } })),
    'no option auth.tokn.',
  ],
  ['conversions', () => judge({ minTlak: 5 }), 'no option minTlak. Did you mean minTalk?'],
  ['conversions', () => judge({ minTalk: '5' }), 'minTalk must be milliseconds or a string such as'],
  [
    'conversions',
    () => judge({ consent: { adUserData: 'yes' } }),
    "consent.adUserData must be 'granted' or 'denied'",
  ],
])('wrong options of %s are refused when it is made', async (_, run, message) => {
  const said = await refused(run);
  expect(said).toContain(message);
  expect(said).not.toContain('a-secret-value');
});
