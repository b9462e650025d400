import type { PinnedJob } from '../job/job.ts';

// What lies on the board. Whole numbers, codes and short messages of our own: no secret, no record, no data of a caller.

/** Format of the values below. A worker refuses a job of a newer one. */
export const boardFormat = 1;

/** Under `job`: what everybody works on. */
export interface JobValue {
  /** Format of all values of the board. */
  readonly format: number;
  /** Whether workers take anything. */
  readonly state: 'running' | 'paused' | 'cancelled';
  /** With `paused`: also drop what is being read. */
  readonly now: boolean;
  /** The job as it was planned. */
  readonly job: PinnedJob;
  /** Accounts of the job. */
  readonly accounts: number;
  /** Parcels of all plans. */
  readonly parcels: number;
  /** Records of all plans. */
  readonly records: number;
}

/** What happens to an account: `aside` is taken out of the work with a reason and a way back, `final` is done for good. */
export type Phase = 'reading' | 'closing' | 'syncing' | 'final' | 'aside';

/** Why something was taken out of the work. */
export interface Aside {
  /** Code of the error. */
  readonly code: string;
  /** One sentence, at most 300 characters. */
  readonly message: string;
  /** Board time. */
  readonly at: number;
  /** Name of the worker. */
  readonly by: string;
}

/** Under `account.<id>`. */
export interface AccountValue {
  /** Its id. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string | null;
  /** Where its credentials are: `file:101.json`. */
  readonly credential: string;
  /** Requests in any minute for its credentials; null: as the job says. */
  readonly requestsPerMinute: number | null;
  /** What happens to it. */
  readonly phase: Phase;
  /** Parcels of its plan. */
  readonly parcels: number;
  /** Records of its plan. */
  readonly total: number;
  /** Who closes or syncs it; null when nobody does. */
  readonly by: string | null;
  /** Board time before which nobody should (0: at once). */
  readonly notBefore: number;
  /** Failures in a row. */
  readonly tries: number;
  /** Rounds in which the sum of the parcels was not the total of the server. */
  readonly rounds: number;
  /** Why it is `aside`, or the last trouble while `tries` is above 0. */
  readonly aside: Aside | null;
  /** Once it was proved: records there, and the server's total. */
  readonly verdict: { readonly records: number; readonly total: number; readonly at: number } | null;
  /** What its syncs did; null before the first one. */
  readonly sync: AccountSync | null;
}

/** What the syncs of an account did. */
export interface AccountSync {
  /** How many syncs there were. */
  readonly runs: number;
  /** Records that they added. */
  readonly new: number;
  /** Records that they replaced. */
  readonly changed: number;
  /** Records whose attribution was not final after the last one. */
  readonly pending: number;
  /** Board time at which the last one ended. */
  readonly at: number;
}

/** Under `lane.<id>.<k>`: the parcels k, k + lanes, k + 2 lanes, ... of an account, which one worker at a time reads in order. */
export interface LaneValue {
  /** Index of the next parcel in the plan; at or above `parcels` when the lane is at its end. */
  readonly next: number;
  /** Parcels of the account's plan. */
  readonly parcels: number;
  /** Parcels to be read again, before `next`. */
  readonly again: readonly number[];
  /** Parcels set aside, with the code of the error. */
  readonly aside: readonly (readonly [index: number, code: string])[];
  /** Name of the worker that holds it; null when nobody does. */
  readonly by: string | null;
  /** Board time before which nobody should take it (0: at once). */
  readonly notBefore: number;
  /** Failures of the parcel at hand. */
  readonly tries: number;
  /** Code of the last failure while there is one: a failing lane. */
  readonly why: string | null;
  /** Board time of the first of the failures in a row; 0 without one. */
  readonly failingSince: number;
  /** Parcels that were committed in this lane. */
  readonly done: number;
  /** Their records. */
  readonly records: number;
  /** Requests that they took. */
  readonly requests: number;
  /** Their bytes in files; 0 in a store. */
  readonly bytes: number;
}

/** Under `worker.<name>`: a sign of life, written every few seconds. */
export interface WorkerValue {
  /** The machine it runs on. */
  readonly host: string;
  /** Id of its process. */
  readonly pid: number;
  /** Its release. */
  readonly version: string;
  /** What it does. */
  readonly state: 'working' | 'waiting' | 'resting' | 'leaving' | 'gone';
  /** Why it rests, in one sentence; null otherwise. */
  readonly why: string | null;
  /** Parcels that it may read at the same time. */
  readonly slots: number;
  /** Parcels that it reads. */
  readonly busy: number;
  /** Event loop utilization in thousandths. */
  readonly elu: number;
  /** Memory in bytes. */
  readonly rss: number;
  /** Records that it has committed. */
  readonly records: number;
  /** Requests that it has sent. */
  readonly requests: number;
  /** Counts its signs of life. */
  readonly beat: number;
}

/** Under `rate.<hash of the reference>`: a credential's share of time. */
export interface RateValue {
  /** Board time at which the next request may start. */
  readonly due: number;
  /** Board time until which nobody may send, because the server said so. */
  readonly until: number;
}
