import { revealChoices } from '@call-attribution/core/fields';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { CommandSpec } from '../args/command.ts';
import {
  accountOptions,
  connectionOptions,
  legacyOption,
  outputOption,
  sandboxEndOption,
} from '../args/options.ts';

/** The commands that start something, and those about the program itself. */
export const runningCommands: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'see everything work on generated calls, in seconds, without an account',
    about:
      'Starts the API on this machine over generated calls, exports them to CSV, shows a report, and calls a tool of the MCP server.',
    options: [
      { name: 'records', value: 'N', text: 'how many calls to make up', default: 20_000 },
      { name: 'seed', value: 'N', text: 'a different number makes up different calls', default: 1 },
      sandboxEndOption,
      {
        ...outputOption,
        text: 'CSV file to write',
        default: 'demo-calls.csv',
        otherNames: ['out', 'file'],
        group: 'Options',
      },
    ],
    examples: [{ line: 'calls demo', text: 'writes demo-calls.csv into the current folder' }],
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  {
    name: 'init',
    summary: 'ask for address, keys and time zone, try them, and keep them',
    about:
      'Keeps them in the configuration file of your own, which all commands read; each key in a file that only you can read, or as the ' +
      'command of a password manager that prints it. Without a terminal, it tries and keeps what options and environment say.',
    options: [
      {
        name: 'account',
        value: 'NAME',
        text: 'add an account of this name, to be chosen with --account',
      },
      ...connectionOptions.map((option) => ({
        ...option,
        ...(option.name === 'config' ? { text: 'file to keep them in, instead of your own' } : {}),
      })),
    ],
    examples: [
      { line: 'calls init', text: 'three answers, and no terminal needs an export any more' },
      { line: 'calls init --account berlin', text: 'another account: calls list --account berlin' },
    ],
    load: async () => (await import('../commands/init.ts')).init,
  },
  {
    name: 'mcp',
    summary: 'give AI assistants tools to read the calls (an MCP server on stdin and stdout)',
    options: [
      { name: 'sandbox', text: 'use generated calls; needs no keys' },
      {
        name: 'records',
        value: 'N',
        text: 'sandbox: how many calls to make up',
        default: sandboxDefaults.records,
      },
      { name: 'seed', value: 'N', text: 'sandbox: a different number makes up different calls', default: 1 },
      { ...sandboxEndOption, text: `sandbox: ${sandboxEndOption.text}` },
      {
        name: 'reveal',
        value: 'WHAT',
        text: 'show a kind of personal data that is masked by default',
        choices: revealChoices,
        repeat: true,
      },
      {
        name: 'mirror',
        text: 'keep a local copy of all calls, refreshed every 10 minutes, and answer from it (needs @call-attribution/warehouse)',
      },
      {
        name: 'store',
        value: 'URL',
        text: 'mirror: where the copy is, duckdb:FILE; default: a folder of your own',
      },
      ...accountOptions,
      legacyOption,
      ...connectionOptions,
    ],
    examples: [
      { line: 'calls mcp --sandbox', text: 'the command to enter in an assistant, to try it' },
      { line: 'calls mcp', text: 'the same with your own account' },
      { line: 'calls mcp --all-accounts', text: 'for all accounts of calls.config.json' },
      { line: 'calls mcp --mirror', text: 'with exact answers at any number of calls' },
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
      { line: 'source <(calls completion bash)', text: 'in ~/.bashrc; zsh works the same way' },
      { line: 'calls completion fish | source', text: 'in config.fish' },
    ],
    load: async () => (await import('../commands/completion.ts')).completion,
  },
];
