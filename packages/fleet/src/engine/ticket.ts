import * as z from 'zod';

// What engines keep. Whoever writes to an engine writes these, so they are read with care, and nothing in them says where
// requests go or which credentials are used.

const time = z.number().nullable();
const line = (most: number) => z.string().transform((text) => text.slice(0, most));

const trouble = z.object({
  /** Code of the error. */
  code: line(40),
  /** What happened, without a secret and without data of a caller. */
  message: line(300),
  /** When. */
  at: z.number(),
  /** The worker that had it. */
  by: line(80),
});

const noteSchema = z.object({
  /** `open`: there is work, now or later. `done`: all was read, and nothing more is to come. `aside`: it waits for somebody. */
  state: z.enum(['open', 'done', 'aside']).catch('open'),
  /** Calls in the target; null while nobody knows. */
  calls: z.number().nullable().catch(null),
  /** Calls that the server counts. */
  total: z.number().nullable().catch(null),
  /** `date_added` of the newest call that was read. */
  newest: line(19).nullable().catch(null),
  /** Whether all calls are proved to be there; null while the first read is under way. */
  whole: z.boolean().nullable().catch(null),
  /** What is not whole, in a sentence. */
  lacks: line(300).nullable().catch(null),
  /** What kept the last turn from its end. */
  trouble: trouble.nullable().catch(null),
  /** Turns in a row that ended with trouble. */
  tries: z.number().int().min(0).catch(0),
  /** Since when, in milliseconds since 1970. */
  failingSince: time.catch(null),
  /** When the read that is under way began: what was read since is not read again. */
  round: time.catch(null),
  /** When the last whole round ended. */
  readAt: time.catch(null),
  /** The month of the first call. */
  first: z
    .string()
    .regex(/^\d{4}-\d{2}$/)
    .nullable()
    .catch(null),
  /** Requests of the last minute: how many began in each second, from `at` on. */
  sent: z
    .object({ at: z.number().int(), counts: z.array(z.number().int().min(0)).max(64) })
    .nullable()
    .catch(null),
  /** Turns so far. */
  turns: z.number().int().min(0).catch(0),
});

/** What is known of an account from its turns. */
export type TicketNote = Readonly<z.infer<typeof noteSchema>>;
/** Trouble of an account. */
export type NotedTrouble = Readonly<z.infer<typeof trouble>>;

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
  state: z.enum(['running', 'paused', 'cancelled']),
  /** With a pause: turns under way are dropped, too. */
  now: z.boolean(),
  /** Since when it is so. */
  since: z.number(),
  /** Where records go, for people. */
  into: line(300),
  every: time,
  copy: z.object({ settings: z.record(z.string(), z.string()), digest: z.string() }),
});

/** A job as the engine knows it. */
export type JobCard = Readonly<z.infer<typeof cardSchema>>;

/** A job as an engine has it; null for what is none. */
export const readCard = (value: unknown): JobCard | null => cardSchema.safeParse(value).data ?? null;

const workerSchema = z.object({
  name: line(80),
  version: line(40),
  slots: z.number(),
  /** Slots that work. */
  busy: z.number(),
  /** Keys of the tickets that it holds. */
  keys: z.array(z.string()).max(1000),
  /** Digest of its job file. */
  digest: line(64),
  state: z.enum(['working', 'waiting', 'resting', 'leaving']),
  /** Why it does not work. */
  why: line(300).nullable(),
  callsPerSecond: z.number(),
  requestsPerSecond: z.number(),
  /** Credentials that are at their rate, and those whose server asked to wait. */
  held: z.object({ rate: z.number(), server: z.number() }),
  since: z.number(),
  at: z.number(),
});

/** A sign of life of a worker. */
export type WorkerCard = Readonly<z.infer<typeof workerSchema>>;

/** A worker as an engine has it; null for what is none. */
export const readWorker = (value: unknown): WorkerCard | null => workerSchema.safeParse(value).data ?? null;
