import { command, type Group } from '../command.ts';
import { listening, only, output } from '../options.ts';

/** `calls fleet`. */
export const fleetGroup: Group = {
  name: 'fleet',
  summary: 'sync and export many accounts, in one process or on many machines',
  about:
    'A job is a JSON file without secrets: which accounts, what to read, into what. A store is filled as calls sync does it, a ' +
    'folder or bucket with a file for each month, as calls export does it. Without an engine one process does the whole job; ' +
    'with CALLS_FLEET=postgres://… as many processes as you start share it, on any machines. Each needs the job file.',
  examples: {
    'calls fleet work job.json --keys keys': 'the whole job in this process',
    'calls fleet work job.json --keys keys --engine postgres://calls@db/fleet':
      'on each machine; start as many as you like, and stop them at any time',
    'calls fleet status': 'what runs, what is stuck, and which command helps',
  },
};

const job = {
  '[job]': 'name of the job, or its JSON file; not needed where the engine has one job',
} as const;

const engine = {
  '--engine <url>':
    'where workers on several machines share the work: postgres://user@host/name (default: CALLS_FLEET)',
} as const;

/** `calls fleet work`. */
export const fleetWork = command({
  name: 'fleet work',
  summary: 'work until the job is done, or keep its accounts up to date',
  about:
    'On as many machines as you like, each with the same job file, which is read once. After Ctrl-C or SIGTERM what is under way is read to its ' +
    'end; a second Ctrl-C ends at once.',
  words: { '<job>': 'JSON file of the job' },
  options: {
    ...engine,
    '--keys <folder>':
      'folder with the credentials of the accounts, as file:101.json in the job names them (default: CALLS_FLEET_KEYS, else the current folder)',
    '--slots <slots>': 'accounts to read at a time, 1 to 64 (default: 4)',
    '--name <name>': 'name of the worker, which must be its own (default: made from the host)',
    '--grace <duration>':
      'how long a file under way may take to its end after Ctrl-C or SIGTERM (default: 60s)',
    '--log': 'one JSON line on stderr for each turn and change of the worker',
    ...only(listening, '--status-port <port>', '--status-host <name>'),
  },
  examples: {
    'calls fleet work job.json --keys keys': 'a whole job in this process',
    'calls fleet work job.json --engine postgres://calls@db/fleet --status-port 9464':
      'a worker of many, with health and metrics',
  },
  async run(args, io) {
    return (await import('./runs/fleet-work.ts')).work(args, io);
  },
});

/** `calls fleet status`. */
export const fleetStatus = command({
  name: 'fleet status',
  summary: 'show what runs, what is stuck, why, and which command helps',
  words: job,
  options: {
    ...engine,
    '--all': 'list all accounts, not only those with trouble',
    ...only(output, '--json'),
  },
  examples: { 'calls fleet status': 'with the engine in CALLS_FLEET' },
  async run(args, io) {
    return (await import('./runs/fleet-status.ts')).status(args, io);
  },
});

/** `calls fleet retry`. */
export const fleetRetry = command({
  name: 'fleet retry',
  summary: 'take accounts that were set aside back into the work',
  words: job,
  options: { ...engine, '--account <names>': 'only these accounts, by ID' },
  examples: { 'calls fleet retry --account 103': 'after its keys were corrected' },
  async run(args, io) {
    return (await import('./runs/fleet-status.ts')).retry(args, io);
  },
});
