import type { StreamPage, UpsertSink } from '@call-attribution/node-stream';
import type { JobAccount, PinnedJob } from '../job/job.ts';
import type { AccountPlan, Parcel, ParcelVerdict } from '../parcels/parcel.ts';

/** What a worker knows about a parcel it has read; the target adds what it wrote. */
export type ParcelReading = Omit<ParcelVerdict, 'bytes' | 'sha256' | 'leftOut'>;

/**
 * Where records end up: a store, a folder, a bucket. It also holds the job, the plans and the verdicts, and it alone decides what
 * counts: a parcel that was claimed again refuses the earlier worker. Errors that are nobody's fault here (disk full, server away)
 * are thrown as they are or as `target_unavailable`; a claim that was taken over is always `FleetError` `claim_lost`.
 */
export interface Target extends AsyncDisposable {
  /** Where it is, without a password. */
  readonly name: string;
  /** Keeps the job. The first one stays: returns the one that holds. */
  pin(job: PinnedJob): Promise<PinnedJob>;
  /** Keeps the plan of an account. `make` is asked when there is none; of two plans at once the first stays. Adds the account to a store. */
  plan(account: JobAccount, make: () => Promise<AccountPlan>): Promise<AccountPlan>;
  /** The plan of an account, or null. */
  planOf(account: string): Promise<AccountPlan | null>;
  /** Replaces a plan by one that begins with the same parcels and goes on. Returns the plan that holds: another worker may have been first. */
  continuePlan(account: string, before: AccountPlan, after: AccountPlan): Promise<AccountPlan>;
  /** Takes a parcel away from whoever had it. */
  claim(account: string, parcel: Parcel, holder: string): Promise<ParcelClaim>;
  /** Makes a committed parcel one to be read again. What lies there stays until it is replaced. */
  reopen(account: string, parcel: Parcel): Promise<void>;
  /** What was committed, in no particular order; parcels that were reopened are left out. */
  verdicts(account: string): AsyncIterable<ParcelVerdict>;
  /** How many records lie there from `from` up to before `to`; null when only the verdicts know. */
  count(account: string, from: string | null, to: string): Promise<number | null>;
  /** Where a sync of an account goes, fenced like a parcel; null when the target is made of files. */
  sync(account: string, holder: string): UpsertSink | null;
  /** Compares what lies there with the verdict: size and SHA-256 of a file. Null when it is right, else what is wrong. A store: always null. */
  inspect(account: string, verdict: ParcelVerdict): Promise<string | null>;
  /** Ends its connections. */
  close(): Promise<void>;
}

/** The right to write one parcel, until it is claimed again. */
export interface ParcelClaim {
  /** Committed before, by this or another worker: nothing is to be read. */
  readonly done: ParcelVerdict | null;
  /** Takes the next page. Its memory may be used again once the promise is resolved. */
  put(page: StreamPage): Promise<void>;
  /** Makes the parcel count. After it, a later claim says `done`. */
  commit(reading: ParcelReading): Promise<ParcelVerdict>;
  /** Gives up and removes what was not committed. Never throws. */
  drop(): Promise<void>;
}
