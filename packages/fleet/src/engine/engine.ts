import { createHash } from 'node:crypto';
import { FleetError } from '../errors.ts';
import type { PlannedJob } from '../job.ts';

/** What is known of an account from its turns. */
export interface TicketNote {
  /** Calls in the target; null while nobody knows. */
  readonly calls: number | null;
  /** Calls that the server counts. */
  readonly total: number | null;
  /** `date_added` of the newest call that was read. */
  readonly newest: string | null;
  /** Whether all calls are proved to be there; null while the first read is under way. */
  readonly whole: boolean | null;
  /** What is not whole, in a sentence. */
  readonly lacks: string | null;
  /**
   * When the read that is under way began, in milliseconds since 1970: what was written since is
   * not read again.
   */
  readonly round: number | null;
  /** When the last whole read ended. */
  readonly readAt: number | null;
}

/** A note about nothing. */
export const blankNote: TicketNote = {
  calls: null,
  total: null,
  newest: null,
  whole: null,
  lacks: null,
  round: null,
  readAt: null,
};

/** What kept the last turn of an account from its end. */
export interface NotedTrouble {
  /** Whose trouble it was: what the keys, the API or the account itself had to do with it. */
  readonly kind: 'credential' | 'server' | 'account';
  /** Code of the error. */
  readonly code: string;
  /** What happened, without a secret and without data of a caller. */
  readonly message: string;
  /** The worker that had it. */
  readonly by: string;
  /** Since when it is so, in milliseconds since 1970. */
  readonly since: number;
  /** Turns in a row that ended with trouble of this kind. */
  readonly tries: number;
}

/** The right to read an account, which one worker has at a time. */
export interface Ticket {
  /** Id of the account. */
  readonly account: string;
  /** What is known of it. */
  readonly note: TicketNote;
  /** What kept its last turn from its end; null when nothing did. */
  readonly trouble: NotedTrouble | null;
}

/** A ticket in the hands of a worker. */
export interface Turn extends Ticket {
  /** Of this turn, in this engine. */
  readonly id: string;
  /** How often it was given out before. */
  readonly attempt: number;
}

/** A ticket, and what becomes of it. */
export interface SeenTicket extends Ticket {
  /**
   * `active`: a worker has it; `open`: it has its turn, now or later; `done`: all was read;
   * `aside`: it needs a person.
   */
  readonly state: 'active' | 'open' | 'done' | 'aside';
  /** When an open one is due, in milliseconds since 1970. */
  readonly dueAt: number;
}

/** A job as the engine knows it. */
export interface JobCard {
  /** Name of the job. */
  readonly name: string;
  /** When its first worker started, in milliseconds since 1970. */
  readonly since: number;
  /** Where records go, for people. */
  readonly into: string;
  /** A hash of each setting of its file, which tells files that differ. */
  readonly settings: Readonly<Record<string, string>>;
  /** A hash of all of them. */
  readonly digest: string;
}

/** A sign of life of a worker. */
export interface WorkerCard {
  /** Its name. */
  readonly name: string;
  /** Version of this package that it runs. */
  readonly version: string;
  /** Turns that it works on at a time. */
  readonly slots: number;
  /** Accounts that it works on. */
  readonly accounts: readonly string[];
  /** What it does. */
  readonly state: 'working' | 'waiting' | 'resting' | 'leaving';
  /** Why it does not work. */
  readonly why: string | null;
  /** Calls that it writes in a second. */
  readonly callsPerSecond: number;
  /** Requests that it sends in a second. */
  readonly requestsPerSecond: number;
  /** When it started, in milliseconds since 1970. */
  readonly since: number;
  /** When it gave this sign, in milliseconds since 1970. */
  readonly at: number;
}

/** All that an engine knows of a job. */
export interface FleetFacts {
  /** Null: there is no such job. */
  readonly card: JobCard | null;
  /** Those of all its accounts. */
  readonly tickets: readonly SeenTicket[];
  /** Those that have not left. */
  readonly workers: readonly WorkerCard[];
}

/**
 * Hands out the tickets of a job: each to one worker at a time, the one that has waited longest
 * first. The order is a hint: what is written to a target is fenced there.
 */
