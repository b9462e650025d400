import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { CallsError, type Client, ConfigurationError, createClient } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { revealChoices } from '@call-attribution/core/fields';
import { type Environment, readVariable } from '@call-attribution/core/settings';
import { describe } from '@call-attribution/node-stream/copies';
import { nearest } from '@call-attribution/query-dsl';
import {
  type DateOrder,
  readOutcomes,
  readSpend,
  type TableRow,
} from '@call-attribution/questions';
import { formatCounted } from '@call-attribution/questions/chart';
import {
  annotationsOf,
  connectionOf,
  type FileSection,
  missingSettings,
  type NamedFile,
  readAccounts,
  readSettings,
  reportsIn,
  type Settings,
} from '@call-attribution/settings';
import { type Configured, type FilesByName, nothingConfigured, readWords } from './configured.ts';
import type { HttpOptions } from './http.ts';
import { type McpChoices, mcpOptions } from './options.ts';
import { pseudonymKeyFrom, type Reveal } from './privacy/mask.ts';
import { redactError } from './privacy/text.ts';
import { createServer, type McpAccount, version } from './server.ts';
import { serveStdio } from './stdio.ts';
import { ToolError } from './text/failures.ts';

/** An account with the settings that a program read for it. */
export interface ServedAccount {
  /** What agents call it. */
  readonly name: string;
  /** Makes its client. */
  readonly client: () => Client | Promise<Client>;
  /** Where its version, time zone and key of pseudonyms come from. */
  readonly settings: Settings;
}

/** The parts of its process that a server uses. */
export interface ServeIo {
  /** Where the folder of the user and `CALLS_MCP_TOKEN` are read. */
  readonly env: Environment;
  /** Messages of the client. Default: stdin. */
  readonly input?: Readable;
  /** Writes to the real stdout, which is the wire. */
  write(text: string): void;
  /** Writes one line to the log. */
  log(line: string): void;
  /** Resolves when the process is asked to stop. */
  readonly stopped: Promise<unknown>;
}

/** The options of `call-attribution-mcp`: those of the server, and how accounts are chosen. */
const lines: Readonly<Record<string, string>> = {
  ...mcpOptions,
  '--account <names>': 'answer for accounts of the configuration file: main or main,berlin',
  '--all-accounts': 'answer for all of them',
  '--help': 'print this',
  '--version': 'print the version',
};

/** Runs `call-attribution-mcp` and resolves to its exit status. */
export async function run(argv: readonly string[], io: ServeIo): Promise<number> {
  const clients: Client[] = [];
  try {
    const values = optionsIn(argv);
    if (values.help === true || values.version === true) {
      io.write(values.help === true ? help() : `${version}\n`);
      return 0;
    }
    const { account, allAccounts, ...choices } = values;
    const names = allAccounts === true ? 'all' : (account as string[] | undefined);
    const settings =
      names === undefined ? [readSettings({ env: io.env })] : readAccounts(names, { env: io.env });
    const accounts = settings.map((own) => ({
      name: own.account?.name ?? 'main',
      settings: own,
      client: () => {
        const client = clientFrom(own);
        clients.push(client);
        return client;
      },
    }));
    return await serveProgram(accounts, choices, io);
  } catch (error) {
    const isUsage = error instanceof ConfigurationError && error.code === 'invalid_option';
    const message = error instanceof Error ? error.message : String(error);
    io.log(isUsage ? `${message}\nSee call-attribution-mcp --help.` : message);
    return isUsage ? 2 : 1;
  } finally {
    for (const client of clients) await client.close();
  }
}

/** What the command line says, by the names of `McpChoices`. */
function optionsIn(argv: readonly string[]): Record<string, unknown> {
  const options = Object.fromEntries(
    Object.keys(lines).map((line) => {
      const [, name = '', value] = /^--(\S+)(?: <(\w+)>)?$/.exec(line) ?? [];
      const type: 'boolean' | 'string' = value === undefined ? 'boolean' : 'string';
      return [name, { type, multiple: value === 'names' || value === 'kinds' }];
    }),
  );
  try {
    const { values } = parseArgs({
      args: argv.map((each) => (each === '-h' ? '--help' : each)),
      options,
    });
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
        Array.isArray(value)
          ? value.flatMap((text) =>
              String(text)
                .split(/\s*,\s*/)
                .filter(Boolean),
            )
          : value,
      ]),
    );
  } catch (error) {
    const { message } = error as TypeError;
    const unknown = /^Unknown option '-+([\w-]+)/.exec(message)?.[1];
    const meant = unknown === undefined ? undefined : nearest(unknown, Object.keys(options));
    // Node.js goes on about how such a text can be passed.
    throw wrong(
      `${message.split('. ')[0]}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`,
    );
  }
}

