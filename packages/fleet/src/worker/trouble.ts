import { CallsError } from '@call-attribution/core';

/**
 * Whose trouble an error is, and with it what happens.
 * `lost`: another worker has the same; forgotten.
 * `credential`: the keys are missing or refused; the ticket is set aside at once.
 * `server`: the API is away or busy; tried later, without end.
 * `account`: the account itself; tried again a few times, then set aside.
 * `target`: the disk or database is away or full; the worker rests, and the ticket is free for others.
 * `engine`: the engine is away; what is under way is ended, nothing new is taken.
 */
export type TroubleKind = 'lost' | 'credential' | 'server' | 'account' | 'target' | 'engine';

/** What a worker has to know about an error. */
export type Trouble = { readonly [K in TroubleKind]: { readonly kind: K } & TroubleFacts }[TroubleKind];

interface TroubleFacts {
  /** Code of the error, of at most 40 characters. */
  readonly code: string;
  /** What happened, in at most 300 characters, without a secret and without data of a caller. */
  readonly message: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly waitMs: number;
}

/** Looks an error up. One that nobody knows is the account's, so that it ends: with the account set aside and named. */
export function troubleOf(error: unknown): Trouble {
  if (!CallsError.is(error)) {
    const code = foreignCode(error);
    const kind = foreignKind(code);
    return { kind, code, message: `${places[kind]} failed with ${code}.`, waitMs: 0 };
  }
  const kind = kindOf(error);
  // The message of an error that is not ours may quote what it was about; of ours, the place in the query says nothing here.
  const inner = error.name === 'StreamError' && CallsError.is(error.cause) ? error.cause : error;
  const message = error.code === 'read_failed' ? 'A page could not be read.' : inner.ownWords;
  return { kind, code: error.code, message: brief(message), waitMs: error.retryAfterMs ?? 0 };
}

function kindOf({ name, code, kind, url }: CallsError): TroubleKind {
  if (code === 'claim_lost') return 'lost';
  if (code.startsWith('engine_')) return 'engine';
  if (code.startsWith('target_')) return 'target';
  if (kind === 'keys' && name !== 'StoreError') return 'credential';
  if (kind === 'data' || kind === 'bug') return 'account';
  if (kind === 'disk' || name === 'StoreError') return 'target';
  // A wrong address, which a response shows, is not the fault of one account.
  return kind === 'usage' && url === undefined ? 'account' : 'server';
}

/** A message as it may be kept by the engine. */
export const brief = (text: string, most = 300): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
};

const places: Readonly<Record<TroubleKind, string>> = {
  lost: 'The claim',
  credential: 'The credentials',
  server: 'The API',
  account: 'Reading',
  target: 'The target',
  engine: 'The engine',
};

/** The code of an error of Node.js, PostgreSQL or SQLite; otherwise the name of its class. */
function foreignCode(error: unknown): string {
  const { code, name }: { code?: unknown; name?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const text = [code, name].find((each) => typeof each === 'string');
  return text !== undefined && /^[A-Za-z0-9_]{1,40}$/.test(text) ? text : 'unknown';
}

/**
 * Errors that are not of the packages. Those of the API arrive as ours, so a system error is the target's. By SQLSTATE: the server
 * ended a transaction that stood still, in which nothing can be lost; connections (08), resources and disk (53), the operator or
 * a restart (57P), input and output (58).
 */
function foreignKind(code: string): TroubleKind {
  if (code === '25P03') return 'lost';
  if (/^(?:08...|53...|57P..|58...)$/.test(code)) return 'target';
  if (/^SQLITE_(?:FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN)/.test(code)) return 'target';
  return /^E[A-Z0-9]{2,}$/.test(code) || code.startsWith('UND_ERR_') ? 'target' : 'account';
}

/** Waits that grow: `first` after one failure, doubled with each further one, up to `most`. */
export const backOff = (failures: number, first: number, most: number): number =>
  Math.min(most, first * 2 ** Math.min(30, Math.max(0, failures - 1)));

const second = 1000;

/** How long an account waits after so many failures in a row, in milliseconds. */
export const retryWait = (failures: number): number => backOff(failures, second, 120 * second);

/** How long a ticket waits whose server has been away for so long: as long again, from 1 second up to 2 minutes. */
export const serverWait = (failingMs: number, askedMs: number): number =>
  Math.max(askedMs, Math.min(120 * second, Math.max(second, failingMs)));

/** How long a worker rests after so many failures of the target in a row. */
export const restWait = (failures: number): number => backOff(failures, 5 * second, 60 * second);
