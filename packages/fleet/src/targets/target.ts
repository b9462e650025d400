import type { Client } from '@call-attribution/core';
import { FileLockedError, lockFile } from '@call-attribution/node-stream/files';
import type { TicketNote } from '../engine/engine.ts';
import { FleetError } from '../errors.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';

/** All that a turn works with. */
export interface TurnWork {
  /** The job. */
  readonly job: PlannedJob;
  /** The account to read. */
  readonly account: PlannedAccount;
  /**
   * When the read began that this turn goes on with, in milliseconds since 1970: what was written
   * since is kept.
   */
  readonly since: number;
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
  /**
   * Makes sure, before anything is read, that calls can be written. For a worker without an engine
   * it keeps a second one out, where that is possible, until the function that it returns is
   * called.
   */
  prepare(isAlone: boolean): Promise<() => Promise<void>>;
  /** Reads a part of an account and writes it. */
  turn(work: TurnWork): Promise<TurnEnd>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Keeps other processes out of a target by a file. */
export async function lockTarget(name: string, path: string): Promise<() => Promise<void>> {
  try {
    return await lockFile(path);
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    throw new FleetError(
      'target_unavailable',
      `Another process works on ${name}: ${cause.summary}`,
      {
        kind: 'busy',
        hint: 'Wait for it, or let several processes share the work: set CALLS_FLEET=postgres://user@host/name for all of them.',
        cause,
      },
    );
  }
}
