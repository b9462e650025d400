import {
  type Call,
  type Client,
  type Clock,
  ConfigurationError,
  fields,
  systemClock,
  type Version,
} from '@call-attribution/core';
import { checkNames } from '@call-attribution/core/options';
import { accountNameWords, isAccountName } from '@call-attribution/core/settings';
import { type Duration, deadlineMillis, naiveAt } from '@call-attribution/core/time';
import type { StatusSource } from '@call-attribution/node-stream/status';
import { machineZone } from '@call-attribution/questions';
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { appResource } from './app/app.ts';
import { conditionsResource } from './conditions-document.ts';
import { type Configured, nothingConfigured, readWords, type Words } from './configured.ts';
import { Copy } from './copy/copy.ts';
import { type AskedAccount, NotLoaded, Source } from './copy/source.ts';
import { createTurns } from './copy/turns.ts';
import { showRecord } from './fields.ts';
import { createMask, type Reveal } from './privacy/mask.ts';
import { redactError } from './privacy/text.ts';
import { noClient, ToolError, unknownName } from './text/failures.ts';
import { instructions } from './text/words.ts';
import { analyzeCalls } from './tools/analyze-calls.ts';
import { noExcludeShape } from './tools/arguments.ts';
import {
  type Callable,
  createCaller,
  type ToolCaller,
  type ToolResult,
  unknownTool,
} from './tools/call.ts';
import { type CustomTool, customTool } from './tools/custom-tool.ts';
import { tools } from './tools/list.ts';
import { reportShape, withReport } from './tools/named-report.ts';
import { maskOutcomes, outcomesShape } from './tools/outcomes.ts';
import { saveCsv } from './tools/save-csv.ts';
import { type JsonSchema, type Tool, type ToolContext, toJsonSchema } from './tools/tool.ts';

/** Version of this package; a test compares it with the manifest. */
export const version = '0.1.0';

/** An account that a server answers for. */
export interface McpAccount {
  /** What agents call it: letters, digits, dots, dashes and underscores. */
  readonly name: string;
  /** Its ID, by which agents may call it as well. Default: the one in its calls, in conditions. */
  readonly id?: string | undefined;
  /** Its client, or a function when it may not be ready yet. No other account uses it. */
  readonly client: Client | (() => Client | Promise<Client>);
  /**
   * Version of the API; needed only when `client` is a function. Default: the client's own, else
   * `v3`.
   */
  readonly version?: Version | undefined;
  /** Time zone of its times. */
  readonly timeZone?: string | undefined;
  /** Key of its pseudonyms. Default: that of the server. */
  readonly pseudonymKey?: string | Uint8Array | undefined;
}

/** How `createServer` shows calls, and its limits. */
export interface CallsMcpOptions {
  /**
   * Version of the API; needed only when `client` is a function. Default: the client's own, else
   * `v3`.
   */
  readonly version?: 'v2' | 'v3' | undefined;
  /** Most tokens that one result may take, by estimate. Default 8,000; at least 1,000. */
  readonly budget?: number | undefined;
  /** Kinds of personal data to show as they are. Default: none. */
  readonly reveal?: readonly Reveal[] | undefined;
  /**
   * Key of the pseudonyms. The same key gives the same ones, also after a restart. Default: a
   * random key.
   */
  readonly pseudonymKey?: string | Uint8Array | undefined;
  /**
   * Time zone of the account's times, as the operator knows it. Agents see it; no time is
   * converted.
   */
  readonly timeZone?: string | undefined;
  /**
   * A folder of this user for the copies of calls that questions are asked of, masked, readable by
   * this user alone. It needs `pseudonymKey`. Servers that are given the same folder, key, address
   * and name of the account share a copy. Default: they are kept in memory.
   */
  readonly copyFolder?: string | undefined;
  /**
   * A folder for files of rows, for a host on the same machine: there is the tool `save_csv` then.
   * Default: none.
   */
  readonly exportFolder?: string | undefined;
  /**
   * Conditions, reports, rules and files that have names, which calls do not count, and
   * annotations. Default: none.
   */
  readonly configured?: Partial<Configured> | undefined;
  /** Tools of your own, listed after those of this package. Default: none. */
  readonly tools?: readonly CustomTool[] | undefined;
  /**
   * Time after which a tool call is aborted. Default `45s`, since most hosts give up after 60
   * seconds.
   */
  readonly callTimeout?: Duration | undefined;
  /**
   * The clock. Default: that of the machine. One with a `timer` also times how long a question
   * waits for its calls.
   */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /**
   * Gets unexpected errors, one line each, never with a secret or personal data. Default: nothing
   * is logged.
   */
  readonly log?: ((line: string) => void) | undefined;
}

