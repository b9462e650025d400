import type { FilterArgumentError, FilterSyntaxError } from '@call-attribution/query-dsl';
import { type CodeTable, wordsOf } from './code-table.ts';
import { type ErrorKind, errorKinds } from './kinds.ts';

/** What an error says. */
export interface ErrorWords {
  /** What happened. */
  readonly message: string;
  /** The server's own reason, in a safe line. The message quotes it after what happened. */
  readonly serverReason?: string | undefined;
  /** What to do next. */
  readonly hint?: string | undefined;
}

/** What an error may know besides its code and its words. */
export interface KnownDetails {
  /** Its kind, where the code alone does not say it. */
  readonly kind: ErrorKind;
  /** Could the same request succeed when it is sent again? */
  readonly isRetryable: boolean;
  /** The deadline that passed, with `timeout`. */
  readonly limit: 'connect' | 'idle' | 'attempt' | 'total';
  /** HTTP status of the response, if there was one. */
  readonly status: number;
  /** The server's own reason, in a safe line. */
  readonly serverReason: string | undefined;
  /** The credentials that the request carried, when they are refused. */
  readonly credentials: 'token' | 'keys';
  /** Request id from the server, for its support. */
  readonly requestId: string;
  /** How many times the request was sent. */
  readonly attempts: number;
  /** URL of the request, without secrets. */
  readonly url: string;
  /** Beginning of the response body, at most 400 characters and redacted. */
  readonly body: string;
  /** What to do next. */
  readonly hint: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number;
  /** The error that led to this one. */
  readonly cause: unknown;
}

/**
 * What an error knows besides its code and its words. None of it holds a secret or a caller's data.
 */
export type ErrorDetails = {
  readonly [Name in keyof KnownDetails]?: KnownDetails[Name] | undefined;
};

/**
 * Marks the errors of the family, whichever copy or version of a package made them. query-dsl,
 * which imports nothing, marks its errors with the same symbol.
 */
const brand: unique symbol = Symbol.for('@call-attribution/error');

/**
 * The base of all errors that the packages throw on purpose. `code` is stable, and docs/errors.md
 * lists all codes. No part holds a secret or a caller's data.
 *
 * @example
 * try {
 *   await client.getCall(sid);
 * } catch (error) {
 *   if (CallsError.is(error, 'not_found')) return null;
 *   if (CallsError.is(error, 'rate_limited')) await sleep(error.retryAfterMs ?? 1_000);
 *   else throw error;
 * }
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns what the details have.
export class CallsError<Code extends string = string> extends Error {
  /** What the codes of the class mean, and what to do. docs/errors.md is generated from it. */
  static readonly codes: CodeTable = {};
  /**
   * @param words what happened, and what to do next; `message` has both. Left out, they are those
   * of the code.
   */
  constructor(code: Code, words?: string | ErrorWords, details: ErrorDetails = {}) {
    const entry = new.target.codes[code];
    const said = words ?? (entry === undefined ? code : wordsOf(entry));
    const given: ErrorWords = typeof said === 'string' ? { message: said } : said;
    const { message: ownWords, serverReason, hint = details.hint } = given;
    const summary = serverReason ? `${ownWords} The server says: "${serverReason}".` : ownWords;
    const { cause, kind = entry?.kind ?? 'bug', ...more } = details;
    super(withHint(summary, hint), cause === undefined ? undefined : { cause });
    const { isRetryable = errorKinds[kind].isRetryable } = details;
    const known = Object.entries({ ...more, code, kind, isRetryable, hint, serverReason });
    Object.assign(this, Object.fromEntries(known.filter(([, value]) => value !== undefined)));

    // Logs do not show them among an error's own properties.
    Object.defineProperties(this, { summary: { value: summary }, ownWords: { value: ownWords } });
  }

  static {
    nameErrors(CallsError, 'CallsError');
    Object.defineProperty(CallsError.prototype, brand, { value: true });
    // `instanceof CallsError` and `CallsError.is` agree; `instanceof` of the other classes is as usual.
    Object.defineProperty(CallsError, Symbol.hasInstance, {
      value(this: unknown, error: unknown): boolean {
        if (this === CallsError) return CallsError.is(error);
        return (
          typeof this === 'function' && Function.prototype[Symbol.hasInstance].call(this, error)
        );
      },
    });
  }

  /**
   * Is it an error of one of the packages? With codes: is it one with such a code? The type becomes
   * the class that has the code. Errors of another copy or version of a package count, too, which
   * `instanceof` of their class would miss.
   */
  static is(error: unknown): error is CallsError;
  /** Is it an error with one of these codes? */
  static is<C extends KnownErrorCode>(
    error: unknown,
    ...codes: readonly C[]
  ): error is ErrorWithCode<C>;
  static is(error: unknown, ...codes: readonly string[]): boolean {
    if (!(error instanceof Error) || !(brand in error)) return false;
    return codes.length === 0 || codes.includes(codeOf(error) ?? '');
  }

  /** Plain form for structured logs. */
  toJSON(): Record<string, unknown> {
    const { name, code, kind, message, isRetryable, status, requestId, attempts, url, body, hint } =
      this;
    const sent = { status, requestId, attempts, url, body, hint, retryAfterMs: this.retryAfterMs };
    return { name, code, kind, message, isRetryable, ...sent };
  }
}

/** What every error of the family knows. */
export interface CallsError<Code extends string = string>
  extends Partial<Omit<KnownDetails, 'kind' | 'isRetryable' | 'cause'>> {
  /** Stable name of what went wrong. */
  readonly code: Code;
  /**
   * What kind of trouble it is, for programs that do not need to tell codes apart; docs/errors.md
   * lists the kinds.
   */
  readonly kind: ErrorKind;
  /** Could the same request succeed when it is sent again? */
  readonly isRetryable: boolean;
  /**
   * What happened: the message without its hint, for programs that show the two in different
   * places.
   */
  readonly summary: string;
  /** The summary without what the server says, which may quote anything. */
  readonly ownWords: string;
}

/**
 * The code of anything that was thrown, such as `not_found` or `ENOENT`; undefined when it has
 * none.
 */
export function codeOf(error: unknown): string | undefined {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Gives the errors of a class their name. It is on the prototype, so that logs do not show it among
 * an error's own properties, and a string, so that it survives a bundler.
 */
export function nameErrors(type: { readonly prototype: Error }, name: string): void {
  Object.defineProperty(type.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
}

function withHint(message: string, hint: string | undefined): string {
  if (!hint) return message;
  // A hint of several lines, such as a filter with a caret, starts on a line of its own.
  if (hint.includes('\n')) return `${message}\n${hint}`;
  return /[.!?:]$/.test(message) ? `${message} ${hint}` : `${message}; ${hint}`;
}

/**
 * The classes of errors, by name. Each package adds its own, so that `CallsError.is` knows the
 * class of a code.
 */
export interface ErrorFamily {
  /** See `FilterArgumentError` of query-dsl. */
  FilterArgumentError: FilterArgumentError;
  /** See `FilterSyntaxError` of query-dsl. */
  FilterSyntaxError: FilterSyntaxError;
}

/** Every code of the packages that a program imports. */
export type KnownErrorCode = ErrorFamily[keyof ErrorFamily]['code'];

/** The errors that can have one of these codes. */
export type ErrorWithCode<C extends string> = {
  [Name in keyof ErrorFamily]: [Extract<ErrorFamily[Name]['code'], C>] extends [never]
    ? never
    : ErrorFamily[Name] & { readonly code: Extract<ErrorFamily[Name]['code'], C> };
}[keyof ErrorFamily];
