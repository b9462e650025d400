import type { Client } from '@call-attribution/core';
import type { ServerDefinition } from '../protocol/definition.ts';
import { resourceHandlers } from '../resources/handlers.ts';
import { instructions } from '../text/notes.ts';
import { checkAccounts, createAccountRunner } from '../tools/accounts.ts';
import { createToolCaller, createToolRunner, inSteps, type ToolCaller, toolHandlers } from '../tools/call.ts';
import { addTools } from '../tools/custom.ts';
import { tools } from '../tools/index.ts';
import { createLane, type LaneAccount, type McpAccount } from './lane.ts';
import { type CallsMcpOptions, serverSettings } from './options.ts';
import { settingsOf } from './settings.ts';
import { meterTools, serverStatus } from './status.ts';

/** Version of this package; a test compares it with the manifest. */
export const version = '0.1.0';

/** A server as data: `serveStdio` and `serveHttp` connect it to clients, `callTool` calls it in this process. */
export interface CallsMcpServer {
  /** Its name, capabilities and the handler of each method. */
  readonly definition: ServerDefinition;
  /** Calls a tool by name. A failure is a result with `isError`. */
  readonly call: ToolCaller;
  /** Stops the reading of calls and closes the copies. */
  close(): Promise<void>;
}

const minimumBudget = 1000;

/**
 * Makes a server over a client. Pass a function when the client may not be ready yet: the server lists its tools all
 * the same, and an error thrown by the function is reported in the result of each call. Pass a list of accounts, each with
 * a client of its own, to answer for several: their names become an argument and a column.
 *
 * @example
 * const server = createServer(client, { reveal: ['caller'], timeZone: 'America/New_York' });
 * serveStdio(server);
 */
export function createServer(
  client: Client | (() => Client | Promise<Client>) | readonly McpAccount[],
  options: CallsMcpOptions = {},
): CallsMcpServer {
  const { reveal, pseudonymKey, copyFolder, clock, log, tools: added, ...most } = serverSettings(options);
  const { callTimeout: timeoutMs } = most;
  const given = accountsOf(client, options);
  const names = given.map(({ name = '' }) => name);
  const shared = { reveal: new Set(reveal), pseudonymKey, copyFolder, clock };
  const lanes = given.map((account) => createLane(account, shared));
  const common = {
    ...{ reveal: shared.reveal, clock, exportFolder: most.exportFolder ?? null },
    budget: Math.max(minimumBudget, most.budget),
  };
  const settings = settingsOf(common, lanes);

  const run = createAccountRunner(lanes, (chosen) =>
    createToolRunner(settingsOf(common, chosen), timeoutMs, log),
  );
  const custom = addTools(added, settings, { timeoutMs, log });
  const meter = meterTools([...tools, ...added].map(({ name }) => name));
  const call = inSteps([meter.step, custom.step], createToolCaller(run));

  const accounts = names.length > 1 ? names : [];
  const clients = lanes.map((lane) => lane.client);
  const definition: ServerDefinition = {
    info: { name: 'call-attribution', title: 'Call attribution', version },
    instructions: instructions({ ...settings, accounts }),
    capabilities: { tools: {}, resources: {} },
    // What a record shows depends on the account and on what its operator reveals.
    privateResults: ['resources/read'],
    handlers: {
      ...toolHandlers(call, {
        accounts,
        more: custom.definitions,
        hasFiles: most.exportFolder !== undefined,
      }),
      ...resourceHandlers(settings, run),
    },
    status: serverStatus(clients, meter),
    onInternalError: (error) =>
      log(`internal error: ${error instanceof Error ? error.stack : String(error)}`),
  };
  const close = async (): Promise<void> => {
    await Promise.all(lanes.map(({ copy }) => copy.close()));
  };
  return { definition, call, close };
}

type ServerClient = Client | (() => Client | Promise<Client>) | readonly McpAccount[];

/** The accounts that a server answers for: one without a name, or those of a list. */
function accountsOf(client: ServerClient, { version, timeZone }: CallsMcpOptions): readonly LaneAccount[] {
  if (isList(client)) return checkAccounts(client);
  return [{ client, ...(version && { version }), ...(timeZone && { timeZone }) }];
}

const isList = (client: ServerClient): client is readonly McpAccount[] => Array.isArray(client);