const optionNames =
  'version budget reveal pseudonymKey timeZone copyFolder exportFolder configured tools callTimeout clock log'.split(
    ' ',
  );

/**
 * A server: `serveStdio` and `serveHttp` connect it to clients, `callTool` calls it in this
 * process.
 */
export interface CallsMcpServer {
  /** Calls a tool by name. A failure is a result with `isError`. */
  readonly call: ToolCaller;
  /** Makes an `McpServer` of `@modelcontextprotocol/server` for one connection or request. */
  readonly connect: (of: { readonly era: 'legacy' | 'modern' }) => object;
  /** Health and metrics, which the HTTP endpoint serves. */
  readonly status: StatusSource;
  /** Gets unexpected errors. */
  readonly log: (line: string) => void;
  /** Stops the reading of calls and closes the copies. */
  close(): Promise<void>;
}

/** What tools may use, whatever call they run for. */
type SharedContext = Omit<ToolContext, 'signal' | 'progress' | 'folder'>;

/**
 * Makes a server over a client. Pass a function when the client may not be ready yet: the server
 * lists its tools all the same, and an error thrown by the function is reported in the result of
 * each call. Pass a list of accounts, each with a client of its own, to answer for several: their
 * names become an argument and a column.
 *
 * @example
 * const server = createServer(client, { reveal: ['caller'], timeZone: 'America/New_York' });
 * serveStdio(server);
 */
export function createServer(
  client: Client | (() => Client | Promise<Client>) | readonly McpAccount[],
  options: CallsMcpOptions = {},
): CallsMcpServer {
  checkNames(options, optionNames);
  const { clock = systemClock, log = () => undefined, exportFolder, tools: added = [] } = options;
  const reveal = new Set(options.reveal);
  const configured = { ...nothingConfigured, ...options.configured };
  const words = readWords(configured, reveal);
  const budget = Math.max(1000, options.budget ?? 8000);
  const timeoutMs = deadlineMillis(options.callTimeout ?? '45s', 'callTimeout');
  const opened = accountsOf(client, options).map((account) =>
    openAccount(account, options, reveal, words, clock),
  );

  const inTurn = createTurns();

  const contextOf = (chosen: readonly AskedAccount[]): SharedContext => {
    const [{ version: spoken, client: open, timeZone, mask }] = chosen as readonly [
      AskedAccount,
      ...AskedAccount[],
    ];
    const called = chosen.map((account) => account.name);
    return {
      version: spoken,
      client: open,
      reveal,
      clock,
      budget,
      words,
      spend: {
        names: configured.spend.names,
        read: (names, how) => configured.spend.read(names, called, how),
      },
      outcomes: {
        names: configured.outcomes.names,
        read: async (names, how) =>
          maskOutcomes(await configured.outcomes.read(names, called, how), mask),
      },
      annotations: ({ from, to }) =>
        configured.annotations({
          from,
          to,
          accounts: chosen.flatMap(({ name, id }) => (id === undefined ? [name] : [name, id])),
        }),
      fields,
      timeZone,
      source: new Source(chosen, clock.now, inTurn),
      view: (call, specs, limit) => showRecord(mask(call as unknown as Call), specs, limit),
      now: () => naiveAt(clock.now(), timeZone ?? machineZone()),
    };
  };

  const context = contextOf(opened);

  const callable: Callable[] = tools.map((tool) => ownTool(tool, opened, contextOf));
  if (exportFolder !== undefined) callable.push(saveCsv(callable, exportFolder));
  const { version: spoken, client: open, view, timeZone } = context;
  for (const tool of added) {
    const isTaken = callable.some(({ name }) => name === tool.name);
    callable.push(
      customTool(tool, isTaken, { version: spoken, client: open, fields, view, timeZone }),
    );
  }

  const { call, metrics } = createCaller(callable, timeoutMs, log);
  const names = opened.length > 1 ? opened.map(({ name }) => name) : [];
  const said = instructions(spoken, timeZone, names, tools, {
    ...words,
    spend: configured.spend.names,
    outcomes: configured.outcomes.names,
  });

  return {
    call,
    connect: () => protocolOf(callable, call, said),
    status: {
      async ready() {
        try {
          for (const each of opened) await each.client();
        } catch {
          // The reason may name files and variables of the operator, and anybody may read this.
          return 'the credentials are missing or cannot be used';
        }
        return null;
      },
      metrics,
    },
    log,
    async close() {
      await Promise.all(opened.map(({ copy }) => copy.close()));
    },
  };
}

