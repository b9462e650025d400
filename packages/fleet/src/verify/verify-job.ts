import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { mapCalls } from '@call-attribution/node-stream/operators';
import type { Board } from '../board/board.ts';
import { FleetError } from '../errors.ts';
import { accountClients, usualCredential } from '../job/account-client.ts';
import type { CredentialSource } from '../job/credentials.ts';
import type { Job, JobAccount, PinnedJob } from '../job/job.ts';
import { accountsOn } from '../lanes/board-values.ts';
import type { AccountValue } from '../lanes/values.ts';
import { jobLimiters } from '../rate/job-limiters.ts';
import type { Target } from '../target/target.ts';
import { type AccountVerdict, verifyAccount } from './verify-account.ts';

const verifyOptions = defineOptions({
  /** Where the records are. */
  target: option
    .methods<Target>('a target, as openTarget opens it', 'planOf', 'verdicts', 'count')
    .required(),
  /** The job, as it was planned or as it is in the job file. */
  job: option.object<Job | PinnedJob>().required(),
  /** Where credentials come from. */
  credentials: option.callback<CredentialSource>().required(),
  /** Which accounts. Default: those of the job, or else those on the board. */
  accounts: option.list<JobAccount>(),
  /** The board, which knows the accounts, and by which the limits are shared with workers. The verdict does not depend on it. */
  board: option.methods<Board>('a board, as openBoard opens it', 'get', 'entries'),
  /** Compare each parcel with the server, which takes a request for each, and each file with its SHA-256. Default false. */
  deep: option.flag().default(false),
  /** Accounts at a time. Default 4. */
  concurrency: option.whole(1).default(4),
  /** Ends it. */
  signal: option.signal(),
});

/** What `verifyJob` works with. */
export interface VerifyOptions extends OptionsOf<typeof verifyOptions> {}

/**
 * Compares each account with the server: one request for each, a few more where they differ. It works from the target alone, so it
 * also works when the board is gone, and changes nothing.
 *
 * @example
 * for await (const { account, verdict, why } of verifyJob({ target, job, credentials }))
 *   console.log(account, verdict, why ?? '');
 */
export async function* verifyJob(options: VerifyOptions): AsyncGenerator<AccountVerdict, void, undefined> {
  const { target, job, board, credentials, deep, concurrency, signal } = verifyOptions.read(options);
  const { baseUrl, version = 'v3', filter = '' } = job;
  const limits = { baseUrl, requestsPerMinute: job.requestsPerMinute ?? null };
  const limiterOf = board === undefined ? undefined : jobLimiters(board, limits, signal);
  const reach = accountClients({ baseUrl, version, credentials, limiterOf });
  const verify = (account: Asked) =>
    verifyAccount({
      account: account.id,
      name: account.name,
      target,
      filter,
      isDeep: deep,
      signal,
      reach: (work) => reach(account, work),
    });
  yield* mapCalls(verify, { concurrency })(accountsOf(options));
}

type Asked = Required<Pick<AccountValue, 'id' | 'name' | 'credential' | 'requestsPerMinute'>>;

function accountsOf({ job, accounts, board }: VerifyOptions): Asked[] {
  const limit = job.requestsPerMinute ?? null;
  const given = accounts ?? ('accounts' in job ? job.accounts : undefined);
  if (given !== undefined)
    return given.map(({ id, name = null, credential = usualCredential(id), requestsPerMinute = limit }) => ({
      ...{ id, name, credential, requestsPerMinute },
    }));
  if (board !== undefined)
    return [...accountsOn(board)].map(([, { value }]) => ({
      ...value,
      requestsPerMinute: value.requestsPerMinute ?? limit,
    }));
  throw new FleetError(
    'job_invalid',
    'Nothing says which accounts to verify. Pass accounts, a job with accounts, or a board.',
  );
}
