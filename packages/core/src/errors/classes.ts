// The classes of errors of this package. They stand apart from their base, so that a program in a
// browser that needs none of them does not carry their words.
import { CallsError, nameErrors } from './calls-error.ts';
import type { CodeTable } from './code-table.ts';
import {
  configurationErrors,
  connectionErrors,
  deadlineErrors,
  httpErrors,
  responseErrors,
} from './codes.ts';

/**
 * An option, an argument, a setting or a file that a person wrote is wrong; nothing was sent. It
 * never holds a secret.
 */
export class ConfigurationError extends CallsError<keyof typeof configurationErrors> {
  static override readonly codes: CodeTable = configurationErrors;
  static {
    nameErrors(ConfigurationError, 'ConfigurationError');
  }
}

/** The server responded with a status that is not success. */
export class HttpError extends CallsError<keyof typeof httpErrors> {
  static override readonly codes: CodeTable = httpErrors;
  static {
    nameErrors(HttpError, 'HttpError');
  }
}

/** There was no complete response: the connection could not be made, or was lost. */
export class ConnectionError extends CallsError<keyof typeof connectionErrors> {
  static override readonly codes: CodeTable = connectionErrors;
  static {
    nameErrors(ConnectionError, 'ConnectionError');
  }
}

/** A deadline passed. */
export class DeadlineError extends CallsError<keyof typeof deadlineErrors> {
  static override readonly codes: CodeTable = deadlineErrors;
  static {
    nameErrors(DeadlineError, 'DeadlineError');
  }
}

/** A response came with a good status, but it is not what was requested. */
export class ResponseError extends CallsError<keyof typeof responseErrors> {
  static override readonly codes: CodeTable = responseErrors;
  static {
    nameErrors(ResponseError, 'ResponseError');
  }
}

declare module './calls-error.ts' {
  interface ErrorFamily {
    /** See `ConfigurationError`. */
    ConfigurationError: ConfigurationError;
    /** See `HttpError`. */
    HttpError: HttpError;
    /** See `ConnectionError`. */
    ConnectionError: ConnectionError;
    /** See `DeadlineError`. */
    DeadlineError: DeadlineError;
    /** See `ResponseError`. */
    ResponseError: ResponseError;
  }
}
