import { revealChoices } from '@call-attribution/core/fields';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { CommandSpec } from '../args/command.ts';
import { connectionOptions } from '../args/options.ts';

/** The commands that start something, and the ones about the program itself. */
export const runningCommands: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'the whole job on made-up calls, in seconds, without an account',
    about:
      'Starts the API on this machine with made-up calls, streams them all, writes a CSV, shows a report and one answer of the MCP server.',
    options: [
      { name: 'records', value: 'N', text: 'how many calls to make up; 20000 unless set' },
      { name: 'seed', value: 'N', text: 'other calls for another number; 1 unless set' },
      { name: 'to', value: 'FILE', text: 'where the CSV goes; demo-calls.csv unless set', completes: 'file' },
    ],
    examples: [{ line: 'calls demo', text: 'writes demo-calls.csv into the current folder' }],
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  {
    name: 'mcp',
    summary: 'give AI assistants the calls as tools (MCP server on stdin and stdout)',
    options: [
      { name: 'sandbox', text: 'over made-up calls that it serves itself: no keys needed' },
      {
        name: 'records',
        value: 'N',
        text: 'sandbox: how many calls to make up',
        default: sandboxDefaults.records,
      },
      { name: 'seed', value: 'N', text: 'sandbox: other calls for another number; 1 unless set' },
      {
        name: 'reveal',
        value: 'WHAT',
        text: 'show a kind of personal data that is masked otherwise',
        choices: revealChoices,
        repeat: true,
      },
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls mcp --sandbox', text: 'what to enter as the command in an assistant, to try it' },
      { line: 'calls mcp', text: 'the same over your own account' },
    ],
    load: async () => (await import('../commands/mcp.ts')).mcp,
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    positionals: [
      { name: 'shell', text: 'bash, zsh or fish', required: true, choices: ['bash', 'zsh', 'fish'] },
    ],
    options: [],
    examples: [
      { line: 'source <(calls completion bash)', text: 'in ~/.bashrc; zsh alike' },
      { line: 'calls completion fish | source', text: 'in config.fish' },
    ],
    load: async () => (await import('../commands/completion.ts')).completion,
  },
];
