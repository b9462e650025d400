import { CallsError } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl';
import { toJsonSchema } from '../arguments/json-schema.ts';
import { readArguments } from '../arguments/read.ts';
import type { MethodHandler, RequestContext } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/messages.ts';
import { failureText, ToolError } from '../text/failures.ts';
import { tools } from './index.ts';
import type { Tool, ToolContext } from './tool.ts';

/** The result of a tool call. */
export interface ToolResult extends Record<string, unknown> {
  /** What models read: the structured content as JSON, or the failure in four lines. */
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  /** The same as data, valid against the tool's output schema. Present on success only. */
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  /** The call failed. */
  readonly isError?: true;
}

/** What a call may bring along from the request that made it. */
type CallRequest = Partial<Pick<RequestContext, 'signal' | 'notify' | 'progressToken'>>;

/** Calls a tool by name. */
export type ToolCaller = (name: string, args: unknown, request?: CallRequest) => Promise<ToolResult>;

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
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    try {
      const read = readArguments(tool.name, tool.input, args);
      return await tool.run(read, { ...settings, signal, progress: progressOf(request) });
    } catch (error) {
      if (error instanceof ToolError) throw error;
      if (deadline.aborted) throw new ToolError({ code: 'timed_out', tool: name, seconds: timeoutMs / 1000 });
      if (error instanceof CallsError) throw new ToolError({ code: 'api_error', tool: name, error });
      if (signal.aborted) throw new ToolError({ code: 'cancelled', tool: name });
      log(`${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      throw new ToolError({ code: 'unexpected', tool: name });
    }
  };
}

function toolNamed(name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool) return tool;
  const names = tools.map((each) => each.name);
  throw new ToolError({ code: 'unknown_tool', name, nearest: nearest(name, names), tools: names });
}

function progressOf({ notify, progressToken }: CallRequest): ToolContext['progress'] {
  return (done, total, message) => {
    if (progressToken === undefined || !notify) return;
    const known = total === null ? {} : { total };
    notify('notifications/progress', { progressToken, progress: done, message, ...known });
  };
}

/** Turns the data of a tool, or its failure, into a result. */
export function createToolCaller(run: ToolRunner): ToolCaller {
  return async (name, args, request) => {
    try {
      const structured = await run(name, args, request);
      // The text is the structured content word for word, so hosts that get both can see that and drop one.
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { content: [{ type: 'text', text: failureText(error.problem) }], isError: true };
    }
  };
}

/** Handles `tools/list` and `tools/call`. */
export function toolHandlers(call: ToolCaller): Readonly<Record<string, MethodHandler>> {
  let definitions: Record<string, unknown>[] | undefined;
  return {
    async 'tools/list'() {
      definitions ??= tools.map((tool) => ({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: toJsonSchema(tool.input, 'input'),
        outputSchema: toJsonSchema(tool.output, 'output'),
        annotations: tool.annotations,
      }));
      return { tools: definitions };
    },
    async 'tools/call'(params, context) {
      if (typeof params.name !== 'string') {
        throw new RpcError(rpcCodes.invalidParams, 'Invalid params: "name" must be the name of a tool.');
      }
      return call(params.name, params.arguments, context);
    },
  };
}