/** Milliseconds of silence after which the API is taken to be stuck. */
const stuckMs = 9500;

/** Makes the client. Throws an error that tells the agent which variable is missing. */
export function clientFrom(settings: Settings): Client {
  const problems = problemsOf(settings);
  const { baseUrl } = settings;
  if (problems.length > 0 || baseUrl === null)
    throw new ToolError('missing_settings', {
      what: 'The server is not set up yet',
      why: problems.join(' '),
      next: 'Tell the user to set these environment variables where this server is started, or to run calls init, and to restart it.',
      retry: 'Not before that.',
    });

  return createClient({
    ...connectionOf(settings),
    baseUrl: baseUrl.value,
    // Somebody waits for the answer: an API that is stuck is reported within ten seconds, a slow
    // one may go on.
    timeout: { connect: stuckMs, idle: stuckMs, attempt: 40_000, total: 40_000 },
    retry: { attempts: 3, afterSilence: false },
  });
}

/**
 * Serves accounts until the client leaves or the process is asked to stop: what the program of this
 * package and `calls mcp` do when they have read their options. Resolves to the exit status.
 *
 * @example
 * await serveProgram([{ name: 'main', client, settings }], { reveal: ['caller'] }, { env, write,
 * log, stopped });
 */
export async function serveProgram(
  accounts: readonly ServedAccount[] | Client,
  choices: McpChoices,
  io: ServeIo,
): Promise<number> {
  const reveal = (choices.reveal ?? []).map(revealed);
  const http =
    choices.http === undefined ? undefined : await httpOptionsOf(choices.http, choices, io.env);
  const served = isList(accounts) ? accounts : [];
  const configured = configuredIn(served, reveal);
  if (choices.check) return check(served, io);
  for (const { settings } of served) for (const problem of problemsOf(settings)) io.log(problem);
  const folder = join(
    io.env.XDG_DATA_HOME || join(io.env.HOME || homedir(), '.local', 'share'),
    'call-attribution',
  );
  const server = createServer(isList(accounts) ? accounts.map(mcpAccount) : accounts, {
    configured,
    log: io.log,
    reveal,
    copyFolder: choices.memory ? undefined : folder,
    // A host on this machine can open files; one over HTTP may be anywhere.
    exportFolder: http === undefined ? join(folder, 'exports') : undefined,
  });
  try {
    if (http === undefined) {
      const { input, write, log } = io;
      const connection = serveStdio(server, { ...(input && { input }), write, log });
      await Promise.race([connection.closed, io.stopped]);
      connection.close();
    } else {
      const endpoint = await (await import('./http.ts'))
        .serveHttp(server, http)
        .catch((error: unknown) => {
          if (propertyOf(propertyOf(error, 'cause'), 'code') !== 'EADDRINUSE') throw error;
          throw wrong(`--http: port ${http.port} is in use; choose another, or 0 for a free one.`);
        });
      const isOpen = http.auth?.token === undefined && http.auth?.metadata === undefined;
      io.log(`Serving on ${endpoint.url}${isOpen ? ' without a token (this machine only)' : ''}.`);
      await io.stopped;
      await endpoint.close();
    }
  } finally {
    await server.close();
  }

  return 0;
}