/**
 * The SDK speaks the protocol; it gets the tools, the resources and the one thing that calls
 * tools.
 */
function protocolOf(callable: readonly Callable[], call: ToolCaller, said: string): McpServer {
  const mcp = new McpServer(
    { name: 'call-attribution', title: 'Call attribution', version },
    {
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      instructions: said,
      cacheHints: { 'server/discover': kept, 'tools/list': kept, 'resources/list': kept },
    },
  );

  const run = async (
    name: string,
    args: unknown,
    { mcpReq }: ServerContext,
  ): Promise<ToolResult> => {
    const progressToken = mcpReq._meta?.progressToken;
    return call(name, args, {
      signal: mcpReq.signal,
      progress(done, total, message) {
        if (progressToken === undefined) return;
        const params = {
          progressToken,
          progress: done,
          message,
          ...(total === null ? {} : { total }),
        };

        // A client that disconnects between two notifications must not fail the call.
        mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
      },
    });
  };

  for (const { name, definition } of callable) {
    const { inputSchema, outputSchema, ...rest } = definition;
    const schemas = {
      inputSchema: unchecked(inputSchema),
      ...(outputSchema === undefined ? {} : { outputSchema: unchecked(outputSchema) }),
    };
    mcp.registerTool(
      name,
      { ...rest, ...schemas } as object,
      (args: unknown, of: ServerContext) => run(name, args, of) as never,
    );
  }

  // The SDK does not say which tool was meant.
  mcp.server.setRequestHandler('tools/call', { params: z.looseObject({}) }, async (params, of) => {
    const name = String(params.name);
    const result = await run(name, params.arguments, of);
    if (callable.some((tool) => tool.name === name)) return result;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name, callable).text);
  });

  for (const { uri, name, text, ...listed } of [conditionsResource, appResource])
    mcp.registerResource(name, uri, listed, async () => ({
      contents: [{ uri, mimeType: listed.mimeType, text: await text() }],
    }));

  return mcp;
}

/**
 * Calls a tool in this process, without a protocol. A failure is a result with `isError`; the
 * promise does not reject.
 *
 * @example
 * const { structuredContent } = await callTool(server, 'count_calls', { from: '2026-10-01', to:
 * '2026-10-31' });
 */
export function callTool(
  server: CallsMcpServer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<ToolResult> {
  return server.call(name, args, options);
}

/**
 * How long clients may keep the definitions, which only change with a new version of this package.
 */
const kept = { ttlMs: 300_000, cacheScope: 'public' as const };

/**
 * A schema that refuses nothing: the arguments are read where tools are called, which says what is
 * wrong and what is right.
 */
const unchecked = (json: JsonSchema) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'call-attribution',
    validate: (value: unknown) => ({ value }),
    jsonSchema: { input: () => ({ ...json }), output: () => ({ ...json }) },
  },
});

/**
 * The accounts that a server answers for: one whose name is empty, or those of a list, each with a
 * name of its own.
 */
function accountsOf(
  client: Client | (() => Client | Promise<Client>) | readonly McpAccount[],
  { version: spoken, timeZone }: CallsMcpOptions,
): readonly McpAccount[] {
  if (!isList(client)) return [{ name: '', client, version: spoken, timeZone }];
  if (client.length === 0)
    throw new ConfigurationError('invalid_option', 'createServer needs at least one account.');
  const wrong = client.find(
    ({ name }, i) => !isAccountName(name) || client.findIndex((each) => each.name === name) !== i,
  );
  if (wrong === undefined) return client;
  throw new ConfigurationError(
    'invalid_option',
    `createServer cannot use the account name ${JSON.stringify(wrong.name)}; use different names of ${accountNameWords}.`,
  );
}

