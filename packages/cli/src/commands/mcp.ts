import { mcpOptions } from '@call-attribution/mcp-server/options';
import { command } from '../command.ts';
import { accounts, connection, legacy, only, sandbox } from '../options.ts';

/** `calls mcp`. */
export const mcp = command({
  name: 'mcp',
  summary: 'give AI assistants tools to read the calls (an MCP server)',
  options: {
    '--sandbox': 'use generated calls; needs no keys',
    ...mcpOptions,
    ...only(sandbox, '--records <n>', '--seed <seed>', '--to <end>'),
    ...accounts,
    ...legacy,
    ...connection,
  },
  examples: {
    'calls mcp --sandbox': 'the command to enter in an assistant, to try it',
    'calls mcp': 'the same with your own account',
    'calls mcp --all-accounts': 'for all accounts of calls.config.json',
  },
  async run(args, io) {
    const choices = {
      reveal: args.list('reveal'),
      memory: args.flag('memory'),
      check: args.flag('check'),
      allowHost: args.list('allow-host'),
      allowOrigin: args.list('allow-origin'),
      authorizationServer: args.list('authorization-server'),
      http: args.text('http') ?? undefined,
      resource: args.text('resource') ?? undefined,
    };
    return (await import('./runs/mcp.ts')).mcp(args.flag('sandbox'), choices, args, io);
  },
});
