import { type Client, fields, redact, type Version } from '@call-attribution/core';
import { createPseudonymizer } from '@call-attribution/core/privacy';
import { createView } from '../fields/view.ts';
import type { Reveal } from '../privacy/masking.ts';

import { completionHandlers, promptHandlers } from '../prompts/handlers.ts';
import type { ServerDefinition } from '../protocol/definition.ts';
import { resourceHandlers } from '../resources/handlers.ts';
import { ToolError } from '../text/failures.ts';
import { instructions } from '../text/notes.ts';
import {
  createToolCaller,
  createToolRunner,
  type ToolCaller,
  type ToolSettings,
  toolHandlers,
} from '../tools/call.ts';

/** Version of this package; a test compares it with the manifest. */
export const version = '0.1.0';

/** How `createServer` shows calls, and its limits. */
export interface CallsMcpOptions {
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  readonly version?: Version;
  /** Most tokens that one result may take, by estimate. Default 8,000; at least 1,000. */
  readonly budget?: number;
  /** Kinds of personal data to show as they are. Default: none. */
  readonly reveal?: readonly Reveal[];
  /** Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a random key. */
  readonly pseudonymKey?: string | Uint8Array;
  /** Time zone of the account's times, as the operator knows it. Agents see it; no time is converted. */
  readonly timeZone?: string;
  /** How much `summarize_calls` reads at most. Default 20,000 calls (`rows`) or 20 seconds (`ms`). */
  readonly summaryLimits?: { readonly rows?: number; readonly ms?: number };
  /** Milliseconds after which a tool call is aborted. Default 45,000, since most hosts give up after 60 seconds. */
  readonly callTimeoutMs?: number;
  /** Returns the current time in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  /** Gets unexpected errors, one line each, never with a secret or personal data. Default: nothing is logged. */
  readonly log?: (line: string) => void;
}

/** A server as data: `serveStdio` and `serveHttp` connect it to clients, `callTool` calls it in this process. */
export interface CallsMcpServer {
  /** Its name, capabilities and the handler of each method. */
  readonly definition: ServerDefinition;
  /** Calls a tool by name. A failure is a result with `isError`. */
  readonly call: ToolCaller;
}

const minimumBudget = 1000;

/**
 * Makes a server over a client. Pass a function when the client may not be ready yet: the server lists its tools all
 * the same, and an error thrown by the function is reported in the result of each call.
 *
 * @example
 * const server = createServer(client, { reveal: ['caller'], timeZone: 'America/New_York' });
 * serveStdio(server);
 */
export function createServer(
  client: Client | (() => Client | Promise<Client>),
  options: CallsMcpOptions = {},
): CallsMcpServer {
  const apiVersion: Version = options.version ?? (typeof client === 'function' ? 'v3' : client.version);
  const reveal = new Set<Reveal>(options.reveal);
  const settings: ToolSettings = {
    version: apiVersion,
    client: typeof client === 'function' ? once(client) : async () => client,
    fields,
    reveal,
    view: createView(fields, { reveal, pseudonymize: createPseudonymizer(options.pseudonymKey) }),
    budget: Math.max(minimumBudget, options.budget ?? 8000),
    summaryLimits: { rows: 20_000, ms: 20_000, ...options.summaryLimits },
    now: options.now ?? (() => performance.now()),
    ...(options.timeZone === undefined ? {} : { timeZone: options.timeZone }),
  };
  const log = options.log ?? (() => undefined);
  const run = createToolRunner(settings, options.callTimeoutMs ?? 45_000, log);
  const call = createToolCaller(run);
  const definition: ServerDefinition = {
    info: { name: 'call-attribution', title: 'Call attribution', version },
    instructions: instructions(apiVersion, options.timeZone),
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
        if (error instanceof ToolError) throw error;
        const reason = redact(error instanceof Error ? error.message : String(error));
        throw new ToolError({ code: 'no_client', reason });
      });
    return made;
  };
}
