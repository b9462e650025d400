import { type Client, ConfigurationError } from '@call-attribution/core';
import { createServer } from '@call-attribution/mcp-server';
import { startSandbox } from '@call-attribution/sandbox';
import { openStore } from '@call-attribution/store';
import { expect, test } from 'vitest';

const client = { version: 'v3', listCalls: () => null, getCall: () => null } as unknown as Client;
const any = (options: unknown) => options as never;

test.each<[string, () => unknown, string]>([
  ['a store', () => openStore('sqlite::memory:', any({ poolsize: 3 })), 'Did you mean poolSize?'],
  ['an MCP server', () => createServer(client, any({ revael: [] })), 'Did you mean reveal?'],
  [
    'a sandbox',
    () => startSandbox({ records: any('many') }),
    'records is many: expected a whole number',
  ],
])('wrong options of %s are refused when it is made', async (_, run, message) => {
  const refused = (async () => run())();
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toBeInstanceOf(ConfigurationError);
});
