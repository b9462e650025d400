import { toJsonSchema } from '../arguments/json-schema.ts';
import { nearest } from '../arguments/nearest.ts';
import { readArguments } from '../arguments/read.ts';
import { type Failure, failureText } from '../arguments/tool-error.ts';
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

/** Calls a tool by name. */
export type ToolCaller = (
  name: string,
  args: unknown,
  request?: Partial<Pick<RequestContext, 'signal' | 'notify' | 'progressToken'>>,
) => Promise<ToolResult>;

/** What all calls share. */
export type ToolSettings = Omit<ToolContext, 'signal' | 'progress'>;

/** Makes the one place where tools are run: arguments read, deadline set, errors put into words. */
export function createToolCaller(
  settings: ToolSettings,
  timeoutMs: number,
  log: (line: string) => void,
): ToolCaller {
  return async (name, args, request = {}) => {
    const tool = tools.find((each) => each.name === name);
    if (!tool) return failed(unknownTool(name));
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    try {
      const read = readArguments(tool.name, tool.input, args);
      const context: ToolContext = { ...settings, signal, progress: progressOf(request) };
      const structured = await tool.run(read, context);
      // The text is the structured content word for word: hosts that show both can tell and drop one.
      return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
    } catch (error) {
      const known = failureOf(tool.name, error, deadline.aborted, timeoutMs / 1000);
      if (known) return failed(known);
      if (!signal.aborted)
        log(`${tool.name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      return failed({
        what: `${tool.name} failed`,
        why: signal.aborted
          ? 'The call was cancelled.'
          : 'An unexpected error; the log of the server has it.',
        next: signal.aborted
          ? 'Call it again if the answer is still wanted.'
          : 'Tell the user to look at the server’s stderr.',
        retry: signal.aborted ? 'Yes.' : 'It may help once.',
      });
    }
  };
}

function failed(failure: Failure): ToolResult {
  return { content: [{ type: 'text', text: failureText(failure) }], isError: true };
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
