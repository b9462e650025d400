import type { Client, Clock } from '@call-attribution/core';
import type { Board } from '../board/board.ts';
import type { PinnedJob } from '../job/job.ts';
import type { AccountValue } from '../lanes/values.ts';
import type { AccountPlan } from '../parcels/parcel.ts';
import type { Target } from '../target/target.ts';
import type { WorkerEvent } from './events.ts';

/** What a turn of a worker works with. A turn reads a parcel, closes an account or syncs one. */
export interface TurnContext {
  readonly board: Board;
  readonly target: Target;
  readonly job: PinnedJob;
  /** Name of the worker, as `by` of what it holds on the board and as holder of claims. */
  readonly holder: string;
  /** The client of an account, with the limiter of its credentials. It stays the worker's: do not close it. */
  clientOf(account: AccountValue): Promise<Client>;
  /** Ends the turn at once: whoever sees it drops its claim and lets the reason through. */
  readonly signal: AbortSignal;
  /** Tells listeners what happened. */
  emit(event: WorkerEvent): void;
  /** The worker's own clock: for ages of records and for people. Board times come from `board.now()`. */
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * A turn with an account that the worker has taken: its entry says `by` this worker. The turn ends by writing what comes next
 * (see `changeEntry` and lanes/account-entry.ts), which gives the account back. An error that it lets through is looked up in
 * trouble.ts by the worker, which then writes `later` or `aside` itself.
 */
export type AccountTurn = (context: TurnContext, account: AccountValue) => Promise<void>;

/** What the worker itself works with in addition. */
export interface WorkerContext extends TurnContext {
  /** Release of this program. */
  readonly version: string;
  /** The worker ends. */
  readonly stop: AbortSignal;
  /** The plan of an account, which has at least so many parcels. */
  planOf(account: string, parcels: number): Promise<AccountPlan>;
  /** The credentials of a client were refused. True when it was opened before `since`, and a new one may have others. */
  refused(account: string, client: Client | null, since: number): Promise<boolean>;
}
