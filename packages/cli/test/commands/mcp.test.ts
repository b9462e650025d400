import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

  test('the command of the guide starts it, and what the guide shows of each question is answered', async () => {
    const guide = readFileSync(
      join(import.meta.dirname, '../../../../docs/guides/ask-in-your-assistant.md'),
      'utf8',
    );
    const [, typed = ''] = /```sh\n(claude mcp add [^`]*)```/.exec(guide) ?? [];
    const variables = [...typed.matchAll(/--env (\w+)=(\S+)/g)];
    const [, command = ''] = / -- (\S+ \w+)\n$/.exec(typed.replaceAll('\\\n', '')) ?? [];
    expect(command).toBe('/home/you/calls/calls mcp');
    const client = await connected(
      [],
      Object.fromEntries(
        variables.map(([, name = '', value = '']) => [name, stage.env[name] ?? value]),
      ),
    );
    const called = [...guide.matchAll(/`(\w+) (\{.*\})` \|$/gm)];
    expect(called.length).toBe(5);
    const listed = textOf(await client.callTool({ name: 'list_calls', arguments: { rows: 1 } }));
    const sid = /\d{10,}/.exec(listed)?.[0] ?? '';
    const caller = /phone-\w+/.exec(listed)?.[0] ?? '';
    for (const [, name = '', args = ''] of called) {
      const own = args.replace(/\d{13}/, sid).replace(/phone-\d+/, caller);
      const result = await client.callTool({ name, arguments: JSON.parse(own) });
      expect(result.isError, `${own}: ${textOf(result)}`).toBeFalsy();
    }

    await client.close();
  });

  test('it refuses an unknown kind of data in --reveal', async () => {
    expect((await stage.quick(['mcp', '--reveal', 'everything'])).stderr).toMatch(
      /cannot be "everything"/,
    );
  });
});
