import type { CommandGroup, CommandSpec, OptionSpec, PositionalSpec } from '../args/command.ts';
import { jsonOption, keysOption as keys, statusOptions } from '../args/options.ts';

const job: PositionalSpec = {
  name: 'job',
  text: 'name of the job, or its JSON file; not needed where the engine has one job',
  completes: 'file',
};

const engine: OptionSpec = {
  name: 'engine',
  value: 'URL',
  text: 'where workers on several machines share the work: postgres://user@host/name',
  default: 'CALLS_FLEET, else this process alone',
  otherNames: ['board'],
};

/** `calls fleet`. */
export const fleetGroup: CommandGroup = {
  name: 'fleet',
  summary: 'sync and export many accounts, in one process or on many machines',
  about:
    'A job is a JSON file without secrets: which accounts, what to read, into what. A store is filled as calls sync does it, a ' +
    'folder or bucket with a file for each month, as calls export does it. Without an engine one process does the whole job; ' +
    'with CALLS_FLEET=postgres://… as many processes as you start share it, on any machines. Each needs the job file.',
  examples: [
    {
      line: 'calls fleet work job.json --keys keys',
      text: 'the whole job in this process',
    },
    {
      line: 'calls fleet work job.json --keys keys --engine postgres://calls@db/fleet',
      text: 'on each machine; start as many as you like, and stop them at any time',
    },
    { line: 'calls fleet status --watch', text: 'what runs, what is stuck, and which command helps' },
  ],
};

/** Its commands. */
export const fleetCommands: readonly CommandSpec[] = [
  {
    name: 'fleet work',
    summary: 'work until the job is done, or keep its accounts up to date',
    about:
      'On as many machines as you like, each with the same job file, which is read once. After Ctrl-C or SIGTERM what is under way is read to its ' +
      'end; a second Ctrl-C ends at once.',
    positionals: [{ ...job, text: 'JSON file of the job', required: true }],
    options: [
      engine,
      keys,
      {
        name: 'scratch',
        value: 'DIR',
        text: 'folder for files before they go into a bucket',
        default: "the system's folder for temporary files",
        completes: 'folder',
      },
      {
        name: 'slots',
        value: 'N',
        text: 'accounts to read at a time, 1 to 64',
        default: 4,
        otherNames: ['concurrency', 'parallel', 'workers'],
      },
      {
        name: 'name',
        value: 'NAME',
        text: 'name of the worker, which must be its own',
        default: 'made from the host',
      },
      {
        name: 'grace',
        value: 'DURATION',
        text: 'how long a file under way may take to its end after Ctrl-C or SIGTERM',
        default: '60s',
      },
      { name: 'log', text: 'one JSON line on stderr for each turn and change of the worker' },
      ...statusOptions,
    ],
    examples: [
      { line: 'calls fleet work job.json --keys keys', text: 'a whole job in this process' },
      {
        line: 'calls fleet work job.json --engine postgres://calls@db/fleet --status-port 9464',
        text: 'a worker of many, with health and metrics',
      },
    ],
    load: async () => (await import('../fleet/work.ts')).work,
  },
  {
    name: 'fleet status',
    summary: 'show what runs, what is stuck, why, and which command helps',
    positionals: [job],
    options: [
      engine,
      { name: 'watch', text: 'show it again each second; without a terminal, a line every 10 seconds' },
      { name: 'all', text: 'list all accounts, not only those with trouble' },
      jsonOption,
    ],
    examples: [{ line: 'calls fleet status --watch', text: 'with the engine in CALLS_FLEET' }],
    load: async () => (await import('../fleet/status.ts')).status,
  },
  {
    name: 'fleet retry',
    summary: 'take accounts that were set aside back into the work',
    about: 'With the JSON file of the job the keys are tried first, here.',
    positionals: [job],
    options: [engine, keys, { name: 'account', value: 'ID', text: 'only these accounts', repeat: true }],
    examples: [{ line: 'calls fleet retry --account 103', text: 'after its keys were corrected' }],
    load: async () => (await import('../fleet/retry.ts')).retry,
  },
];
