import { propertyOf } from '@call-attribution/core/errors';
import pg from 'pg';
import { StoreError, type StoreErrorCode } from './errors.ts';

/**
 * What to do after an error: run the transaction `again` on the same connection, run it again after
 * a `reconnect`, or pass the error on (null).
 */
type Remedy = 'again' | 'reconnect' | null;

/** What an error means: the message is `what`, the SQLSTATE, and `hint`. */
interface Meaning {
  readonly remedy: Remedy;
  readonly code: StoreErrorCode;
  readonly what: string;
  readonly hint: string;
}

const unavailable = (remedy: Remedy, what: string, hint: string): Meaning => ({
  remedy,
  code: 'store_unavailable',
  what,
  hint,
});
const busy = (what: string, hint: string, remedy: Remedy = null): Meaning => ({
  remedy,
  code: 'store_busy',
  what,
  hint,
});

const ended = unavailable(
  'reconnect',
  'The PostgreSQL server ended the connection of the store',
  'Try again.',
);
const collided = busy(
  'Other transactions got in the way of this one each time it was run',
  'Try again later.',
  'again',
);
const refusedLogin = unavailable(
  null,
  'The PostgreSQL server refused the connection of the store',
  'Check the user, the password and the name of the database.',
);

const withoutPassword = unavailable(
  null,
  'The PostgreSQL server of the store asks for a password, and none is set',
  'Set PGPASSWORD.',
);

/** By SQLSTATE, or by its class of two characters. */
const meanings: Readonly<Record<string, Meaning>> = {
  '40001': collided,
  '40P01': collided,
  '25P03': ended,
  '57P01': ended,
  '57P02': ended,
  '57P03': unavailable(
    'reconnect',
    'The PostgreSQL server of the store is starting or stopping',
    'Try again later.',
  ),
  '57P05': ended,
  '08': ended,
  '53300': unavailable(
    'reconnect',
    'The PostgreSQL server of the store has no free connection',
    'Raise its max_connections, or lower the pool size of the store.',
  ),
  '53100': {
    remedy: null,
    code: 'not_writable',
    what: 'The disk of the PostgreSQL server is full',
    hint: 'Free some space and try again.',
  },
  '55P03': busy(
    'Another process has been writing to the account for too long',
    'Try again, or end that process.',
  ),
  '57014': busy('A statement took longer than the time limit of the store', 'Try again later.'),
  '28': refusedLogin,
  '3D': refusedLogin,
};

/** What who only reads a store has to be granted. */
const readable = ['accounts', 'calls', 'claims', 'erased', 'meta', 'records'];

/** A user without the right to a table. The server names it, in words of any language. */
function forbidden({ message }: pg.DatabaseError): Meaning {
  const table = /[A-Za-z_]+$/.exec(message)?.[0] ?? '';
  const what = [...readable, 'credentials', 'journals', 'sms_numbers'].includes(table)
    ? `the table "${table}"`
    : 'a table or the schema';
  return {
    remedy: null,
    code: 'store_unavailable',
    what: `The user of the store has no right to ${what}`,
    hint: `Who only reads needs: GRANT SELECT ON ${readable.join(', ')} TO that user. The view "calls" alone is for programs that ask it in SQL.`,
  };
}

/** The connection broke, or was never made. */
const disconnected = unavailable(
  'reconnect',
  'The PostgreSQL server of the store does not respond',
  'Check that it is running, and that host, port, user and database are correct.',
);
const poolIsBusy = busy(
  'All connections of this process are in use',
  'Try again later, or raise the pool size.',
);
const tookTooLong = busy(
  'The PostgreSQL server of the store has stopped responding',
  'Try again later.',
);
// Other errors can quote a value, so only the code is shown.
const unexpected: Meaning = {
  remedy: null,
  code: 'store_failed',
  what: 'The PostgreSQL server refused a statement of the store',
  hint: '',
};

/** What is known of an error besides its words. */
interface Facts {
  readonly remedy: Remedy;
  /** Did a server send it? Otherwise the connection broke, or there is none. */
  readonly hasResponded: boolean;
}

const facts = new WeakMap<StoreError, Facts>();

/** What is known of an error; of one that is not from the database, nothing. */
export const factsOf = (error: unknown): Facts | undefined =>
  error instanceof StoreError ? facts.get(error) : undefined;

/** Can the connection on which the error occurred still be used? */
export function isUsableAfter(error: unknown): boolean {
  const known = factsOf(error);
  return known === undefined || (known.hasResponded && known.remedy !== 'reconnect');
}

/** The error of the store for one of the driver, with what is known to help. */
export function fromPostgres(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const meaning = meaningOf(cause);
  const sqlState = String(propertyOf(cause, 'code') ?? propertyOf(cause, 'message') ?? '');

  // The server quotes whole rows in its messages ("Failing row contains ..."), so only the code of
  // its error is kept.
  const error = new StoreError(
    meaning.code,
    `${meaning.what} (${sqlState}). ${meaning.hint}`.trimEnd(),
    {
      cause: Object.assign(new Error(sqlState), { code: sqlState }),
      ...(meaning === refusedLogin || meaning === withoutPassword || sqlState === '42501'
        ? { kind: 'keys' }
        : {}),
      ...(meaning.code === 'not_writable' ? { isRetryable: true } : {}),
    },
  );
  facts.set(error, { remedy: meaning.remedy, hasResponded: cause instanceof pg.DatabaseError });
  return error;
}

function meaningOf(cause: unknown): Meaning {
  if (cause instanceof pg.DatabaseError) {
    const code = cause.code ?? '';
    if (code === '42501') return forbidden(cause);
    return meanings[code] ?? meanings[code.slice(0, 2)] ?? unexpected;
  }

  const message = cause instanceof Error ? cause.message : '';
  if (message.includes('password must be a string')) return withoutPassword;
  if (message === 'timeout exceeded when trying to connect') return poolIsBusy;
  if (message === 'Query read timeout') return tookTooLong;
  return disconnected;
}
