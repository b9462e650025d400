import type { JobCard, Ticket, WorkerCard } from './ticket.ts';

/** A ticket in the hands of a worker. */
export interface Turn extends Ticket {
  /** Of this turn, in this engine. */
  readonly id: string;
  /** How often it was given out: more than 0 after a worker has given no more signs of life. */
  readonly attempt: number;
}

/** A ticket, and whether somebody works on it. */
export interface SeenTicket extends Ticket {
  /** Whether a worker has it. */
  readonly isActive: boolean;
}

/** All that an engine knows of a job. */
export interface FleetFacts {
  /** Null: there is no such job. */
  readonly card: JobCard | null;
  /** Those of all its accounts. */
  readonly tickets: readonly SeenTicket[];
  /** Those that gave a sign of life within the last minutes. */
  readonly workers: readonly WorkerCard[];
}

/**
 * Hands out the tickets of a job: each to one worker at a time, the one that has waited longest first. The order is a hint: what is
 * written to a target is fenced there.
 */
export interface Engine extends AsyncDisposable {
  /** For messages, without a password. */
  readonly name: string;
  /** Whether other processes see it. */
  readonly isShared: boolean;
  /** Adds tickets. A key has one ticket, whoever adds it, and one that is there stays as it is. */
  put(tickets: readonly Ticket[]): Promise<void>;
  /** Takes tickets that are due. */
  take(most: number): Promise<Turn[]>;
  /** Gives a sign of life for turns. Resolves with the ids of those that the worker still has. */
  keep(turns: readonly Turn[]): Promise<ReadonlySet<string>>;
  /** Ends a turn and puts its ticket back, or removes it with null, in one step. False: somebody else has it by now. */
  end(turn: Turn, next: Ticket | null): Promise<boolean>;
  /** Changes a ticket that nobody works on, or removes it with null. False: somebody works on it, or there is none. */
  edit(key: string, change: (ticket: Ticket) => Ticket | null): Promise<boolean>;
  /** The job. */
  card(): Promise<JobCard | null>;
  /** Changes the job, one at a time. Null leaves it as it is. */
  setCard(change: (card: JobCard | null) => JobCard | null): Promise<JobCard | null>;
  /** Shows a worker to others. */
  beat(worker: WorkerCard): Promise<void>;
  /** Forgets a worker. */
  gone(worker: string): Promise<void>;
  /** All that is known. */
  look(): Promise<FleetFacts>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Milliseconds without a sign of life after which the turns of a worker are given to others. */
export const silenceMs = 10_000;
