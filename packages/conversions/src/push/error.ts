import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorDetails,
  type ErrorWords,
  nameErrors,
} from '@call-attribution/core/errors';

const pushErrors = codeTable({
  usage: {
    bad_destination:
      'The destination, endpoint or credentials are incomplete, malformed or unreadable. Write it as the message shows.',
  },
  away: {
    unreachable: 'The tool cannot be reached. Check the network and try again.',
  },
  data: {
    refused:
      "The tool refused the request, or its response cannot be read. The message has the tool's own reason; `isRetryable` says whether it may pass later.",
  },
});

/** Conversions could not be sent. It holds no credential and nothing about a caller. */
export class PushError extends CallsError<keyof typeof pushErrors> {
  static override readonly codes: CodeTable = pushErrors;
  /**
   * Name of the error at the tool or the system, such as `PERMISSION_DENIED`; empty when it has
   * none.
   */
  readonly reason: string;
  /** May the tool have taken the request all the same? */
  mayBeTaken = false;

  static {
    nameErrors(PushError, 'PushError');
  }

  constructor(
    code: keyof typeof pushErrors,
    words: string | ErrorWords,
    { reason = '', ...facts }: ErrorDetails & { readonly reason?: string } = {},
  ) {
    const isOfKeys = facts.status === 401 || facts.status === 403;
    super(code, words, { ...facts, ...(isOfKeys ? { kind: 'keys' } : {}) });
    this.reason = reason;
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `PushError` of conversions. */
    PushError: PushError;
  }
}
