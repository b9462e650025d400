import type { Engine } from './engine/engine.ts';
import { FleetError } from './errors.ts';

/** What `retryAside` has done with an account. */
export interface RetryResult {
  /** Id of the account. */
  readonly account: string;
  /** Whether it goes back to work; else only its turn comes now. */
  readonly wasAside: boolean;
}

/** What is put back to work. */
export interface RetryOptions {
  /** Only these accounts; they need not be set aside. Default: all that are. */
  readonly accounts?: readonly string[];
}

/** Puts accounts that were set aside back to work. */
export async function retryAside(
  engine: Engine,
  { accounts = [] }: RetryOptions = {},
): Promise<RetryResult[]> {
  const { card, tickets } = await engine.look();
  if (card === null)
    throw new FleetError('job_invalid', `The engine ${engine.name} has no such job.`, {
      hint: 'calls fleet work JOB.json starts it',
    });

  const unknown = accounts.find((id) => !tickets.some(({ account }) => account === id));
  if (unknown !== undefined)
    throw new FleetError('job_invalid', `The job ${card.name} has no account ${unknown}.`, {
      hint: 'calls fleet status --all lists its accounts',
    });

  const chosen = tickets.filter(({ account, state }) =>
    accounts.length > 0 ? accounts.includes(account) : state === 'aside',
  );
  await engine.again(chosen.map(({ account }) => account));
  return chosen.map(({ account, state }) => ({ account, wasAside: state === 'aside' }));
}
