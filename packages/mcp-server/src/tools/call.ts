import { CallsError } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { toJsonSchema } from '../arguments/json-schema.ts';
import { asZod, readArguments } from '../arguments/read.ts';
import { NotLoaded } from '../copy/source.ts';
import { redactError } from '../privacy/scrub.ts';
import type { MethodHandler, RequestContext } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/messages.ts';
import { failureText, ToolError } from '../text/failures.ts';
import { questionFailure } from '../text/question-failure.ts';
import { tools } from './index.ts';
import type { Tool, ToolContext } from './tool.ts';
import { traceTool } from './trace.ts';

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
}

/** What a call may bring along from the request that made it. */
export type CallRequest = Partial<Pick<RequestContext, 'signal' | 'notify' | 'progressToken'>>;

/** Calls a tool by name. */
export type ToolCaller = (name: string, args: unknown, request?: CallRequest) => Promise<ToolResult>;

/** One step of a call: does its part, and passes the call on or answers it. */
export type ToolStep = (
  next: ToolCaller,
  name: string,
  args: unknown,
  request?: CallRequest,
) => Promise<ToolResult>;

/** The steps as one caller, in the order of the list; the last one passes the call to `end`. */
export function inSteps(steps: readonly ToolStep[], end: ToolCaller): ToolCaller {
  return steps.reduceRight<ToolCaller>(
    (next, step) => (name, args, request) => step(next, name, args, request),
    end,
  );
}

/** Calls a tool by name and resolves to its data. Every failure is thrown as a `ToolError`. */
export type ToolRunner = (
  name: string,
  args: unknown,
  request?: CallRequest,
) => Promise<Record<string, unknown>>;

/** What all calls share. */
export type ToolSettings = Omit<ToolContext, 'signal' | 'progress'>;

/** Makes the one place that runs tools: it reads arguments, sets the deadline and turns every error into a `ToolError`. */
export function createToolRunner(
  settings: ToolSettings,
  timeoutMs: number,
  log: (line: string) => void,
): ToolRunner {
  return async (name, args, request = {}) => {
    const tool = toolNamed(name);
    return guarded(name, { timeoutMs, log }, request, async (signal) => {
      const read = readArguments(tool.name, tool.input, args);
      return tool
        .run(read, { ...settings, signal, progress: progressOf(request) })
        .catch((error: unknown) => {
          if (!(error instanceof NotLoaded)) throw error;
          return { summary: error.message, complete: false, notes: [] };
        });
    });
  };
}

/** Runs a tool under its deadline. Every error is thrown as a `ToolError`. */
export async function guarded<T>(
  name: string,
  limits: {
    readonly timeoutMs: number;
    readonly log: (line: string) => void;
    /** The messages of its errors are for agents. */
    readonly isCustom?: boolean;
  },
  request: CallRequest,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timeoutMs, log, isCustom } = limits;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    // A tool of your own may not watch the signal.
    return await (isCustom ? Promise.race([run(signal), aborted]) : run(signal));
  } catch (error) {
    const known = questionFailure(error);
    if (known instanceof ToolError) throw known;
    if (deadline.aborted) throw new ToolError({ code: 'timed_out', tool: name, seconds: timeoutMs / 1000 });
    if (error instanceof CallsError)
      throw new ToolError(
        error.name === 'StoreError'
          ? { code: 'copy_failed', reason: redactError(error), mayPass: error.isRetryable }
          : { code: 'api_error', tool: name, error },
      );
    if (signal.aborted) throw new ToolError({ code: 'cancelled', tool: name });
    log(`${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
    if (!isCustom) throw new ToolError({ code: 'unexpected', tool: name });
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError({ code: 'custom_tool', tool: name, reason });
  }
}

function toolNamed(name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool) return tool;
  const names = tools.map((each) => each.name);
  const meant = name === 'summarize_calls' ? 'analyze_calls' : nearest(name, names);
  throw new ToolError({ code: 'unknown_tool', name, nearest: meant, tools: names });
}

/** Reports progress to a client that requested it. */
export function progressOf({ notify, progressToken }: CallRequest): ToolContext['progress'] {
  let last = 0;
  return (done, total, message) => {
    // Progress only ever grows.
    if (progressToken === undefined || !notify || done <= last) return;
    last = done;
    const known = total === null ? {} : { total };
    notify('notifications/progress', { progressToken, progress: done, message, ...known });
  };
}

/** Turns the data of a tool, or its failure, into a result. */
export function createToolCaller(run: ToolRunner): ToolCaller {
  return async (name, args, request) => {
    return orFailure(async () => {
      const known = tools.some((tool) => tool.name === name) ? name : 'unknown';
      const structured = await traceTool(known, () => run(name, args, request));
      // The text is the structured content word for word, so hosts that get both can see that and drop one.
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
    });
  };
}

/** A result, or the result that reports a `ToolError`. */
export async function orFailure(run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: [{ type: 'text', text: failureText(error.problem) }], isError: true };
  }
}

/** The arguments that are listed: with several accounts, which of them; where files can be written, whether to. */
function listedInput({ input }: Tool, { accounts, hasFiles }: Listing): z.ZodObject {
  const { to_file: toFile, ...own } = asZod(input).shape;
  const shape = hasFiles && toFile !== undefined ? { ...own, to_file: toFile } : own;
  if (accounts.length < 2) return z.object(shape);
  const account = z
    .array(z.string())
    .optional()
    .describe(`Of ${accounts.join(', ')}; default all`);
  return z.object({ ...shape, account });
}

/** What `tools/list` depends on. */
export interface Listing {
  /** Rows can be written to files. */
  readonly hasFiles: boolean;
  /** The accounts to choose from, when there are several. */
  readonly accounts: readonly string[];
  /** The definitions of further tools that the caller knows. */
  readonly more: readonly Record<string, unknown>[];
}

/** Handles `tools/list` and `tools/call`. */
export function toolHandlers(call: ToolCaller, listing: Listing): Readonly<Record<string, MethodHandler>> {
  let definitions: Record<string, unknown>[] | undefined;
  return {
    async 'tools/list'() {
      definitions ??= tools.map((tool) => ({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: toJsonSchema(listedInput(tool, listing), 'input'),
        // Which parts are always there helps no model, and costs as many tokens as a tool.
        outputSchema: { ...toJsonSchema(tool.output, 'output'), required: undefined },
        annotations: tool.annotations,
        ...(tool.meta === undefined ? {} : { _meta: tool.meta }),
      }));
      return { tools: [...definitions, ...listing.more] };
    },
    async 'tools/call'(params, context) {
      if (typeof params.name !== 'string') {
        throw new RpcError(rpcCodes.invalidParams, 'Invalid params: "name" must be the name of a tool.');
      }
      const result = await call(params.name, params.arguments, context);
      const { name } = params;
      if (![...tools, ...listing.more].some((tool) => tool.name === name))
        throw new RpcError(
          rpcCodes.invalidParams,
          result.content[0]?.text ?? 'There is no tool with this name.',
        );
      return result;
    },
  };
}
