import { command } from '../command.ts';
import { only, sandbox } from '../options.ts';

/** `calls demo`. */
export const demo = command({
  name: 'demo',
  summary: 'see everything work on generated calls, in seconds, without an account',
  about:
    'Starts the API on this machine over generated calls, exports them to CSV, shows a report, and calls a tool of the MCP server.',
  options: {
    '-o, --output <file>': 'CSV file to write (default: demo-calls.csv)',
    ...only(sandbox, '--records <n>', '--seed <seed>', '--to <end>'),
  },
  examples: { 'calls demo': 'writes demo-calls.csv into the current folder' },
  async run(args, io) {
    return (await import('./runs/demo.ts')).demo(args, io);
  },
});
