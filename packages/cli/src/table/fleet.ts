import type { CommandSpec, OptionSpec } from '../args/command.ts';

/** The tasks of `calls fleet`. */
export const fleetTasks = ['plan', 'work', 'status', 'pause', 'resume', 'cancel', 'retry', 'verify'] as const;

/** One of them. */
export type FleetTask = (typeof fleetTasks)[number];

/** An option of some tasks only. */
interface FleetOption extends OptionSpec {
  readonly of: readonly FleetTask[];
}

const options: readonly FleetOption[] = [
  {
    name: 'board',
    value: 'URL',
    text: 'where workers meet: nats://n1,n2,n3, postgres://user@host/name, or memory: for this process alone',
    default: 'CALLS_FLEET_BOARD',
    of: fleetTasks,
  },
  {
    name: 'keys',
    value: 'DIR',
    text: 'folder with the credentials of the accounts, as file:101.json in the job names them',
    default: 'CALLS_FLEET_KEYS, else the current folder',
    completes: 'folder',
    of: ['plan', 'work', 'retry', 'verify'],
  },
  {
    name: 'scratch',
    value: 'DIR',
    text: 'folder for files before they go into a bucket',
    default: "the system's folder for temporary files",
    completes: 'folder',
    of: ['plan', 'work', 'retry', 'verify'],
  },
  {
    name: 'replicas',
    value: 'N',
    text: 'NATS servers that keep a copy of the board',
    default: '3 in a cluster of three or more, else 1',
    group: 'plan',
    of: ['plan'],
  },
  {
    name: 'slots',
    value: 'N',
    text: 'parcels to read at a time, 1 to 64',
    default: 'as many as this machine can take',
    otherNames: ['concurrency', 'parallel', 'workers'],
    group: 'work',
    of: ['work'],
  },
  {
    name: 'name',
    value: 'NAME',
    text: 'name of the worker, which must be its own',
    default: 'made from the host',
    group: 'work',
    of: ['work'],
  },
  {
    name: 'ttl',
    value: 'TIME',
    text: 'silence after which other workers take over; the same for all workers of a job',
    default: '30s',
    group: 'work',
    of: ['work', 'status'],
  },
  {
    name: 'grace',
    value: 'TIME',
    text: 'how long parcels under way may take to end after Ctrl-C or SIGTERM',
    default: '60s',
    group: 'work',
    of: ['work'],
  },
  {
    name: 'log',
    text: 'one JSON line on stderr for each parcel, sync and change of the worker',
    group: 'work',
    of: ['work'],
  },
  {
    name: 'metrics-port',
    value: 'N',
    text: 'serve /healthz, /readyz and /metrics on this port; 0 for any free port',
    otherNames: ['status-port'],
    group: 'work',
    of: ['work'],
  },
  {
    name: 'metrics-host',
    value: 'NAME',
    text: 'address for --metrics-port',
    default: '127.0.0.1',
    otherNames: ['status-host'],
    group: 'work',
    of: ['work'],
  },
  {
    name: 'watch',
    text: 'show it again each second; without a terminal, a line every 10 seconds',
    group: 'status',
    of: ['status'],
  },
  { name: 'accounts', text: 'list all accounts', group: 'status', of: ['status'] },
  { name: 'json', text: 'one JSON value; verify: one JSON line for each account', of: ['status', 'verify'] },
  {
    name: 'now',
    text: 'also drop the parcels under way, which are read again later',
    group: 'pause',
    of: ['pause'],
  },
  { name: 'yes', text: 'do not ask', group: 'cancel', of: ['cancel'] },
  {
    name: 'account',
    value: 'ID',
    text: 'only this account',
    group: 'retry',
    of: ['retry'],
  },
  {
    name: 'deep',
    text: 'compare each file with the size and SHA-256 in its verdict as well',
    group: 'verify',
    of: ['verify'],
  },
];

const headings: Readonly<Record<string, string>> = Object.fromEntries(
  fleetTasks.map((task) => [task, `calls fleet ${task}`]),
);

/** Which tasks take an option; null for those that all commands have. */
export const tasksOf = (option: string): readonly FleetTask[] | null =>
  options.find(({ name }) => name === option)?.of ?? null;

/** The names of the options that only some tasks have. */
export const fleetOptions: readonly string[] = options.map(({ name }) => name);

/** `calls fleet`. */
export const fleetCommands: readonly CommandSpec[] = [
  {
    name: 'fleet',
    summary: 'read and sync many accounts with many workers, on one machine or many',
    about: [
      'A job is a JSON file without secrets: which accounts, what to read, into what. Workers share its work over a board;',
      'records go into a store, a folder or a bucket, which alone decides what counts. One account on one machine needs',
      'none of this: use calls export or calls sync.',
      'Tasks:',
      '  plan JOB.json     cut each account into parcels, once; again for accounts that were added',
      '  work JOB          work until the job is done, or keep its accounts up to date; on as many machines as you like',
      '  status JOB        what runs, what does not get on, why, and which command helps',
      '  pause JOB         start nothing new; --now also drops what is under way',
      '  resume JOB        go on after a pause',
      '  cancel JOB        end the job; what was read stays, and planning it again takes it up',
      '  retry JOB         take parcels and accounts that were set aside back into the work',
      '  verify JOB        compare what lies there with the server, account by account; status 3 if not all is there',
      'JOB is the name of a planned job or its file. With the board memory:, work JOB.json does everything in one process:',
      'it plans the job, works and ends when all is read.',
    ].join('\n'),
    positionals: [
      { name: 'task', text: 'what to do, see above', required: true, choices: fleetTasks },
      { name: 'job', text: 'name of the job, or its JSON file', required: true, completes: 'file' },
    ],
    options: options.map(({ of: _, ...option }) => ({
      ...option,
      ...(option.group === undefined ? {} : { group: headings[option.group] ?? option.group }),
    })),
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
        line: 'calls fleet work history --board nats://n1,n2,n3 --keys keys --metrics-port 9464',
        text: 'a worker; start as many as you like, and stop them at any time',
      },
      { line: 'calls fleet status history --watch', text: 'with the board in CALLS_FLEET_BOARD' },
      { line: 'calls fleet retry history --account 103', text: 'after its keys were put right' },
    ],
    load: async () => (await import('../commands/fleet.ts')).fleet,
  },
];
