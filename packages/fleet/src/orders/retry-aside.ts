import { CallsError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { mapCalls } from '@call-attribution/node-stream/operators';
import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import { accountClients } from '../job/account-client.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { JobAccount, PinnedJob } from '../job/job.ts';
import { retried } from '../lanes/account-entry.ts';
import { accountsOn } from '../lanes/board-values.ts';
import { accountKey, laneKey } from '../lanes/keys.ts';
import { reopen } from '../lanes/lane.ts';
import type { AccountValue, LaneValue } from '../lanes/values.ts';
import { planAccount } from '../plan/plan-account.ts';
import { jobLimiters } from '../rate/job-limiters.ts';
import type { Target } from '../target/target.ts';
import { changeEntry } from '../worker/change-entry.ts';
import { heldJob } from './job-state.ts';

const retryOptions = defineOptions({
  /** The target of the job. */
  target: option
    .methods<Target>('a target, as openTarget opens it', 'claim', 'verdicts', 'reopen')
    .required(),
  /** Where credentials come from. */
  credentials: option.callback<CredentialSource>().required(),
  /** Only this account, also when it is not set aside: then it is compared with the server once more. Default: all that are set aside. */
  account: option.string(),
  /** Who does it, for those whose sync it ends. Default: `retry`. */
  holder: option.string().default('retry'),
  /** Ends it between two accounts. */
  signal: option.signal(),
});

/** What `retryAside` works with. */
export interface RetryOptions extends OptionsOf<typeof retryOptions> {}

/** What became of an account. */
export interface RetryResult {
  /** Id of the account. */
  readonly account: string;
  /** Its name for people. */
  readonly name: string | null;
  /**
   * `again`: the keys open the account, and it goes on; `compared`: it was not set aside, and its sum is compared with the server once
   * more; `refused`: the keys do not open it, or it could not be asked, and nothing has changed.
   */
  readonly outcome: 'again' | 'compared' | 'refused';
  /** Parcels of it that are still to be read. */
  readonly parcels: number;
  /** Why it is `refused`. */
  readonly code: string | null;
  /** The same in a sentence, with what to do. */
  readonly message: string | null;
}

/**
 * Puts what was set aside back to work, once its reason is gone: accounts whose keys open them again, and parcels that were set aside
 * after their tries. Each account costs one request.
 *
 * @example
 * const [result] = await retryAside(board, { target, credentials, account: '103' });
 * console.log(result?.outcome, result?.parcels); // again 28
 */
export async function retryAside(board: Board, options: RetryOptions): Promise<readonly RetryResult[]> {
  const { target, credentials, account: only, holder, signal } = retryOptions.read(options);
  const { job } = heldJob(board);
  const reach = accountClients({ ...job, credentials, limiterOf: jobLimiters(board, job, signal) });
  const retry = async (account: AccountValue): Promise<RetryResult> => {
    signal?.throwIfAborted();
    const facts = { account: account.id, name: account.name };
    const reached = { ...account, requestsPerMinute: account.requestsPerMinute ?? job.requestsPerMinute };
    // It was set aside when the job was planned, before it had parcels.
    const isUnplanned = account.parcels === 0 && (await target.planOf(account.id)) === null;
    try {
      await reach(reached, (client) =>
        client.fetchPage({ filter: job.filter, rows: 1, ...(signal ? { signal } : {}) }),
      );
      if (isUnplanned) await planAccount({ board, target, job, reach, signal }, givenAccount(account));
    } catch (error) {
      signal?.throwIfAborted();
      if (!CallsError.is(error)) throw error;
      return {
        ...facts,
        outcome: 'refused',
        parcels: openParcels(board, account.id, job.lanes),
        code: error.code,
        message: error.message,
      };
    }
    const outcome = isUnplanned ? 'again' : await putBack(board, target, job, account.id, holder);
    return {
      ...facts,
      outcome,
      parcels: openParcels(board, account.id, job.lanes),
      code: null,
      message: null,
    };
  };
  const results: RetryResult[] = [];
  for await (const result of mapCalls(retry, { concurrency: 8 })(chosen(board, job, only)))
    results.push(result);
  return results;
}

const givenAccount = ({ id, name, credential, requestsPerMinute }: AccountValue): JobAccount => ({
  id,
  name: name ?? undefined,
  credential,
  requestsPerMinute: requestsPerMinute ?? undefined,
});

/** The accounts to retry. */
function chosen(board: Board, job: PinnedJob, only: string | undefined): AccountValue[] {
  if (only === undefined)
    return [...accountsOn(board)].map(([, { value }]) => value).filter((value) => isAside(board, job, value));
  const entry = board.get(accountKey(only));
  if (entry !== undefined) return [entry.value as unknown as AccountValue];
  throw new FleetError('unknown_account', `The job ${job.name} has no account ${only}.`);
}

const isAside = (board: Board, { lanes }: PinnedJob, { id, phase }: AccountValue): boolean =>
  phase === 'aside' || lanesOf(board, id, lanes).some(({ aside }) => aside.length > 0);

/** Its sync is fenced off first: no parcel is read while an account is synced. Then its lanes, then the account itself. */
async function putBack(
  board: Board,
  target: Target,
  { lanes, sync }: PinnedJob,
  id: string,
  holder: string,
): Promise<'again' | 'compared'> {
  const fenceSync = () => (sync === null ? null : target.sync(id, holder)?.load());
  await fenceSync();
  let outcome: 'again' | 'compared' = 'compared';
  for (let k = 0; k < lanes; k += 1)
    await changeEntry<LaneValue>(board, laneKey(id, k), (lane) => {
      if (lane.aside.length === 0 && lane.notBefore === 0 && lane.tries === 0) return null;
      if (lane.aside.length > 0) outcome = 'again';
      const parcels = lane.aside.map(([index]) => ({ index, records: 0, bytes: 0 }));
      return { ...reopen(lane, k, lanes, parcels), notBefore: 0, tries: 0, why: null, failingSince: 0 };
    });
  await changeEntry<AccountValue>(board, accountKey(id), (account) => {
    if (account.phase === 'aside') outcome = 'again';
    // One that was not set aside is closed once more.
    return retried({ ...account, phase: 'aside' });
  });
  // Somebody may have begun a sync while the account could still be taken for one.
  await fenceSync();
  return outcome;
}

/** Parcels of an account that its lanes have not passed. */
function openParcels(board: Board, id: string, lanes: number): number {
  return lanesOf(board, id, lanes)
    .map(({ again, next, parcels }) => again.length + Math.max(0, Math.ceil((parcels - next) / lanes)))
    .reduce((sum, open) => sum + open, 0);
}

const lanesOf = (board: Board, id: string, lanes: number): LaneValue[] =>
  Array.from(
    { length: lanes },
    (_, k) => board.get(laneKey(id, k))?.value as unknown as LaneValue | undefined,
  ).filter((lane) => lane !== undefined);
