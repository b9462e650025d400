import { CallsError } from '@call-attribution/core';
import {
  createTracing,
  type TraceContext,
  type TraceOutcome,
} from '@call-attribution/core/tracing';
import { metricsText } from '@call-attribution/node-stream/status';
import { nearest } from '@call-attribution/query-dsl';
import { formatCounted } from '@call-attribution/questions/chart';
import type * as z from 'zod';
import { quotable, redactError, redactMessage } from '../privacy/text.ts';
import { apiError, invalid, ToolError, toolErrorOf } from '../text/failures.ts';
import { readArguments } from './arguments.ts';
import type { CustomToolContext, JsonSchema, ToolContext } from './tool.ts';

// The one place that calls tools: it reads arguments, sets the deadline, traces and counts, and
// makes a result of data and of errors.

/** A part of a result. */
export interface ToolContent {
  /** What the part is. */
  readonly type: 'text';
  /** The text. */
  readonly text: string;
}

/** The result of a tool call. */
export interface ToolResult extends Record<string, unknown> {
  /** What models read: the structured content as JSON, or the failure in four lines. */
  readonly content: readonly ToolContent[];
  /** The same as data, valid against the tool's output schema. Present on success only. */
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  /** The call failed. */
  readonly isError?: true;
  /** What hosts get besides and models do not read, such as what the columns of a chart are. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What a call may bring along. */
export interface CallRequest {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined;
  /** Gets how far the call is. */
  readonly progress?: ((done: number, total: number | null, message: string) => void) | undefined;
}

/** Calls a tool by name. */
export type ToolCaller = (
  name: string,
  args: unknown,
  request?: CallRequest,
) => Promise<ToolResult>;

/** A tool that can be listed and called, whoever made it. */
export interface Callable {
  readonly name: string;
  /** As hosts see it, besides its name. */
  readonly definition: {
    readonly title?: string | undefined;
    readonly description: string;
    readonly inputSchema: JsonSchema;
    readonly outputSchema?: JsonSchema | undefined;
    readonly annotations?: Readonly<Record<string, boolean | string>> | undefined;
    readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly input: z.ZodObject;
  /** The messages of its errors are for agents, and it may not watch the signal. */
  readonly isCustom: boolean;
  run(
    args: Record<string, unknown>,
    run: Pick<ToolContext, 'signal' | 'progress' | 'folder'>,
  ): Promise<object | string>;
}

/**
 * The message of the tracing channels `tracing:call-attribution:tool:*`: one call of a tool.
 * Arguments, results and messages are left out, because they may hold personal data. What is
 * optional is there once the call has ended.
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

/**
 * Calls of the tools of this package that are taken at a time: four read the copy, the others wait
 * for it or for the API.
 */
const mostAtOnce = 20;

/** Publishes the code of an error in place of the error. */
function noteFailure(trace: ToolTrace, outcome: TraceOutcome<unknown>): void {
  if (!('error' in outcome)) return;
  trace.code = outcome.error instanceof ToolError ? outcome.error.code : 'unexpected';
  trace.error = Object.assign(new Error(trace.code), { code: trace.code });
}

/**
 * Makes what calls tools, and their metrics in the text format of Prometheus. `log` gets unexpected
 * errors.
 */
export function createCaller(
  tools: readonly Callable[],
  timeoutMs: number,
  log: (line: string) => void,
) {
  const tallies = new Map<string, { ok: number; error: number; seconds: number }>();
  let running = 0;
  /** Seconds that calls have taken lately. */
  let usual = 1;

  /** Runs a tool under its deadline. */
  async function run(tool: Callable, given: unknown, request: CallRequest): Promise<ToolResult> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => {});
    let last = 0;

    const progress: CustomToolContext['progress'] = (done, total, message) => {
      // Progress only ever grows.
      if (done > last) request.progress?.(done, total, message);
      last = Math.max(last, done);
    };

    try {
      const args = readArguments(tool.name, tool.input, given);
      const result = tool.run(args, { signal, progress, folder: null });
      const data = await (tool.isCustom ? Promise.race([result, aborted]) : result);
      if (typeof data === 'string' || Array.isArray(data))
        return {
          content: [{ type: 'text', text: typeof data === 'string' ? data : JSON.stringify(data) }],
        };
      const { _meta, ...structuredContent } = data as Pick<ToolResult, '_meta'>;
      // The text is the structured content word for word, so hosts that get both can see that and
      // drop one.
      const content = [{ type: 'text' as const, text: JSON.stringify(structuredContent) }];
      return { content, structuredContent, ...(_meta === undefined ? {} : { _meta }) };
    } catch (error) {
      throw failureOf(error, tool, { deadline, signal, timeoutMs, log });
    }
  }

