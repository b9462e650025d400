import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();

describe('calls mcp', () => {
  async function connected(args: string[], env: Record<string, string>): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const command = { command: process.execPath, args: [stage.bin, 'mcp', ...args] };
    await client.connect(
      new StdioClientTransport({
        ...command,
        env: { PATH: process.env.PATH ?? '', ...env },
        stderr: 'ignore',
      }),
    );
    return client;
  }

  const textOf = (result: unknown): string => JSON.stringify(result);

  test('--sandbox works without keys', async () => {
    const client = await connected(['--sandbox', '--records', '60'], {});
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('list_calls');
    const counted = await client.callTool({
      name: 'count_calls',
      arguments: { calls: 'all' },
    });
    expect(counted.isError).toBeFalsy();
    expect(textOf(counted)).toContain('60');
    await client.close();
  });

  test('it reads with the keys of the account; without keys it lists its tools and says what is missing', async () => {
    const client = await connected([], { ...stage.env });
    expect(
      textOf(await client.callTool({ name: 'count_calls', arguments: { calls: 'all' } })),
    ).toContain('600');
    await client.close();
    const without = await connected([], { CALLS_BASE_URL: stage.url });
    expect((await without.listTools()).tools.length).toBeGreaterThan(3);
    const failed = await without.callTool({ name: 'count_calls', arguments: {} });
    expect(failed.isError).toBe(true);
    await without.close();
  });

  test('it refuses an unknown kind of data in --reveal', async () => {
    expect((await stage.quick(['mcp', '--reveal', 'everything'])).stderr).toMatch(
      /cannot be "everything"/,
    );
  });
});
