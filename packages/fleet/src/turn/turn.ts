import type { Client } from '@call-attribution/core';
import type { Turn } from '../engine/engine.ts';
import type { TicketNote } from '../engine/ticket.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';

/** All that a turn works with. */
export interface TurnWork {
  /** The job. */
  readonly job: PlannedJob;
  /** The account to read. */
  readonly account: PlannedAccount;
  /** Its ticket. */
  readonly turn: Turn;
  /** Reads with the credentials of the account. */
  readonly client: Client;
  /** Aborted when the turn is somebody else's or the worker ends at once. */
  readonly signal: AbortSignal;
  /** Who writes, for messages. */
  readonly holder: string;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  /** How far it is. */
  readonly onCalls: (calls: number) => void;
}

/** How a turn ended: `cut` when there is more to read, `round` when all that was due was read. */
export interface TurnEnd {
  /** Whether there is more to read. */
  readonly kind: 'cut' | 'round';
  /** What is known now. */
  readonly note: Partial<TicketNote>;
}

/** Where calls are written to. */
export interface Target extends AsyncDisposable {
  /** For messages, without a password. */
  readonly name: string;
  /** Makes sure, before anything is read, that it can take the calls of a job. */
  prepare(job: PlannedJob): Promise<void>;
  /** Keeps a second process out that has no engine in common. Returns what lets go. */
  lock(job: PlannedJob): Promise<() => Promise<void>>;
  /** Reads a part of an account and writes it. */
  turn(work: TurnWork): Promise<TurnEnd>;
  /** Closes connections, and removes what is half written. */
  close(): Promise<void>;
}
