import { propertyOf } from '@call-attribution/core/errors';
import pg from 'pg';
import { StoreError } from './errors.ts';

/**
 * What to do after an error: run the transaction `again` on the same connection, run it again after a `reconnect`, or
 * pass the error on (null).
 */
export type Remedy = 'again' | 'reconnect' | null;

interface Meaning {
  readonly remedy: Remedy;
  readonly error: (sqlState: string, cause: unknown) => StoreError;
}

const unavailable =
  (what: string, hint: string) =>
  (sqlState: string, cause: unknown): StoreError =>
    new StoreError('store_unavailable', `${what} (${sqlState}). ${hint}`, { cause });
const busy =
  (what: string, hint: string) =>
  (sqlState: string, cause: unknown): StoreError =>
    new StoreError('store_busy', `${what} (${sqlState}). ${hint}`, { cause });

const ended: Meaning = {
  remedy: 'reconnect',
  error: unavailable('The PostgreSQL server ended the connection of the store', 'Try again.'),
};
const collided: Meaning = {
  remedy: 'again',
  error: busy('Other transactions got in the way of this one each time it was run', 'Try again later.'),
};
const refusedLogin: Meaning = {
  remedy: null,
  error: (sqlState, cause) =>
    new StoreError(
      'store_unavailable',
      `The PostgreSQL server refused the connection of the store (${sqlState}). Check the user, the password and the name of the database.`,
      { cause, kind: 'keys' },
    ),
};

/** By SQLSTATE, or by its class of two characters. */
const meanings: Readonly<Record<string, Meaning>> = {
  '40001': collided,
  '40P01': collided,
  '25P03': ended,
  '57P01': ended,
  '57P02': ended,
  '57P03': {
    remedy: 'reconnect',
    error: unavailable('The PostgreSQL server of the store is starting or stopping', 'Try again later.'),
  },
  '57P05': ended,
  '08': ended,
  '53300': {
    remedy: 'reconnect',
    error: unavailable(
      'The PostgreSQL server of the store has no free connection',
      'Raise its max_connections, or lower the pool size of the store.',
    ),
  },
  '53100': {
    remedy: null,
    error: (sqlState, cause) =>
      new StoreError(
        'not_writable',
        `The disk of the PostgreSQL server is full (${sqlState}). Free some space and try again.`,
        { cause, isRetryable: true },
      ),
  },
  '55P03': {
    remedy: null,
    error: busy(
      'Another process has been writing to the account for too long',
      'Try again, or end that process.',
    ),
  },
  '57014': {
    remedy: null,
    error: busy('A statement took longer than the time limit of the store', 'Try again later.'),
  },
  '28': refusedLogin,
  '3D': refusedLogin,
};

/** The connection broke, or was never made. */
const disconnected: Meaning = {
  remedy: 'reconnect',
  error: unavailable(
    'The PostgreSQL server of the store does not respond',
    'Check that it is running, and that host, port, user and database are correct.',
  ),
};
const poolIsBusy: Meaning = {
  remedy: null,
  error: busy('All connections of this process are in use', 'Try again later, or raise the pool size.'),
};
const tookTooLong: Meaning = {
  remedy: null,
  error: busy('The PostgreSQL server of the store has stopped responding', 'Try again later.'),
};
// Other errors can quote a value, so only the code is shown.
const unexpected: Meaning = {
  remedy: null,
  error: (sqlState, cause) =>
    new StoreError('store_failed', `The PostgreSQL server refused a statement of the store (${sqlState}).`, {
      cause,
    }),
};

/** What is known of an error besides its words. */
interface Facts {
  readonly remedy: Remedy;
  readonly hasResponded: boolean;
}

const facts = new WeakMap<StoreError, Facts>();

/** The error of the store for one of the driver, with what is known to help. */
export function fromPostgres(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const { remedy, error: make } = meaningOf(cause);
  const sqlState = String(propertyOf(cause, 'code') ?? propertyOf(cause, 'message') ?? '');
  const error = make(sqlState, withoutValues(cause, sqlState));
  facts.set(error, { remedy, hasResponded: cause instanceof pg.DatabaseError });
  return error;
}

/** The server quotes whole rows in its messages ("Failing row contains ..."), so only the code of its error is kept. */
function withoutValues(cause: unknown, code: string): Error {
  const [constraint, table] = [propertyOf(cause, 'constraint'), propertyOf(cause, 'table')];
  const where = { ...(table ? { table } : {}), ...(constraint ? { constraint } : {}) };
  return Object.assign(new Error(code), { code, ...where });
}

/** What helps after an error. Errors that are not from the database have no remedy. */
export function remedyOf(error: unknown): Remedy {
  return factsOf(error)?.remedy ?? null;
}

/** Did a server send the error? Otherwise the connection broke, or there is none. */
export function hasResponded(error: unknown): boolean {
  return factsOf(error)?.hasResponded ?? false;
}

/** Can the connection on which the error occurred still be used? */
export function isUsableAfter(error: unknown): boolean {
  const known = factsOf(error);
  return known === undefined || (known.hasResponded && known.remedy !== 'reconnect');
}

const factsOf = (error: unknown): Facts | undefined =>
  error instanceof StoreError ? facts.get(error) : undefined;

function meaningOf(cause: unknown): Meaning {
  if (cause instanceof pg.DatabaseError) {
    const code = cause.code ?? '';
    return meanings[code] ?? meanings[code.slice(0, 2)] ?? unexpected;
  }
  const message = cause instanceof Error ? cause.message : '';
  if (message === 'timeout exceeded when trying to connect') return poolIsBusy;
  if (message === 'Query read timeout') return tookTooLong;
  return disconnected;
}
