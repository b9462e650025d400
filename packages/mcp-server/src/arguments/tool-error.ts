/** What a failed tool call tells the agent: what failed, why, what to call next and whether to try again. */
export interface Failure {
  readonly what: string;
  readonly why: string;
  /** The next call to make. */
  readonly next: string;
  readonly retry: string;
  /** What was asked for does not exist. */
  readonly isMissing?: true;
}

/** Thrown by tools; becomes an error result, which agents read, not a protocol error, which they do not. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`${failure.what}: ${failure.why}`);
    this.failure = failure;
  }
}

/** An error in the arguments of a call: the same call cannot succeed. */
export function argumentError(why: string, next: string): ToolError {
  return new ToolError({
    what: 'The arguments are not usable',
    why,
    next,
    retry: 'Only with changed arguments.',
  });
}

/** The text of an error result. */
export function failureText({ what, why, next, retry }: Failure): string {
  return `${what}.\nWhy: ${why}\nNext: ${next}\nRetry: ${retry}`;
}
