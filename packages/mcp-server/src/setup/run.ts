import type { Client } from '@call-attribution/core';
import { type Environment, readVariable } from '@call-attribution/core/settings';
import type { HttpOptions } from '../http/options.ts';
import { defaultMirrorFile } from '../mirror/file.ts';
import { pseudonymKeyFrom } from '../privacy/masking.ts';
import { type CallsMcpServer, createServer, version } from '../server/create-server.ts';
import type { McpAccount } from '../server/lane.ts';
import { serveHttp, serveStdio } from '../server/serve.ts';
import { type CommandLine, readCommandLine, UsageError } from './arguments.ts';
import { help } from './help.ts';
import { printConfig } from './print-config.ts';
import {
  type ApiSettings,
  checkSetup,
  clientFrom,
  readAccountSettings,
  readApiSettings,
} from './settings.ts';

/** The parts of its process that the program uses. */
export interface ProcessIo {
  readonly env: Environment;
  /** Writes to the real stdout: the wire on stdio, plain output otherwise. */
  write(text: string): void;
  log(line: string): void;
  /** Resolves when the process is asked to stop. */
  readonly stopped: Promise<unknown>;
}

/** Runs the program and resolves to its exit code. */
export async function run(argv: readonly string[], io: ProcessIo): Promise<number> {
  try {
    const line = readCommandLine(argv);
    if (line.action === 'help') return say(io, help);
    if (line.action === 'version') return say(io, `${version}\n`);
    if (line.action === 'print-config') {
      const { where, text } = printConfig(line.configFor);
      io.log(where);
      return say(io, text);
    }
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

function say(io: ProcessIo, text: string): number {
  io.write(text);
  return 0;
}

async function check(accounts: readonly ApiSettings[], io: ProcessIo): Promise<number> {
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

async function serve(line: CommandLine, accounts: readonly ApiSettings[], io: ProcessIo): Promise<number> {
  const clients = new Map<ApiSettings, Client>();
  const served = accounts.map((api): McpAccount => {
    const { apiVersion, timeZone, account } = api.settings;
    return {
      name: account?.name ?? 'main',
      client() {
        const client = clients.get(api) ?? clientFrom(api);
        clients.set(api, client);
        return client;
      },
      version: apiVersion.value,
      ...pseudonymKey(api, io.env),
      ...(account === null ? {} : { id: account.id }),
      ...(timeZone === null ? {} : { timeZone: timeZone.value }),
    };
  });
  const server = createServer(served, {
    reveal: line.reveal,
    log: io.log,
    ...(line.mirror === undefined ? {} : { mirror: { file: line.mirror || defaultMirrorFile(io.env) } }),
    ...(line.budget === undefined ? {} : { budget: line.budget }),
  });
  if (line.http) await overHttp(server, line, io);
  else {
    const connection = serveStdio(server, { write: io.write, log: io.log });
    await Promise.race([connection.closed, io.stopped]);
    connection.close();
  }
  await server.close();
  for (const client of clients.values()) await client.close();
  return 0;
}

async function overHttp(server: CallsMcpServer, line: CommandLine, io: ProcessIo): Promise<void> {
  const token = readVariable(io.env, 'CALLS_MCP_TOKEN');
  const metadata =
    line.resource === undefined
      ? {}
      : { metadata: { resource: line.resource, authorizationServers: line.authorizationServers } };
  const options: HttpOptions = {
    port: line.port,
    host: line.host,
    path: line.path,
    sessions: line.sessions,
    allowedHosts: line.allowedHosts,
    allowedOrigins: line.allowedOrigins,
    auth: { ...metadata, ...(token === null ? {} : { token }) },
  };
  const endpoint = await serveHttp(server, options).catch((error: unknown) => {
    const isInUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isInUse) throw error;
    throw new UsageError(`Port ${line.port} is in use: choose another with --port, or 0 for a free one.`);
  });
  io.log(`Serving on ${endpoint.url}${token === null ? ' without a token (this machine only)' : ''}.`);
  await io.stopped;
  await endpoint.close();
}

/** Derives the key from the credentials, so that an account keeps its masks after a restart without another variable. */
function pseudonymKey({ settings }: ApiSettings, env: Environment): { pseudonymKey?: string } {
  const key = readVariable(env, 'CALLS_MCP_PSEUDONYM_KEY');
  if (key !== null) return { pseudonymKey: key };
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  return credential === null ? {} : { pseudonymKey: pseudonymKeyFrom(credential.value) };
}
