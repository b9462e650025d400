import type { CommandSpec } from '../args/command.ts';
import { fleetOptions, fleetTasks } from '../fleet/options.ts';

const headings: Readonly<Record<string, string>> = Object.fromEntries(
  fleetTasks.map((task) => [task, `calls fleet ${task}`]),
);

/** `calls fleet`. */
export const fleetCommands: readonly CommandSpec[] = [
  {
    name: 'fleet',
    summary: 'read and sync many accounts with many workers, on one machine or many',
    about: [
      'Tasks:',
      '  plan JOB.json     cut each account into parcels, once; again for accounts that were added',
      '  work JOB          work until the job is done, or keep its accounts up to date; on as many machines as you like',
      '  status JOB        what runs, what does not get on, why, and which command helps',
      '  pause JOB         start nothing new; --now also drops what is under way',
      '  resume JOB        go on after a pause',
      '  cancel JOB        end the job; what was read stays, and planning it again takes it up',
      '  retry JOB         take parcels and accounts that were set aside back into the work',
      '  verify JOB        compare what lies there with the server, account by account; status 3 if not all is there',
      'A job is a JSON file without secrets: which accounts, what to read, into what. Workers share its work over a board;',
      'records go into a store, a folder or a bucket, which alone decides what counts. One account on one machine needs',
      'none of this: use calls export or calls sync.',
      'JOB is the name of a planned job or its file. With the board memory:, work JOB.json does everything in one process:',
      'it plans the job, works and ends when all is read.',
    ].join('\n'),
    positionals: [
      { name: 'task', text: 'what to do, see above', required: true, choices: fleetTasks },
      { name: 'job', text: 'name of the job, or its JSON file', required: true, completes: 'file' },
    ],
    options: fleetOptions.map(({ of: _, ...option }) => ({
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
