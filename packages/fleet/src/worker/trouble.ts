import { CallsError } from '@call-attribution/core';

/**
 * Whose trouble an error is, and with it what happens.
 * `lost`: another worker has the same; forgotten.
 * `credential`: the keys are missing or refused; the account is set aside at once.
 * `server`: the API is away or busy; tried again later.
 * `account`: the account itself; tried again a few times, then set aside.
 * `target`: the disk or database is away or full; the worker rests, and the ticket is free for others.
 * `engine`: the engine is away; what is under way is ended, nothing new is taken.
 */
export type TroubleKind = 'lost' | 'credential' | 'server' | 'account' | 'target' | 'engine';

/** What a worker has to know about an error. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** Code of the error, of at most 40 characters. */
  readonly code: string;
  /** What happened, in at most 300 characters, without a secret and without data of a caller. */
  readonly message: string;
}

/**
 * Looks an error up. One that nobody knows is the account's, so that it ends: with the account set
 * aside and named.
 */
export function troubleOf(error: unknown): Trouble {
  if (!CallsError.is(error)) {
    const code = foreignCode(error);
    const kind = foreignKind(code);
    const place = { lost: 'The claim', target: 'The target', account: 'Reading' }[kind];
    return { kind, code, message: `${place} failed with ${code}.` };
  }

  // The message of an error that is not ours may quote what it was about; of ours, the place in the
  // query says nothing here.
  const inner = error.name === 'StreamError' && CallsError.is(error.cause) ? error.cause : error;
  const message = error.code === 'read_failed' ? 'A page could not be read.' : inner.ownWords;
  const line = message.replace(/\s+/g, ' ').trim();
  return {
    kind: kindOf(error),
    code: error.code,
    message: line.length <= 300 ? line : `${line.slice(0, 299)}…`,
  };
}

function kindOf({ name, code, kind, url }: CallsError): TroubleKind {
  if (code === 'claim_lost') return 'lost';
  if (code === 'engine_unavailable') return 'engine';
  if (code.startsWith('target_') || code === 'unfit_place') return 'target';
  if (kind === 'keys' && name !== 'StoreError') return 'credential';
  if (kind === 'data' || kind === 'bug') return 'account';
  if (kind === 'disk' || name === 'StoreError') return 'target';

  // A wrong address, which a response shows, is not the fault of one account.
  return kind === 'usage' && url === undefined ? 'account' : 'server';
}

/** The code of an error of Node.js, PostgreSQL or SQLite; otherwise the name of its class. */
function foreignCode(error: unknown): string {
  const { code, name }: { code?: unknown; name?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const text = [code, name].find((each) => typeof each === 'string');
  return text !== undefined && /^[A-Za-z0-9_]{1,40}$/.test(text) ? text : 'unknown';
}

/**
 * Errors that are not of the packages. Those of the API arrive as ours, so a system error is the
 * target's. By SQLSTATE: the server ended a transaction that stood still, in which nothing can be
 * lost; connections (08), resources and disk (53), the operator or a restart (57P), input and
 * output (58).
 */
function foreignKind(code: string): 'lost' | 'target' | 'account' {
  if (code === '25P03') return 'lost';
  const isTarget =
    /^(?:08...|53...|57P..|58...|E[A-Z0-9]{2,}|UND_ERR_.*|SQLITE_(?:FULL|BUSY|LOCKED|IOERR|READONLY|CANTOPEN).*)$/;
  return isTarget.test(code) ? 'target' : 'account';
}

/**
 * How long a worker rests after so many failures of the target in a row, in milliseconds: 5
 * seconds, 10, 20, at most a minute.
 */
export const restWait = (failures: number): number => Math.min(60_000, 5_000 * 2 ** (failures - 1));
