import { CallsError, nameErrors } from '@call-attribution/core/errors';
import { pushProblemText } from './words.ts';

/** Why conversions could not be sent, as facts. `PushError` has a sentence for each. */
export type PushProblem =
  /** No credentials were found. Set them in one of the places that the message lists. */
  | { readonly code: 'no_credentials'; readonly looked: readonly string[] }
  /** The key file cannot be read. Check its path and permissions. */
  | { readonly code: 'key_file_unreadable'; readonly file: string; readonly reason: string }
  /** The key file lacks a member. Download it again from the tool. */
  | { readonly code: 'key_file_incomplete'; readonly file: string; readonly missing: string }
  /** The key file is of a kind that cannot be used. Use a key of a service account, or of a user. */
  | { readonly code: 'key_file_kind'; readonly file: string; readonly kind: string }
  /** The key file names a token server that is not the one of the tool. Do not use the file; download it again. */
  | { readonly code: 'strange_token_server'; readonly file: string; readonly host: string }
  /** The endpoint is not an https URL. Correct it. */
  | { readonly code: 'bad_endpoint'; readonly endpoint: string }
  /** The destination lacks something, or has it in the wrong form. Write it as the message shows. */
  | { readonly code: 'bad_destination'; readonly name: string; readonly expected: string }
  /** The tool cannot be reached. Check the network and try again. */
  | { readonly code: 'unreachable'; readonly host: string; readonly reason: string }
  /** The response of the tool cannot be read. Try again later. */
  | { readonly code: 'unreadable_response'; readonly host: string; readonly status: number }
  /** The tool refused the request. The message has the tool's own reason; `isRetryable` says whether it may pass later. */
  | {
      readonly code: 'refused';
      readonly host: string;
      readonly status: number;
      /** Name of the error at the tool, such as `PERMISSION_DENIED`. */
      readonly reason: string;
      /** What the tool says, without personal data. */
      readonly detail: string;
      /** May the same request succeed later? */
      readonly mayPass: boolean;
    };

/** Conversions could not be sent. It holds no credential and nothing about a caller. */
export class PushError extends CallsError<PushProblem['code']> {
  /** What happened, as facts. */
  readonly problem: PushProblem;

  static {
    nameErrors(PushError, 'PushError');
  }

  constructor(problem: PushProblem) {
    const [message, hint] = pushProblemText(problem);
    super(problem.code, hint === undefined ? message : { message, hint }, {
      isRetryable: problem.code === 'unreachable' || (problem.code === 'refused' && problem.mayPass),
      ...('status' in problem ? { status: problem.status } : {}),
    });
    this.problem = problem;
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `PushError` of conversions. */
    PushError: PushError;
  }
}