/** What the configuration file gives names to. A mistake in it is refused with the file. */
function configuredIn(served: readonly ServedAccount[], reveal: readonly Reveal[]): Configured {
  const file = served[0]?.settings.file ?? null;
  try {
    const configured: Configured = {
      ...nothingConfigured,
      ...(file !== null && { ...file, reports: reportsIn(file).all }),
      spend: filesIn('spend', served, (files) =>
        files.map(({ name, rows, option }) => readSpend({ name, rows }, option)),
      ),
      outcomes: filesIn('outcomes', served, (files, timeZone) => {
        const options = new Map(files.map(({ name, option }) => [name, option]));
        const dates = (name: string) => (options.get(name) ?? null) as DateOrder | null;
        return readOutcomes(files, { timeZone, dates }).all;
      }),
      annotations: (numbers) =>
        served[0] === undefined ? [] : annotationsOf(served[0].settings, numbers),
    };
    readWords(configured, new Set(reveal));
    return configured;
  } catch (error) {
    if (!CallsError.is(error)) throw error;
    const message = redactError(error);
    const path = file?.path ?? '';
    throw wrong(message.startsWith(path) ? message : `${path}: ${message}`);
  }
}

/** A file that was opened, under the name that the configuration has for it. */
interface OpenedFile extends NamedFile {
  readonly name: string;
  readonly rows: readonly TableRow[];
}

/** The files of a section of the configuration; `read` says what they have, of an account with its clock. */
function filesIn<T>(
  section: FileSection,
  served: readonly ServedAccount[],
  read: (files: readonly OpenedFile[], timeZone: string | null) => readonly T[],
): FilesByName<T> {
  return {
    names: [...new Set(served.flatMap(({ settings }) => [...settings[section].keys()]))],
    async read(names, accounts, how) {
      const own = served.filter((account) => accounts.includes(account.name));
      const files = new Map<string, NamedFile & Pick<OpenedFile, 'name'>>();
      for (const name of names)
        for (const { name: account, settings } of own) {
          const file = settings[section].get(name);
          if (file === undefined)
            throw wrong(
              `account ${account} has no ${section} called ${name}; ask about the others.`,
            );
          files.set(file.path, { ...file, option: how ?? file.option, name });
        }

      const { readTable } = await import('@call-attribution/settings/tables');
      const opened = await Promise.all(
        [...files.values()].map(async (file) => {
          return { ...file, rows: await readTable(file.path, file.name) };
        }),
      );
      return read(opened, own[0]?.settings.timeZone?.value ?? null);
    },
  };
}

const isList = (
  accounts: readonly ServedAccount[] | Client,
): accounts is readonly ServedAccount[] => Array.isArray(accounts);

const wrong = (message: string): ConfigurationError =>
  new ConfigurationError('invalid_option', message);