  const call: ToolCaller = async (name, given, request = {}) => {
    const tool = tools.find((each) => each.name === name);
    const label = tool?.name ?? 'unknown';
    const from = performance.now();
    const tally = tallies.get(label) ?? { ok: 0, error: 0, seconds: 0 };
    tallies.set(label, tally);
    try {
      const answer = async () => {
        if (tool === undefined) throw unknownTool(name, tools);
        if (tool.isCustom) return run(tool, given, request);
        if (running >= mostAtOnce) throw busy(name, usual);
        running += 1;
        try {
          return await run(tool, given, request);
        } finally {
          running -= 1;
          usual += ((performance.now() - from) / 1000 - usual) / 8;
        }
      };
      const result = await tracing.run(() => ({ tool: label }), answer, noteFailure);
      tally.ok += 1;
      return result;
    } catch (error) {
      tally.error += 1;
      if (!(error instanceof ToolError)) throw error;
      return { content: [{ type: 'text', text: error.text }], isError: true };
    } finally {
      tally.seconds += (performance.now() - from) / 1000;
    }
  };

  return {
    call,
    metrics: () =>
      metricsText([
        {
          name: 'calls_mcp_tool_calls_total',
          type: 'counter',
          help: 'Tool calls completed.',
          samples: [...tallies].flatMap(([tool, { ok, error }]) => [
            { value: ok, labels: { tool, result: 'ok' } },
            { value: error, labels: { tool, result: 'error' } },
          ]),
        },
        {
          name: 'calls_mcp_tool_seconds',
          type: 'summary',
          help: 'Time that tool calls took.',
          samples: [...tallies].flatMap(([tool, { ok, error, seconds }]) => [
            { suffix: '_sum' as const, value: Number(seconds.toFixed(6)), labels: { tool } },
            { suffix: '_count' as const, value: ok + error, labels: { tool } },
          ]),
        },
      ]),
  };
}

/** What a call ran under. */
interface Failing {
  readonly deadline: AbortSignal;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly log: (line: string) => void;
}

/** What the assistant is told of a call that failed. */
function failureOf(
  error: unknown,
  tool: Callable,
  { deadline, signal, timeoutMs, log }: Failing,
): ToolError {
  const known = toolErrorOf(error);
  if (known !== null) return known;
  const what = `${tool.name} failed`;
  if (deadline.aborted)
    return new ToolError('timed_out', {
      what,
      why: `It took longer than ${timeoutMs / 1000} seconds.`,
      next: 'Narrow from/to, or ask for fewer rows.',
      retry: 'The same call may work later, when the API responds faster.',
    });
  if (error instanceof CallsError && error.name === 'StoreError')
    return new ToolError('copy_failed', {
      what: 'The local copy of the calls cannot be read',
      why: quotable(redactError(error), 400),
      ...(error.isRetryable
        ? { next: 'Repeat the call, with a shorter period if it fails again.', retry: 'Yes.' }
        : { next: 'Tell the user.', retry: 'Not before the user has looked at it.' }),
    });
  if (error instanceof CallsError) return apiError(tool.name, error);
  if (signal.aborted)
    return new ToolError('cancelled', {
      what,
      why: 'The call was cancelled.',
      next: 'Call it again if the result is still needed.',
      retry: 'Yes.',
    });
  log(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
  const retry = 'Once; it may help.';
  if (!tool.isCustom)
    return new ToolError('unexpected', {
      what,
      why: 'An unexpected error. The log of this server has the details.',
      next: 'Tell the user to look at the stderr output of this server.',
      retry,
    });
  return new ToolError('custom_tool', {
    what,
    why: quotable(redactMessage(error instanceof Error ? error.message : String(error)), 400),
    next: 'Correct the arguments if the reason says so; otherwise tell the user.',
    retry,
  });
}

/** The error for a call while others take all there is. In so many seconds some of them end. */
function busy(tool: string, usual: number): ToolError {
  const when = formatCounted(Math.min(60, Math.max(1, Math.ceil(usual))), 'second');
  return new ToolError('busy', {
    what: `${tool} was not run: the server is busy`,
    why: `${mostAtOnce} calls are being answered, and no more are taken at a time.`,
    next: `Call it again in ${when}, and fewer tools at a time.`,
    retry: `Yes, in ${when}.`,
  });
}

/** The error for a tool that does not exist, with the nearest one. */
export function unknownTool(name: string, tools: readonly Callable[]): ToolError {
  const names = tools.map((each) => each.name);
  const meant = nearest(name, names);
  return invalid(
    'unknown_tool',
    `There is no tool "${quotable(name)}".${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    `The tools are ${names.join(', ')}.`,
  );
}
