import type { OptionSpec } from '../args/command.ts';

/** The tasks of `calls fleet`. */
export const fleetTasks = ['plan', 'work', 'status', 'pause', 'resume', 'cancel', 'retry', 'verify'] as const;

/** One of them. */
export type FleetTask = (typeof fleetTasks)[number];

/** An option and the tasks that take it. Its group, if it has one, is a task. */
export interface FleetOption extends OptionSpec {
  readonly of: readonly FleetTask[];
}

/** All of its options, with the tasks that take them. */
export const fleetOptions: readonly FleetOption[] = [
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
