import type { Engine } from './engine/engine.ts';
import { FleetError } from './errors.ts';

/** What `retryAside` has done with an account. */
export interface RetryResult {
  /** Id of the account. */
  readonly account: string;
  /** `again`: it goes back to work; `refused`: its keys do not open it; `sooner`: it was not set aside, and its turn comes now. */
  readonly outcome: 'again' | 'refused' | 'sooner';
  /** Why it stays aside. */
  readonly code: string | null;
  /** The same in words. */
  readonly message: string | null;
}

/** What is put back to work. */
export interface RetryOptions {
  /** Only these accounts; they need not be set aside. Default: all that are. */
  readonly accounts?: readonly string[];
  /** Tries the keys of an account that was set aside because of them. Default: its next turn does. */
  readonly tryKeys?: (account: string) => Promise<{ readonly code: string; readonly message: string } | null>;
}

/** Puts accounts that were set aside back to work. */
export async function retryAside(
  engine: Engine,
  { accounts = [], tryKeys = async () => null }: RetryOptions = {},
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
  const results: RetryResult[] = [];
  for (const { account, state, trouble } of chosen) {
    const isAside = state === 'aside';
    const refusal = isAside && trouble?.kind === 'credential' ? await tryKeys(account) : null;
    if (refusal !== null) results.push({ account, outcome: 'refused', ...refusal });
    else results.push({ account, outcome: isAside ? 'again' : 'sooner', code: null, message: null });
  }
  const isSent = ({ outcome }: RetryResult): boolean => outcome !== 'refused';
  await engine.again(results.filter(isSent).map(({ account }) => account));
  return results;
}
