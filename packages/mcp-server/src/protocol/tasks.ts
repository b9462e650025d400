import { randomUUID } from 'node:crypto';
import type { MethodHandler, RequestContext, ServerDefinition } from './definition.ts';
import { isObject, RpcError, rpcCodes, toRpcFailure } from './messages.ts';

// Tasks of revision 2025-11-25: a host that asks for one gets its id at once, and comes back for the result of a long read.

const mostTasks = 100;
const longestMs = 60 * 60_000;
const usualMs = 10 * 60_000;
const pollMs = 1000;

/** Tools that may read for long. */
const longReads: ReadonlySet<unknown> = new Set([
  'analyze_calls',
  'list_calls',
  'describe_data',
  'count_calls',
]);

interface Task {
  readonly id: string;
  readonly createdAt: string;
  readonly ttl: number;
  readonly controller: AbortController;
  readonly settled: Promise<void>;
  status: 'working' | 'completed' | 'failed' | 'cancelled';
  statusMessage?: string;
  updatedAt: string;
  result?: Record<string, unknown>;
  error?: RpcError;
}

const shown = ({ id, status, statusMessage, createdAt, updatedAt, ttl }: Task): Record<string, unknown> => ({
  taskId: id,
  status,
  ...(statusMessage === undefined ? {} : { statusMessage }),
  createdAt,
  lastUpdatedAt: updatedAt,
  ttl,
  pollInterval: pollMs,
});

/** Adds tasks to a definition. They are known by an id that cannot be guessed, so there is no list of them. */
export function withTasks(definition: ServerDefinition): ServerDefinition {
  const tasks = new Map<string, Task>();
  const { handlers } = definition;
  const call = handlers['tools/call'];
  const list = handlers['tools/list'];
  if (!call || !list) return definition;

  const begin = (params: Readonly<Record<string, unknown>>, ttl: number, context: RequestContext): Task => {
    if (tasks.size >= mostTasks)
      throw new RpcError(
        rpcCodes.serverError,
        `Busy: there are ${mostTasks} tasks already. Call the tool without a task.`,
      );
    const controller = new AbortController();
    const at = new Date().toISOString();
    const { task: _, ...plain } = params;
    // Not with the signal of the request, which ends as soon as the id is sent.
    const work = Promise.resolve().then(() => call(plain, { ...context, signal: controller.signal }));
    const settle = (change: Partial<Task>): void => {
      if (task.status === 'working') Object.assign(task, change, { updatedAt: new Date().toISOString() });
    };
    const task: Task = {
      id: randomUUID(),
      createdAt: at,
      updatedAt: at,
      ttl,
      controller,
      status: 'working',
      settled: work.then(
        (result) => settle({ status: result.isError === true ? 'failed' : 'completed', result }),
        (error: unknown) => {
          const { code, message } = toRpcFailure(error, definition.onInternalError);
          settle({ status: 'failed', statusMessage: message, error: new RpcError(code, message) });
        },
      ),
    };
    tasks.set(task.id, task);
    setTimeout(() => {
      controller.abort();
      tasks.delete(task.id);
    }, ttl).unref();
    return task;
  };

  const find = ({ taskId }: Readonly<Record<string, unknown>>): Task => {
    const task = tasks.get(String(typeof taskId === 'string' ? taskId : ''));
    if (task) return task;
    throw new RpcError(rpcCodes.invalidParams, 'There is no task with this id; it may have expired.');
  };

  const added: Record<string, MethodHandler> = {
    async 'tools/list'(params, context) {
      const result = await list(params, context);
      const tools = (result.tools as Record<string, unknown>[]).map((tool) =>
        longReads.has(tool.name) ? { ...tool, execution: { taskSupport: 'optional' } } : tool,
      );
      return { ...result, tools };
    },
    async 'tools/call'(params, context) {
      if (!isObject(params.task) || !longReads.has(params.name)) return call(params, context);
      const ttl = typeof params.task.ttl === 'number' ? params.task.ttl : usualMs;
      return { task: shown(begin(params, Math.min(longestMs, Math.max(1000, ttl)), context)) };
    },
    async 'tasks/get'(params) {
      return shown(find(params));
    },
    async 'tasks/result'(params) {
      const task = find(params);
      await task.settled;
      if (task.error) throw task.error;
      const meta = { 'io.modelcontextprotocol/related-task': { taskId: task.id } };
      return {
        ...(task.result ?? {}),
        _meta: { ...(isObject(task.result?._meta) ? task.result._meta : {}), ...meta },
      };
    },
    async 'tasks/cancel'(params) {
      const task = find(params);
      if (task.status !== 'working')
        throw new RpcError(rpcCodes.invalidParams, `The task is ${task.status} already.`);
      task.status = 'cancelled';
      task.error = new RpcError(rpcCodes.invalidParams, 'The task was cancelled.');
      task.updatedAt = new Date().toISOString();
      task.controller.abort();
      return shown(task);
    },
  };
  return {
    ...definition,
    capabilities: { ...definition.capabilities, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
    handlers: { ...handlers, ...added },
  };
}
