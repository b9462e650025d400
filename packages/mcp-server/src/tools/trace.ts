import { createTracing, type TraceContext } from '@call-attribution/core/tracing';
import { ToolError } from '../text/failures.ts';

/**
 * The message of the tracing channels `tracing:call-attribution:tool:*`: one call of a tool. Arguments, results and messages are
 * left out, because they may hold personal data. What is optional is there once the call has ended.
 */
export interface ToolTrace extends TraceContext {
  /** Name of the tool; `unknown` when the server does not have it. */
  readonly tool: string;
  /** Code of the problem it failed with. */
  code?: string;
  /** An error with this code as its message. */
  error?: unknown;
}

const tracing = createTracing<ToolTrace>('tool');

/** Runs a call of a tool between its events. */
export async function traceTool<T>(tool: string, run: () => Promise<T>): Promise<T> {
  if (!tracing.isActive()) return run();
  const context: ToolTrace = { tool };
  const trace = tracing.begin(context);
  try {
    const result = await trace.run(run);
    trace.end();
    return result;
  } catch (error) {
    const code = error instanceof ToolError ? error.problem.code : 'unexpected';
    context.code = code;
    trace.end({ error: Object.assign(new Error(code), { code }) });
    throw error;
  }
}
