import type { Args, Handler } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type FleetTask, fleetOptions } from '../fleet/options.ts';
import type { Io } from '../io.ts';

type Run = (args: Args, io: Io) => Promise<number>;

/** `calls fleet`: many accounts with many workers. Each task loads its own code. */
export const fleet: Handler = async (args, io) => {
  const task = args.words[0] as FleetTask;
  for (const { name, of: tasks } of fleetOptions) {
    if (!args.flag(name) || tasks.includes(task)) continue;
    throw new UsageError(`--${name} is not an option of calls fleet ${task}`, {
      hints: [`it is one of ${tasks.map((task) => `calls fleet ${task}`).join(', ')}`],
    });
  }
  return (await runs[task]())(args, io);
};

const runs: Readonly<Record<FleetTask, () => Promise<Run>>> = {
  plan: async () => (await import('../fleet/plan.ts')).plan,
  work: async () => (await import('../fleet/work.ts')).work,
  status: async () => (await import('../fleet/status.ts')).status,
  pause: async () => (await import('../fleet/orders.ts')).pause,
  resume: async () => (await import('../fleet/orders.ts')).resume,
  cancel: async () => (await import('../fleet/orders.ts')).cancel,
  retry: async () => (await import('../fleet/orders.ts')).retry,
  verify: async () => (await import('../fleet/verify.ts')).verify,
};
