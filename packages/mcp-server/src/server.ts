import { type Client, fields, redact, type Version } from '@call-attribution/core';
import { ToolError } from './arguments/tool-error.ts';
import { completionHandlers } from './completion/complete.ts';
import { createView } from './fields/view.ts';
import { instructions } from './instructions.ts';
import type { CallsMcpOptions } from './options.ts';
import type { Reveal } from './privacy/classes.ts';
import { createPseudonymizer } from './privacy/pseudonym.ts';
import { promptHandlers } from './prompts/index.ts';
import type { ServerDefinition } from './protocol/definition.ts';
import { resourceHandlers } from './resources/index.ts';
import {
  createToolCaller,
  createToolRunner,
  type ToolCaller,
  type ToolSettings,
  toolHandlers,
} from './tools/call.ts';
import { cleanText, cutText } from './untrusted/clean.ts';
import { version as packageVersion } from './version.ts';

/** The server as data: `serveStdio` and `serveHttp` put it on a wire, `callTool` calls it in process. */
export interface CallsMcpServer {
  readonly definition: ServerDefinition;
  /** Calls a tool by name. Failures come as a result with `isError`. */
  readonly call: ToolCaller;
}

const minimumBudget = 1000;

/**
 * Makes a server over a client. Give a function when the client may not be makeable yet: the server lists its tools
 * all the same, and an error thrown by the function is told in the answer to each call.
 */
export function createServer(
  client: Client | (() => Client | Promise<Client>),
  options: CallsMcpOptions = {},
): CallsMcpServer {
  const version: Version = options.version ?? (typeof client === 'function' ? 'v3' : client.version);
  const reveal = new Set<Reveal>(options.reveal);
  const settings: ToolSettings = {
    version,
    client: typeof client === 'function' ? once(client) : async () => client,
    fields,
    reveal,
    view: createView(fields, {
      reveal,
      pseudonymize: createPseudonymizer(options.pseudonymKey),
    }),
    budget: Math.max(minimumBudget, options.budget ?? 8000),
    summaryLimits: { rows: 20_000, ms: 20_000, ...options.summaryLimits },
    now: options.now ?? (() => performance.now()),
    ...(options.timeZone === undefined ? {} : { timeZone: options.timeZone }),
  };
  const log = options.log ?? (() => undefined);
  const run = createToolRunner(settings, options.callTimeoutMs ?? 45_000, log);
  const call = createToolCaller(run);
  const definition: ServerDefinition = {
    info: { name: 'call-attribution', title: 'Call attribution', version: packageVersion },
    instructions: instructions(version, options.timeZone),
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
    // What a record shows depends on the account and on what its operator reveals.
    privateResults: ['resources/read'],
    handlers: {
      ...toolHandlers(call),
      ...resourceHandlers(settings, run),
      ...promptHandlers(),
      ...completionHandlers(settings),
    },
    onInternalError: (error) =>
      log(`internal error: ${error instanceof Error ? error.stack : String(error)}`),
  };
  return { definition, call };
}

/** Makes the client with the first call, and again after a failure: a key may have been set since. */
function once(make: () => Client | Promise<Client>): () => Promise<Client> {
  let made: Promise<Client> | undefined;
  return () => {
    made ??= Promise.resolve()
      .then(make)
      .catch((error: unknown) => {
        made = undefined;
        throw error instanceof ToolError ? error : notMade(error);
      });
    return made;
  };
}

function notMade(error: unknown): ToolError {
  return new ToolError({
    what: 'The server is not set up yet',
    why: cutText(cleanText(redact(error instanceof Error ? error.message : String(error))), 400),
    next: 'Tell the user what is missing where this server is started.',
    retry: 'Not before that.',
  });
}
