import type { CallsError, ErrorDetails } from './calls-error.ts';

/** What is known of an error besides what it was made with. */
export interface MoreDetails extends ErrorDetails {
  /** What happened, where it is to be said in other words. */
  readonly message?: string;
  /** The stack, where something has to be left out of it. */
  readonly stack?: string | undefined;
}

/**
 * The same error with more details or other words: for errors of the classes below, whose place does not know what the sender of the
 * request knows. Class, code, cause and stack stay.
 */
export function withDetails(error: CallsError, { message, stack, ...more }: MoreDetails): CallsError {
  const { code, summary, name: _, message: __, stack: ___, ...details } = error;
  const { cause } = error;
  const Class = error.constructor as new (...given: ConstructorParameters<typeof CallsError>) => CallsError;
  const changed = new Class(code, { message: message ?? summary }, { ...details, cause, ...more });
  const kept = stack ?? error.stack;
  if (kept !== undefined) changed.stack = kept;
  return changed;
}
