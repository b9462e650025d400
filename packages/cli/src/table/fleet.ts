import type { CommandGroup, CommandSpec, OptionSpec, PositionalSpec } from '../args/command.ts';
import { jsonOption, statusOptions } from '../args/options.ts';

const job: PositionalSpec = {
  name: 'job',
  text: 'name of the job, or its JSON file',
  required: true,
  completes: 'file',
};

const board: OptionSpec = {
  name: 'board',
  value: 'URL',
  text: 'where workers meet: nats://n1,n2,n3, postgres://user@host/name, or memory: for this process alone',
  default: 'CALLS_FLEET_BOARD',
};

/** What a command needs that reads the API and looks into the target. */
const targetOptions: readonly OptionSpec[] = [
  {
    name: 'keys',
    value: 'DIR',
    text: 'folder with the credentials of the accounts, as file:101.json in the job names them',
    default: 'CALLS_FLEET_KEYS, else the current folder',
    completes: 'folder',
  },
  {
    name: 'scratch',
    value: 'DIR',
    text: 'folder for files before they go into a bucket',
    default: "the system's folder for temporary files",
    completes: 'folder',
  },
];

const replicas: OptionSpec = {
  name: 'replicas',
  value: 'N',
  text: 'NATS servers that keep a copy of the board',
  default: '3 in a cluster of three or more, else 1',
};

const ttl: OptionSpec = {
  name: 'ttl',
  value: 'DURATION',
  text: 'silence after which other workers take over; the same for all workers of a job',
  default: '30s',
};

/** `calls fleet`. */
export const fleetGroup: CommandGroup = {
  name: 'fleet',
  summary: 'read and sync many accounts with many workers, on one machine or many',
  about:
    'A job is a JSON file without secrets: which accounts, what to read, into what. Workers share its work over a board; ' +
    'records go into a store, a folder or a bucket, which alone decides what counts. With the board memory:, calls fleet ' +
    'work JOB.json plans the job, works and ends in one process. One account on one machine needs none of this: use calls ' +
    'export or calls sync.',
  examples: [
    {
      line: 'calls fleet work job.json --board memory: --keys keys',
      text: 'a whole job in this process',
    },
    {
      line: 'calls fleet plan history.json --board nats://n1,n2,n3 --keys keys',
      text: 'once; then, on each machine:',
    },
    {
      line: 'calls fleet work history --board nats://n1,n2,n3 --keys keys --status-port 9464',
      text: 'a worker; start as many as you like, and stop them at any time',
    },
  ],
};

/** Its commands. */
export const fleetCommands: readonly CommandSpec[] = [
  {
    name: 'fleet plan',
    summary: 'cut each account into parcels, once; again for accounts that were added',
    positionals: [{ ...job, text: 'JSON file of the job' }],
    options: [board, ...targetOptions, replicas],
    examples: [
      {
        line: 'calls fleet plan history.json --board nats://n1,n2,n3 --keys keys',
        text: 'says which command starts a worker',
      },
    ],
    load: async () => (await import('../fleet/plan.ts')).plan,
  },
  {
    name: 'fleet work',
    summary: 'work until the job is done, or keep its accounts up to date',
    about:
      'On as many machines as you like. With the JSON file of a job and without a board it plans the job, works and ends ' +
      'in this process. After Ctrl-C or SIGTERM parcels under way are read to their end; a second Ctrl-C ends at once.',
    positionals: [job],
    options: [
      board,
      ...targetOptions,
      {
        name: 'slots',
        value: 'N',
        text: 'parcels to read at a time, 1 to 64',
        default: 'as many as this machine can take',
        otherNames: ['concurrency', 'parallel', 'workers'],
      },
      {
        name: 'name',
        value: 'NAME',
        text: 'name of the worker, which must be its own',
        default: 'made from the host',
      },
      ttl,
      {
        name: 'grace',
        value: 'DURATION',
        text: 'how long parcels under way may take to end after Ctrl-C or SIGTERM',
        default: '60s',
      },
      { name: 'log', text: 'one JSON line on stderr for each parcel, sync and change of the worker' },
      ...statusOptions,
      replicas,
    ],
    examples: [
      {
        line: 'calls fleet work job.json --keys keys',
        text: 'a whole job in this process',
      },
      {
        line: 'calls fleet work history --board nats://n1,n2,n3 --keys keys --status-port 9464',
        text: 'a worker with health and metrics',
      },
    ],
    load: async () => (await import('../fleet/work.ts')).work,
  },
  {
    name: 'fleet status',
    summary: 'show what runs, what is stuck, why, and which command helps',
    positionals: [job],
    options: [
      board,
      { name: 'watch', text: 'show it again each second; without a terminal, a line every 10 seconds' },
      { name: 'all', text: 'list all accounts, not only those with trouble' },
      jsonOption,
      ttl,
    ],
    examples: [{ line: 'calls fleet status history --watch', text: 'with the board in CALLS_FLEET_BOARD' }],
    load: async () => (await import('../fleet/status.ts')).status,
  },
  {
    name: 'fleet pause',
    summary: 'start nothing new',
    positionals: [job],
    options: [board, { name: 'now', text: 'also drop the parcels under way, which are read again later' }],
    examples: [{ line: 'calls fleet pause history', text: 'parcels under way are read to their end' }],
    load: async () => (await import('../fleet/orders.ts')).pause,
  },
  {
    name: 'fleet resume',
    summary: 'go on after a pause',
    positionals: [job],
    options: [board],
    examples: [{ line: 'calls fleet resume history', text: 'its workers start new parcels again' }],
    load: async () => (await import('../fleet/orders.ts')).resume,
  },
  {
    name: 'fleet cancel',
    summary: 'end the job; what was read stays, and planning it again takes it up',
    positionals: [job],
    options: [board, { name: 'yes', text: 'do not ask' }],
    examples: [{ line: 'calls fleet cancel history --yes', text: 'for scripts, without the question' }],
    load: async () => (await import('../fleet/orders.ts')).cancel,
  },
  {
    name: 'fleet retry',
    summary: 'take parcels and accounts that were set aside back into the work',
    positionals: [job],
    options: [
      board,
      ...targetOptions,
      { name: 'account', value: 'ID', text: 'only these accounts', repeat: true },
    ],
    examples: [{ line: 'calls fleet retry history --account 103', text: 'after its keys were corrected' }],
    load: async () => (await import('../fleet/orders.ts')).retry,
  },
  {
    name: 'fleet verify',
    summary: 'compare what is in the target with the server; status 3 if not all is there',
    about: 'With the JSON file of a job it needs no board.',
    positionals: [job],
    options: [
      board,
      ...targetOptions,
      { name: 'deep', text: 'compare each file with the size and SHA-256 in its verdict as well' },
      { ...jsonOption, text: 'one JSON line for each account' },
    ],
    examples: [{ line: 'calls fleet verify history.json --deep', text: 'account by account' }],
    load: async () => (await import('../fleet/verify.ts')).verify,
  },
];
