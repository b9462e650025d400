import { failureText, ToolError } from '../../src/text/failures.ts';

/** What an agent reads when a function throws a `ToolError`. */
export function failureOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolError) return failureText(error.problem);
    throw error;
  }
  throw new Error('expected an error');
}
