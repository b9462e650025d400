import { pushProblemText } from './words.ts';

/** Why conversions could not be sent, as facts. `PushError` has a sentence for each. */
export type PushProblem =
  | { readonly code: 'no_credentials'; readonly looked: readonly string[] }
  | { readonly code: 'key_file_unreadable'; readonly file: string; readonly reason: string }
  | { readonly code: 'key_file_incomplete'; readonly file: string; readonly missing: string }
  | { readonly code: 'key_file_kind'; readonly file: string; readonly kind: string }
  | { readonly code: 'strange_token_server'; readonly file: string; readonly host: string }
  | { readonly code: 'bad_endpoint'; readonly endpoint: string }
  | { readonly code: 'bad_destination'; readonly name: string; readonly expected: string }
  | { readonly code: 'unreachable'; readonly host: string; readonly reason: string }
  | { readonly code: 'unreadable_response'; readonly host: string; readonly status: number }
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
export class PushError extends Error {
  /** The name of the class, which survives a bundler. */
  override readonly name = 'PushError';
  /** Stable name of the problem. */
  readonly code: PushProblem['code'];
  /** What happened, as facts. */
  readonly problem: PushProblem;
  /** What to do about it; null when the message says it. */
  readonly hint: string | null;

  constructor(problem: PushProblem) {
    const [message, hint] = pushProblemText(problem);
    super(message);
    this.code = problem.code;
    this.problem = problem;
    this.hint = hint ?? null;
  }
}

/** May the same request succeed later? */
export function mayPass({ problem }: PushError): boolean {
  return problem.code === 'unreachable' || (problem.code === 'refused' && problem.mayPass);
}
