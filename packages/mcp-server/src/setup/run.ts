import type { Client } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { readVariable } from '@call-attribution/core/settings';
import { keysOf } from '../http/oauth.ts';
import type { HttpOptions } from '../http/options.ts';
import { version } from '../server/create-server.ts';
import { type CommandLine, readCommandLine, UsageError } from './arguments.ts';
import { help } from './help.ts';
import { type ServeIo, serveAccounts } from './serve-accounts.ts';
import {
  type ApiSettings,
  checkSetup,
  clientFrom,
  readAccountSettings,
  readApiSettings,
} from './settings.ts';

/** Runs the program and resolves to its exit code. */
export async function run(argv: readonly string[], io: ServeIo): Promise<number> {
  try {
    const line = readCommandLine(argv);
    if (line.action === 'help') return say(io, help);
    if (line.action === 'version') return say(io, `${version}\n`);
    const accounts =
      line.accounts === undefined ? [readApiSettings(io.env)] : readAccountSettings(line.accounts, io.env);
    if (line.action === 'check') return await check(accounts, io);
    for (const { problems } of accounts) for (const problem of problems) io.log(problem);
    return await serve(line, accounts, io);
  } catch (error) {
    if (error instanceof UsageError) {
      io.log(`${error.message}\nSee call-attribution-mcp --help.`);
      return 2;
    }
    io.log(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function say(io: ServeIo, text: string): number {
  io.write(text);
  return 0;
}

async function check(accounts: readonly ApiSettings[], io: ServeIo): Promise<number> {
  let isFine = true;
  for (const api of accounts) {
    const { account } = api.settings;
    if (account !== null && accounts.length > 1) io.write(`${account.name}\n`);
    for (const { ok, text } of await checkSetup(api)) {
      io.write(`${ok ? 'ok    ' : 'FAILED'} ${text}\n`);
      isFine &&= ok;
    }
  }
  return isFine ? 0 : 1;
}

async function serve(line: CommandLine, accounts: readonly ApiSettings[], io: ServeIo): Promise<number> {
  const http = line.http ? await httpOptionsOf(line, io) : undefined;
  const clients = new Map<ApiSettings, Client>();
  const clientOf = (api: ApiSettings): Client => {
    const client = clients.get(api) ?? clientFrom(api);
    clients.set(api, client);
    return client;
  };
  const options = {
    reveal: line.reveal,
    memory: line.memory,
    ...(line.budget === undefined ? {} : { budget: line.budget }),
    ...(http === undefined ? {} : { http }),
  };
  const served = accounts.map((api) => ({
    name: api.settings.account?.name ?? 'main',
    client: () => clientOf(api),
    settings: api.settings,
  }));
  await serveAccounts(served, options, io).catch((error: unknown) => {
    if (propertyOf(propertyOf(error, 'cause'), 'code') !== 'EADDRINUSE') throw error;
    throw new UsageError(`Port ${line.port} is in use: choose another with --port, or 0 for a free one.`);
  });
  for (const client of clients.values()) await client.close();
  return 0;
}

/** Where to listen, and who may connect. */
async function httpOptionsOf(line: CommandLine, io: ServeIo): Promise<HttpOptions> {
  const { port, host, path, allowedHosts, allowedOrigins, resource, authorizationServers } = line;
  const token = readVariable(io.env, 'CALLS_MCP_TOKEN');
  if (token === null && io.env.CALLS_MCP_TOKEN !== undefined)
    throw new UsageError(
      'CALLS_MCP_TOKEN is empty, so everybody could connect. Set a token, or unset the variable to serve this machine only.',
    );
  // A wrong name would only be seen when the first client is refused.
  if (resource !== undefined) await Promise.all(authorizationServers.map(keysOf));
  const metadata = resource === undefined ? {} : { metadata: { resource, authorizationServers } };
  const auth = { ...metadata, ...(token === null ? {} : { token }) };
  return { port, host, path, allowedHosts, allowedOrigins, auth };
}