export interface Engine extends AsyncDisposable {
  /** For messages, without a password. */
  readonly name: string;
  /** Whether other processes see it. */
  readonly isShared: boolean;
  /**
   * Makes a worker and its job known. Throws `job_invalid` while others work with a job file that
   * differs.
   */
  join(job: PlannedJob, worker: WorkerCard): Promise<void>;
  /** Takes tickets that are due. */
  take(most: number): Promise<Turn[]>;
  /**
   * Gives a sign of life for a worker and its turns. Resolves with the ids of those that it still
   * has.
   */
  keep(turns: readonly Turn[], worker: WorkerCard): Promise<ReadonlySet<string>>;
  /**
   * Ends a turn and puts its ticket back until it is due, for ever with null, in one step. False:
   * somebody else has it by now.
   */
  end(turn: Turn, note: TicketNote, dueAt: number | null): Promise<boolean>;
  /**
   * Ends a turn with trouble: the ticket comes again after a while, or is set aside. `lost`:
   * somebody else has it by now.
   */
  fail(
    turn: Turn,
    trouble: Omit<NotedTrouble, 'since' | 'tries'>,
  ): Promise<'later' | 'aside' | 'lost'>;
  /** Sends the tickets of accounts again, whatever became of them. */
  again(accounts: readonly string[]): Promise<void>;
  /** Forgets a worker. */
  gone(worker: string): Promise<void>;
  /** All that is known. */
  look(): Promise<FleetFacts>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Milliseconds without a sign of life after which the turns of a worker are given to others. */
export const silenceMs = 10_000;

/** Milliseconds without a sign of life after which a worker no longer counts. */
export const livingMs = 30_000;

/** Trouble with what was before: `tries` and `since` go on while it is of the same kind. */
export function troubleAfter(
  { trouble: before }: Turn,
  trouble: Omit<NotedTrouble, 'since' | 'tries'>,
  now: number,
): NotedTrouble {
  const isSame = before?.kind === trouble.kind;
  return { ...trouble, since: before?.since ?? now, tries: isSame ? before.tries + 1 : 1 };
}

/** What changes when a worker joins a job. */
export interface Joining {
  readonly card: JobCard;
  /** Accounts whose tickets are removed. */
  readonly removed: readonly string[];
  /** Tickets that are due now. */
  readonly sent: readonly Pick<Ticket, 'account' | 'note'>[];
}

/**
 * What changes when a worker joins a job. Who is alone goes by its own file, and reads every
 * account that is not set aside; next to others the file must be the same.
 */
export function joining(
  { card, tickets, workers }: FleetFacts,
  job: PlannedJob,
  worker: WorkerCard,
): Joining {
  const settings = settingsOf(job);
  const isAlone = workers.every(
    ({ name, at }) => name === worker.name || worker.at - at >= livingMs,
  );
  const differing = Object.keys(settings).filter((name) => settings[name] !== card?.settings[name]);
  if (!isAlone && differing.length > 0)
    throw new FleetError(
      'job_invalid',
      `Workers of ${job.name} go by another job file than this one, with other ${differing.join(', ')}. Stop all of them, then start them with the edited file.`,
    );

  const known = new Map(tickets.map((ticket) => [ticket.account, ticket]));
  const isKept = ({ account, state }: SeenTicket): boolean =>
    job.accounts.has(account) && (!isAlone || state === 'aside');

  const sent = [];
  for (const account of job.accounts.keys()) {
    const ticket = known.get(account);
    if (ticket === undefined || !isKept(ticket))
      sent.push({ account, note: ticket?.note ?? blankNote });
  }

  return {
    card: {
      name: job.name,
      since: card?.since ?? worker.at,
      into: job.into,
      settings,
      digest: hashOf(settings),
    },
    removed: tickets.filter((ticket) => !isKept(ticket)).map(({ account }) => account),
    sent,
  };
}

/** A hash of each setting: the filter of a job may have the number of a caller in it. */
function settingsOf({ accounts, ...job }: PlannedJob): Record<string, string> {
  const sorted = [...accounts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return Object.fromEntries(
    Object.entries({ ...job, accounts: sorted }).map(([name, value]) => [name, hashOf(value)]),
  );
}

/** A short hash of a value. */
const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