const isList = (client: unknown): client is readonly McpAccount[] => Array.isArray(client);

function openAccount(
  account: McpAccount,
  options: CallsMcpOptions,
  reveal: ReadonlySet<Reveal>,
  words: Words,
  clock: Pick<Clock, 'now'>,
): AskedAccount {
  const { client, timeZone, name, id } = account;
  const spoken = account.version ?? (typeof client === 'function' ? 'v3' : client.version);
  let made: Promise<Client> | undefined;

  // Made with the first call, and again after a failure: a key may have been set since.
  const open = (): Promise<Client> => {
    made ??= Promise.resolve()
      .then(() => (typeof client === 'function' ? client() : client))
      .catch((error: unknown) => {
        made = undefined;
        if (error instanceof ToolError) throw error;
        throw noClient(redactError(error));
      });
    return made;
  };

  const key = account.pseudonymKey ?? options.pseudonymKey;
  const folder = options.copyFolder;
  const mask = createMask(fields, reveal, key);
  const copy = new Copy({
    account: name === '' ? 'main' : name,
    client: open,
    version: spoken,
    release: version,
    clock,
    mask: words.masking(mask),
    judged: words.judged,
    reveal: [...reveal],
    // Without a key of its own, nothing that is kept could be used by another process.
    place: folder === undefined || key === undefined ? null : { folder, key },
  });
  return { name, id, version: spoken, client: open, mask, copy, timeZone };
}

/**
 * Makes a tool of this package callable. With several accounts it takes `account`, and asks those
 * that a call names.
 */
function ownTool(
  tool: Tool,
  opened: readonly AskedAccount[],
  contextOf: (opened: readonly AskedAccount[]) => SharedContext,
): Callable {
  const { title, description, output, meta } = tool;
  const { shape } = tool.input as z.ZodObject;
  const names = opened.map(({ name }) => name);
  const account = z.array(z.string()).describe(`Of ${names.join(', ')}; default all`);
  const all = contextOf(opened);
  const input = z.object({
    ...shape,
    ...(all.words.exclude === undefined || !('calls' in shape)
      ? {}
      : noExcludeShape(all.words.exclude)),
    ...(tool === analyzeCalls && all.words.reports.size > 0 ? reportShape(all.words) : {}),
    ...(tool === analyzeCalls && all.outcomes.names.length > 0
      ? outcomesShape(all.outcomes.names)
      : {}),
    ...(opened.length > 1 ? { account: account.optional() } : {}),
  });
  return {
    name: tool.name,
    definition: {
      title,
      description,
      inputSchema: toJsonSchema(input, 'input'),
      outputSchema: toJsonSchema(output, 'output'),
      // It reads texts that anybody on the web may have written.
      annotations: { readOnlyHint: true, openWorldHint: true },
      _meta: meta,
    },
    input,
    isCustom: false,
    async run(asked, run) {
      const full = withReport(asked, all.words);
      const { account: given = [], no_exclude: isOfAll, ...args } = full;
      const wanted = (given as readonly string[]).filter((each) => each !== 'all');
      const chosen = [...new Set(wanted.map((each) => accountNamed(each, opened)))];
      const isSome = chosen.length > 0 && chosen.length < opened.length;
      try {
        const shared = isSome ? contextOf(chosen) : all;
        const words = isOfAll === true ? { ...all.words, exclude: undefined } : all.words;
        const data = await tool.run(args, { ...shared, words, ...run });
        if (!isSome) return data;
        return {
          ...data,
          summary: `${chosen.map(({ name }) => name).join(', ')}: ${String(data.summary)}`,
        };
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        return { summary: error.message, complete: false, notes: [] };
      }
    },
  };
}

function accountNamed(name: string, opened: readonly AskedAccount[]): AskedAccount {
  const found =
    opened.find((each) => each.name === name || each.id === name) ??
    opened.find((each) => each.name.toLowerCase() === name.trim().toLowerCase());
  if (found) return found;
  throw unknownName(
    'There is no account',
    name,
    opened.map((each) => each.name),
  );
}
