import { revealChoices } from '@call-attribution/core/fields';
import { command } from '../command.ts';
import { accounts, connection, legacy, only, sandbox } from '../options.ts';

/** `calls mcp`. */
export const mcp = command({
  name: 'mcp',
  summary: 'give AI assistants tools to read the calls (an MCP server on stdin and stdout)',
  choices: { reveal: revealChoices },
  options: {
    '--sandbox': 'use generated calls; needs no keys',
    '--reveal <kinds>': 'show a kind of personal data that is masked by default',
    '--memory': 'keep the copy of the calls in memory instead of in a file',
    ...only(sandbox, '--records <n>', '--seed <seed>', '--to <end>'),
    ...accounts,
    ...legacy,
    ...connection,
  },
  examples: [
    ['calls mcp --sandbox', 'the command to enter in an assistant, to try it'],
    ['calls mcp', 'the same with your own account'],
    ['calls mcp --all-accounts', 'for all accounts of calls.config.json'],
  ],
  async run(_options, io, args) {
    return (await import('../serving/mcp.ts')).mcp(args, io);
  },
});
