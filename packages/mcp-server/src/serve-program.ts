import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CallsError, type Client, ConfigurationError } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { revealChoices } from '@call-attribution/core/fields';
import { type Environment, readVariable } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl';
import { keysOf } from './auth.ts';
import { type HttpOptions, serveHttp } from './http.ts';
import type { McpChoices } from './options.ts';
import { pseudonymKeyFrom, type Reveal } from './privacy/mask.ts';
import { createServer, type McpAccount } from './server.ts';
import { missingSettings, type Settings } from './settings/index.ts';
import { serveStdio } from './stdio.ts';
import { counted } from './text/notes.ts';

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

/**
 * Serves accounts until the client leaves or the process is asked to stop: what the program of this package and `calls mcp` do when
 * they have read their options. Resolves to the exit status.
 *
 * @example
 * await serveProgram([{ name: 'main', client, settings }], { reveal: ['caller'] }, { env, write, log, stopped });
 */
export async function serveProgram(
  accounts: readonly ServedAccount[] | Client,
  choices: McpChoices,
  io: ServeIo,
): Promise<number> {
  const reveal = (choices.reveal ?? []).map(revealed);
  const http = choices.http === undefined ? undefined : await httpOptionsOf(choices.http, choices, io.env);
  if (choices.check) return check(isList(accounts) ? accounts : [], io);
  if (isList(accounts))
    for (const { settings } of accounts) for (const problem of problemsOf(settings)) io.log(problem);
  const folder = join(
    io.env.XDG_DATA_HOME || join(io.env.HOME || homedir(), '.local', 'share'),
    'call-attribution',
  );
  const server = createServer(isList(accounts) ? accounts.map(mcpAccount) : accounts, {
    ...{ log: io.log, reveal },
    ...(choices.memory ? {} : { copyFolder: folder }),
    // A host on this machine can open files; one over HTTP may be anywhere.
    ...(http === undefined ? { exportFolder: join(folder, 'exports') } : {}),
  });
  try {
    if (http === undefined) {
      const { input, write, log } = io;
      const connection = serveStdio(server, { ...(input && { input }), write, log });
      await Promise.race([connection.closed, io.stopped]);
      connection.close();
    } else {
      const endpoint = await serveHttp(server, http).catch((error: unknown) => {
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

const isList = (accounts: readonly ServedAccount[] | Client): accounts is readonly ServedAccount[] =>
  Array.isArray(accounts);

const wrong = (message: string): ConfigurationError => new ConfigurationError('invalid_option', message);

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
async function httpOptionsOf(address: string, choices: McpChoices, env: Environment): Promise<HttpOptions> {
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
  await Promise.all(servers.map(keysOf));
  const metadata = resource === undefined ? {} : { metadata: { resource, authorizationServers: servers } };
  const auth = { ...metadata, ...(token === null ? {} : { token }) };
  return {
    port,
    host: host.replace(/^\[|\]$/g, ''),
    allowedHosts: allowHost,
    allowedOrigins: allowOrigin,
    auth,
  };
}

/** What is missing or wrong in the settings of an account: one sentence each, which names the variable. */
export function problemsOf(settings: Settings): readonly string[] {
  // A setting that cannot be used is not missing.
  const missing = missingSettings(settings).filter(
    ({ of }) => !settings.problems.some((problem) => problem.of === of),
  );
  return [...settings.problems, ...missing].map(
    ({ message, hint }) => `${message}${hint === undefined ? '' : `; ${hint}`}.`,
  );
}

/** The key comes from the credentials, so an account keeps its pseudonyms after a restart without a key of their own. */
function mcpAccount({ name, client, settings }: ServedAccount): McpAccount {
  const { apiVersion, timeZone } = settings;
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  return {
    ...{ name, client, version: apiVersion.value },
    ...(credential === null ? {} : { pseudonymKey: pseudonymKeyFrom(credential.value) }),
    ...(timeZone === null ? {} : { timeZone: timeZone.value }),
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
      return `the account has ${counted(total, 'call', 'calls')} (${source})`;
    });
    if (settings.legacyBaseUrl === null) say(true, 'SMS numbers: not configured (CALLS_LEGACY_BASE_URL).');
    else
      await attempt('Listing SMS numbers', async () =>
        counted((await client.listSmsNumbers()).length, 'number', 'numbers'),
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
