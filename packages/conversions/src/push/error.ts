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
    no_credentials: 'No credentials were found. Set them in one of the places that the message lists.',
    key_file_unreadable: 'The key file cannot be read. Check its path and permissions.',
    bad_destination:
      'The destination or the endpoint lacks something, or has it in the wrong form. Write it as the message shows.',
  },
  away: {
    unreachable: 'The tool cannot be reached. Check the network and try again.',
  },
  data: {
    unreadable_response: 'The response of the tool cannot be read. Try again later.',
    refused:
      "The tool refused the request. The message has the tool's own reason; `isRetryable` says whether it may pass later.",
  },
});

/** Conversions could not be sent. It holds no credential and nothing about a caller. */
export class PushError extends CallsError<keyof typeof pushErrors> {
  static override readonly codes: CodeTable = pushErrors;
  /** Name of the error at the tool or the system, such as `PERMISSION_DENIED`; empty when it has none. */
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
