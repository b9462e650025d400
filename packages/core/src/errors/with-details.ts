import type { CallsError, ErrorDetails } from './calls-error.ts';

/** What is known of an error besides what it was made with. */
interface MoreDetails extends ErrorDetails {
  /** What happened, in other words. */
  readonly ownWords?: string | undefined;
  /** The stack, where something has to be left out of it. */
  readonly stack?: string | undefined;
}

/**
 * The same error with more details or other words, for what its place does not know. Class, code
 * and cause stay.
 */
export function withDetails(error: CallsError, more: MoreDetails): CallsError {
  const { ownWords = error.ownWords, stack = error.stack, ...known } = more;
  const { serverReason, ...details } = { ...error, cause: error.cause, ...known };
  const Class = error.constructor as new (
    ...given: ConstructorParameters<typeof CallsError>
  ) => CallsError;
  const changed = new Class(error.code, { message: ownWords, serverReason }, details);
  if (stack !== undefined) changed.stack = stack;
  return changed;
}
