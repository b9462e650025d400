import { nearest } from '@call-attribution/query-dsl';
import { toJsonSchema } from '../arguments/json-schema.ts';
import { readArguments } from '../arguments/read.ts';
import { type Failure, failureText, ToolError } from '../arguments/tool-error.ts';
import type { MethodHandler, RequestContext } from '../protocol/definition.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { failureOf } from '../results/error-result.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';
import { tools } from './index.ts';
import type { ToolContext } from './tool.ts';

/** The result of a tool call. */
export interface ToolResult extends Record<string, unknown> {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  /** Present on success only, and always valid against the tool's output schema. */
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** What a call may bring along from the request that asked for it. */
type CallRequest = Partial<Pick<RequestContext, 'signal' | 'notify' | 'progressToken'>>;

/** Calls a tool by name. */
export type ToolCaller = (name: string, args: unknown, request?: CallRequest) => Promise<ToolResult>;

/** Calls a tool by name and gives its data; every failure is thrown as a `ToolError`. */
export type ToolRunner = (
  name: string,
  args: unknown,
  request?: CallRequest,
) => Promise<Record<string, unknown>>;

/** What all calls share. */
export type ToolSettings = Omit<ToolContext, 'signal' | 'progress'>;

/** Makes the one place where tools are run: arguments read, deadline set, errors put into words. */
export function createToolRunner(
  settings: ToolSettings,
  timeoutMs: number,
  log: (line: string) => void,
): ToolRunner {
  return async (name, args, request = {}) => {
    const tool = tools.find((each) => each.name === name);
    if (!tool) throw new ToolError(unknownTool(name));
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    try {
      const read = readArguments(tool.name, tool.input, args);
      return await tool.run(read, { ...settings, signal, progress: progressOf(request) });
    } catch (error) {
      const known = failureOf(tool.name, error, deadline.aborted, timeoutMs / 1000);
      if (known) throw new ToolError(known);
      if (!signal.aborted)
        log(`${tool.name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      throw new ToolError(signal.aborted ? cancelled(tool.name) : unexpected(tool.name));
    }
  };
}

/** Turns what a tool gives, or how it fails, into a result. */
export function createToolCaller(run: ToolRunner): ToolCaller {
  return async (name, args, request) => {
    try {
      const structured = await run(name, args, request);
      // The text is the structured content word for word: hosts that show both can tell and drop one.
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { content: [{ type: 'text', text: failureText(error.failure) }], isError: true };
    }
  };
}

function cancelled(tool: string): Failure {
  return {
    what: `${tool} failed`,
    why: 'The call was cancelled.',
    next: 'Call it again if the answer is still wanted.',
    retry: 'Yes.',
  };
}

function unexpected(tool: string): Failure {
  return {
    what: `${tool} failed`,
    why: 'An unexpected error; the log of the server has it.',
    next: 'Tell the user to look at the server’s stderr.',
    retry: 'It may help once.',
  };
}

function unknownTool(name: string): Failure {
  const names = tools.map((tool) => tool.name);
  const meant = nearest(name, names);
  return {
    what: `There is no tool "${cutText(cleanText(name), 60)}"`,
    why: meant === undefined ? 'No tool has a name like it.' : `Did you mean ${meant}?`,
    next: `The tools are ${names.join(', ')}.`,
    retry: 'Only under another name.',
  };
}

function progressOf({ notify, progressToken }: Partial<RequestContext>): ToolContext['progress'] {
  return (done, total, message) => {
    if (progressToken === undefined || !notify) return;
    const known = total === null ? {} : { total };
    notify('notifications/progress', { progressToken, progress: done, message, ...known });
  };
}

/** Answers `tools/list` and `tools/call`. */
export function toolHandlers(call: ToolCaller): Readonly<Record<string, MethodHandler>> {
  let listed: Record<string, unknown>[] | undefined;
  return {
    async 'tools/list'() {
      listed ??= tools.map((tool) => ({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: toJsonSchema(tool.input, 'input'),
        outputSchema: toJsonSchema(tool.output, 'output'),
        annotations: tool.annotations,
      }));
      return { tools: listed };
    },
    async 'tools/call'(params, context) {
      if (typeof params.name !== 'string') {
        throw new RpcError(rpcCodes.invalidParams, 'Invalid params: "name" must be the name of a tool.');
      }
      return call(params.name, params.arguments, context);
    },
  };
}