function revealed(text: string): Reveal {
  const name = text.trim().toLowerCase();
  const known = revealChoices.find((choice) => choice === name);
  if (known !== undefined) return known;
  const meant = nearest(name, revealChoices);
  throw wrong(
    `--reveal cannot be "${name}"; it takes ${revealChoices.join(', ')}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
  );
}

/** Where to listen, and who may connect. */
async function httpOptionsOf(
  address: string,
  choices: McpChoices,
  env: Environment,
): Promise<HttpOptions> {
  const [, host = '127.0.0.1', digits = ''] =
    /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(address.trim()) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535)
    throw wrong(`--http is HOST:PORT or a port, such as 127.0.0.1:3000, not "${address}".`);
  const { resource, authorizationServer: servers = [], allowHost = [], allowOrigin = [] } = choices;
  if ((resource === undefined) !== (servers.length === 0))
    throw wrong('--resource and --authorization-server must be used together.');
  const token = readVariable(env, 'CALLS_MCP_TOKEN');
  if (token === null && env.CALLS_MCP_TOKEN !== undefined)
    throw wrong(
      'CALLS_MCP_TOKEN is empty, so everybody could connect. Set a token, or unset the variable to serve this machine only.',
    );

  // A wrong name would only be seen when the first client is refused.
  await Promise.all(servers.map((await import('./auth.ts')).keysOf));
  const metadata =
    resource === undefined ? {} : { metadata: { resource, authorizationServers: servers } };
  const auth = { ...metadata, ...(token === null ? {} : { token }) };
  return {
    port,
    host: host.replace(/^\[|\]$/g, ''),
    allowedHosts: allowHost,
    allowedOrigins: allowOrigin,
    auth,
  };
}

/**
 * What is missing or wrong in the settings of an account: one sentence each, which names the
 * variable.
 */
export function problemsOf(settings: Settings): readonly string[] {
  // A setting that cannot be used is not missing.
  const missing = missingSettings(settings).filter(
    ({ of }) => !settings.problems.some((problem) => problem.of === of),
  );
  return [...settings.problems, ...missing].map(
    ({ message, hint }) => `${message}${hint === undefined ? '' : `; ${hint}`}.`,
  );
}

/**
 * The key comes from the credentials, so an account keeps its pseudonyms after a restart without a
 * key of their own.
 */
function mcpAccount({ name, client, settings }: ServedAccount): McpAccount {
  const { apiVersion, timeZone } = settings;
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  const pseudonymKey = credential ? pseudonymKeyFrom(credential.value) : undefined;
  return {
    name,
    id: settings.account?.id,
    client,
    version: apiVersion.value,
    timeZone: timeZone?.value,
    pseudonymKey,
  };
}

/** Tests the credentials with the smallest possible requests, and says what works. */
async function check(accounts: readonly ServedAccount[], io: ServeIo): Promise<number> {
  let isFine = true;

  const say = (ok: boolean, text: string): void => {
    io.write(`${ok ? 'ok    ' : 'FAILED'} ${text}\n`);
    isFine &&= ok;
  };

  const attempt = async (what: string, run: () => Promise<string>): Promise<void> => {
    try {
      say(true, `${what} works: ${await run()}.`);
    } catch (error) {
      if (!(error instanceof CallsError)) throw error;
      say(false, `${what} fails: ${error.message}`);
    }
  };

  for (const { name, client: open, settings } of accounts) {
    if (accounts.length > 1) io.write(`${name}\n`);
    const problems = problemsOf(settings);
    for (const problem of problems) say(false, problem);
    if (problems.length > 0) continue;
    const client = await open();
    await attempt('Listing calls', async () => {
      const { total, source } = await client.countCalls();
      const scope = describe(client).scope;
      const only = scope === null ? '' : `; the server has ${scope}`;
      return `the account has ${formatCounted(total, 'call')} (${source})${only}`;
    });
    if (settings.legacyBaseUrl === null)
      say(true, 'SMS numbers: not configured (CALLS_LEGACY_BASE_URL).');
    else
      await attempt('Listing SMS numbers', async () =>
        formatCounted((await client.listSmsNumbers()).length, 'number'),
      );
    const zone = settings.timeZone?.value;
    say(
      true,
      zone === undefined
        ? 'Time zone: not set (CALLS_TIME_ZONE). Results say that times have no time zone.'
        : `Time zone: results say that times are in ${zone}.`,
    );
  }

  return isFine ? 0 : 1;
}

const help =
  (): string => `call-attribution-mcp: call records for AI assistants, over the Model Context Protocol

Usage
  call-attribution-mcp                        serve on stdin and stdout, as hosts start it
  call-attribution-mcp --http 127.0.0.1:3000  serve on http://127.0.0.1:3000/mcp
  call-attribution-mcp --check                test the credentials and say what works
  calls mcp takes the same options.

Options
${Object.entries(lines)
  .map(([line, text]) => `  ${line.padEnd(32)} ${text}`)
  .join('\n')}

Environment
  CALLS_BASE_URL         URL of the API (required)
  CALLS_ACCESS_KEY       access key (v3)
  CALLS_SECRET_KEY       secret key (v3)
  CALLS_BEARER_TOKEN     token to use instead of the keys (required for v2)
  CALLS_..._FILE         file with one of the three above, such as CALLS_SECRET_KEY_FILE
  CALLS_CONFIG           configuration file (default: that of the user, such as ~/.config/call-attribution/calls.config.json)
  CALLS_API_VERSION      v2 or v3 (default v3)
  CALLS_LEGACY_BASE_URL  URL of the SMS number listing
  CALLS_TIME_ZONE        time zone of the account's times; shown to the assistant, no time is converted
  CALLS_TIMEOUT          how long a request may take, such as 3m (default 1m)
  CALLS_LOG              log requests to stderr: debug, info, warn or error; CALLS_LOG_FORMAT=json for JSON lines
  CALLS_MCP_TOKEN        bearer token that HTTP clients must send
`;
