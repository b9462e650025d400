import { randomUUID } from 'node:crypto';
import type { MethodHandler, RequestContext, ServerDefinition } from './definition.ts';
import { isObject, RpcError, rpcCodes, toRpcError } from './messages.ts';

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

type Params = Readonly<Record<string, unknown>>;

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

/** Adds tasks to a definition. */
export function withTasks(definition: ServerDefinition): ServerDefinition {
  const { handlers, capabilities } = definition;
  const call = handlers['tools/call'];
  const list = handlers['tools/list'];
  if (!call || !list) return definition;
  const tasks = new Tasks(call, definition.onInternalError);
  const added: Record<string, MethodHandler> = {
    async 'tools/list'(params, context) {
      const result = await list(params, context);
      const tools = Array.isArray(result.tools) ? result.tools.filter(isObject) : [];
      return {
        ...result,
        tools: tools.map((tool) =>
          longReads.has(tool.name) ? { ...tool, execution: { taskSupport: 'optional' } } : tool,
        ),
      };
    },
    async 'tools/call'(params, context) {
      if (!isObject(params.task) || !longReads.has(params.name)) return call(params, context);
      const ttl = typeof params.task.ttl === 'number' ? params.task.ttl : usualMs;
      return { task: shown(tasks.begin(params, Math.min(longestMs, Math.max(1000, ttl)), context)) };
    },
    'tasks/get': async (params) => shown(tasks.find(params)),
    'tasks/result': (params) => tasks.result(params),
    'tasks/cancel': async (params) => shown(tasks.cancel(params)),
  };
  return {
    ...definition,
    capabilities: { ...capabilities, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
    handlers: { ...handlers, ...added },
  };
}

/** The tasks of an endpoint. They are known by an id that cannot be guessed, so there is no list of them. */
class Tasks {
  readonly #tasks = new Map<string, Task>();
  readonly #call: MethodHandler;
  readonly #onInternalError: ServerDefinition['onInternalError'];

  constructor(call: MethodHandler, onInternalError: ServerDefinition['onInternalError']) {
    this.#call = call;
    this.#onInternalError = onInternalError;
  }

  begin(params: Params, ttl: number, context: RequestContext): Task {
    this.#makeRoom();
    const controller = new AbortController();
    const at = new Date().toISOString();
    const { task: _, ...plain } = params;
    // Not with the signal of the request, which ends as soon as the id is sent.
    const work = Promise.resolve().then(() => this.#call(plain, { ...context, signal: controller.signal }));
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
          const failure = toRpcError(error, this.#onInternalError);
          settle({ status: 'failed', statusMessage: failure.message, error: failure });
        },
      ),
    };
    this.#tasks.set(task.id, task);
    setTimeout(() => {
      controller.abort();
      this.#tasks.delete(task.id);
    }, ttl).unref();
    return task;
  }

  /** Of those that have ended, the oldest makes room for another. */
  #makeRoom(): void {
    if (this.#tasks.size < mostTasks) return;
    const ended = [...this.#tasks.values()].find(({ status }) => status !== 'working');
    if (ended === undefined)
      throw new RpcError(
        rpcCodes.serverError,
        `Busy: there are ${mostTasks} tasks already. Call the tool without a task.`,
      );
    this.#tasks.delete(ended.id);
  }

  find({ taskId }: Params): Task {
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId) : undefined;
    if (task) return task;
    throw new RpcError(rpcCodes.invalidParams, 'There is no task with this id; it may have expired.');
  }

  async result(params: Params): Promise<Record<string, unknown>> {
    const task = this.find(params);
    await task.settled;
    const { id, error, result = {} } = task;
    if (error) throw error;
    const meta = { 'io.modelcontextprotocol/related-task': { taskId: id } };
    return { ...result, _meta: { ...(isObject(result._meta) ? result._meta : {}), ...meta } };
  }

  cancel(params: Params): Task {
    const task = this.find(params);
    if (task.status !== 'working')
      throw new RpcError(rpcCodes.invalidParams, `The task is ${task.status} already.`);
    task.status = 'cancelled';
    task.error = new RpcError(rpcCodes.invalidParams, 'The task was cancelled.');
    task.updatedAt = new Date().toISOString();
    task.controller.abort();
    return task;
  }
}
