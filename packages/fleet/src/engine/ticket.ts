import * as z from 'zod';

// What engines keep. Whoever writes to an engine writes these, so they are read with care, and nothing in them says where
// requests go or which credentials are used.

const time = z.number().nullable();
const line = (most: number) => z.string().transform((text) => text.slice(0, most));

/** Trouble of an account. */
export interface NotedTrouble {
  /** Whose trouble it was: what the keys, the API or the account itself had to do with it. */
  readonly kind: 'credential' | 'server' | 'account';
  /** Code of the error. */
  readonly code: string;
  /** What happened, without a secret and without data of a caller. */
  readonly message: string;
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The worker that had it. */
  readonly by: string;
}

/** What is known of an account from its turns. */
export interface TicketNote {
  /** `open`: there is work, now or later. `done`: all was read, and nothing more is to come. `aside`: it needs a person. */
  readonly state: 'open' | 'done' | 'aside';
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
  /** What kept the last turn from its end. */
  readonly trouble: NotedTrouble | null;
  /** Turns in a row that ended with trouble. */
  readonly tries: number;
  /** Since when, in milliseconds since 1970. */
  readonly failingSince: number | null;
  /** When the read that is under way began: what was read since is not read again. */
  readonly round: number | null;
  /** When the last whole round ended. */
  readonly readAt: number | null;
  /** Turns so far. */
  readonly turns: number;
}

/** The right to read with a credential, which one worker has at a time. */
export interface Ticket {
  /** Made of the address of the API and the reference of the credential. */
  readonly key: string;
  /** The account, for people. */
  readonly account: string;
  /** When it is due, in milliseconds since 1970; null: never by itself. */
  readonly dueAt: number | null;
  /** What is known of the account. */
  readonly note: TicketNote;
}

/** A job as the engine knows it. */
export interface JobCard {
  /** Name of the job. */
  readonly name: string;
  /** When its first worker started, in milliseconds since 1970. */
  readonly since: number;
  /** Where records go, for people. */
  readonly into: string;
  /** Milliseconds between two reads of an account; null: it is read once. */
  readonly every: number | null;
  /** Tells job files that differ. */
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
  /** Slots that work. */
  readonly busy: number;
  /** Keys of the tickets that it holds. */
  readonly keys: readonly string[];
  /** Digest of its job file. */
  readonly digest: string;
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

const trouble = z.object({
  kind: z.enum(['credential', 'server', 'account']),
  code: line(40),
  message: line(300),
  at: z.number(),
  by: line(80),
});

const noteSchema = z.object({
  state: z.enum(['open', 'done', 'aside']).catch('open'),
  calls: z.number().nullable().catch(null),
  total: z.number().nullable().catch(null),
  newest: line(19).nullable().catch(null),
  whole: z.boolean().nullable().catch(null),
  lacks: line(300).nullable().catch(null),
  trouble: trouble.nullable().catch(null),
  tries: z.number().int().min(0).catch(0),
  failingSince: time.catch(null),
  round: time.catch(null),
  readAt: time.catch(null),
  turns: z.number().int().min(0).catch(0),
});

const ticketSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{32}$/),
  account: z.string().regex(/^[\w.-]{1,64}$/),
  dueAt: time,
  note: noteSchema,
});

/** A note about nothing. */
export const blankNote: TicketNote = noteSchema.parse({});

/** A ticket as an engine has it; null for what is none. */
export const readTicket = (value: unknown): Ticket | null => ticketSchema.safeParse(value).data ?? null;

const cardSchema = z.object({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/),
  since: z.number(),
  into: line(300),
  every: time,
  digest: line(64),
});

/** A job as an engine has it; null for what is none. */
export const readCard = (value: unknown): JobCard | null => cardSchema.safeParse(value).data ?? null;

const workerSchema = z.object({
  name: line(80),
  version: line(40),
  slots: z.number(),
  busy: z.number(),
  keys: z.array(z.string()).max(1000),
  digest: line(64),
  state: z.enum(['working', 'waiting', 'resting', 'leaving']),
  why: line(300).nullable(),
  callsPerSecond: z.number(),
  requestsPerSecond: z.number(),
  since: z.number(),
  at: z.number(),
});

/** A worker as an engine has it; null for what is none. */
export const readWorker = (value: unknown): WorkerCard | null => workerSchema.safeParse(value).data ?? null;
