import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Client } from '@call-attribution/core';
import type { Environment } from '@call-attribution/core/settings';
import type { HttpOptions } from '../http/options.ts';
import { pseudonymKeyFrom } from '../privacy/mask.ts';
import { createServer } from '../server/create-server.ts';
import type { McpAccount } from '../server/lane.ts';
import type { CallsMcpOptions } from '../server/options.ts';
import { serveHttp, serveStdio } from '../server/serve.ts';
import type { Settings } from '../settings/index.ts';

/** An account with the settings that a program read for it. */
export interface ServedAccount {
  /** What agents call it. */
  readonly name: string;
  /** Its client, or a function when it may not be ready yet. */
  readonly client: McpAccount['client'];
  /** Where its version, time zone, id and key of pseudonyms come from. */
  readonly settings: Settings;
}

/** The parts of its process that a server uses. */
export interface ServeIo {
  /** Where the folder of the user is read. */
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

/** How a program serves. */
export interface ServeOptions extends CallsMcpOptions {
  /** Keeps the copies of calls in memory instead of in files. */
  readonly memory?: boolean;
  /** Serves over Streamable HTTP instead of stdin and stdout. */
  readonly http?: HttpOptions;
}

/**
 * Serves accounts until the client leaves or the process is asked to stop: what the program of this package and `calls mcp` do when
 * they have read their options.
 *
 * @example
 * await serveAccounts([{ name: 'main', client, settings }], { reveal: ['caller'] }, { env, write, log, stopped });
 */
export async function serveAccounts(
  accounts: readonly ServedAccount[] | Client,
  { http, memory = false, ...options }: ServeOptions,
  io: ServeIo,
): Promise<void> {
  const clients = isList(accounts) ? accounts.map(mcpAccount) : accounts;
  const folder = dataFolder(io.env);
  const server = createServer(clients, {
    log: io.log,
    ...(memory ? {} : { copyFolder: folder }),
    // A host on this machine can open files; one over HTTP may be anywhere.
    ...(http === undefined ? { exportFolder: join(folder, 'exports') } : {}),
    ...options,
  });
  try {
    if (http === undefined) {
      const { input, write, log } = io;
      const connection = serveStdio(server, { ...(input && { input }), write, log });
      await Promise.race([connection.closed, io.stopped]);
      connection.close();
    } else {
      const endpoint = await serveHttp(server, http);
      const isOpen = http.auth?.token === undefined && http.auth?.metadata === undefined;
      io.log(`Serving on ${endpoint.url}${isOpen ? ' without a token (this machine only)' : ''}.`);
      await io.stopped;
      await endpoint.close();
    }
  } finally {
    await server.close();
  }
}

const isList = (accounts: readonly ServedAccount[] | Client): accounts is readonly ServedAccount[] =>
  Array.isArray(accounts);

/** Where copies and files of rows are kept: a folder of the user. */
const dataFolder = (env: Environment): string =>
  join(env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local', 'share'), 'call-attribution');

function mcpAccount({ name, client, settings }: ServedAccount): McpAccount {
  const { apiVersion, timeZone } = settings;
  return {
    name,
    client,
    version: apiVersion.value,
    ...pseudonymKey(settings),
    ...(timeZone === null ? {} : { timeZone: timeZone.value }),
  };
}

/** Derives the key from the credentials, so that an account keeps its pseudonyms after a restart without a key of their own. */
function pseudonymKey(settings: Settings): { pseudonymKey?: string } {
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  return credential === null ? {} : { pseudonymKey: pseudonymKeyFrom(credential.value) };
}
