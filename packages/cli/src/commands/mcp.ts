import type { Client } from '@call-attribution/core';
import { revealChoices } from '@call-attribution/core/fields';
import {
  type CallsMcpOptions,
  createServer,
  defaultMirrorFile,
  type McpAccount,
  pseudonymKeyFrom,
  serveStdio,
} from '@call-attribution/mcp-server';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { Args, Handler } from '../args/command.ts';
import { readStoredSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { accountsOfApi } from '../reading/accounts.ts';
import { clientsOf } from '../reading/connect.ts';
import type { NamedAccount } from '../reading/each-account.ts';
import { chooseWarehouse } from '../stores/choose.ts';
import { count } from '../term/numbers.ts';
import { stopped } from '../term/waiting.ts';

/** `calls mcp`: the MCP server on stdin and stdout, for your account or for a sandbox. */
export const mcp: Handler = async (args, io) => {
  const options = optionsOf(args, io);
  if (args.flag('sandbox')) return overSandbox(args, io, options);
  for (const name of ['records', 'seed', 'to']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; add --sandbox`);
  }
  const clients = clientsOf(args, io);
  const named = accountsOfApi(args, io);
  for (const account of named) {
    await clients.of(account).catch((error: unknown) => {
      const of = named.length > 1 ? `account ${account.name ?? 'main'}: ` : '';
      const message = error instanceof Error ? error.message : 'the configuration is incomplete';
      say(io, `calls mcp: ${of}${message}; run calls doctor`);
    });
  }
  try {
    return await speak(
      io,
      named.map((account) => mcpAccount(account, clients.of)),
      options,
    );
  } finally {
    await clients.close();
  }
};

function optionsOf(args: Args, io: Io): CallsMcpOptions {
  const reveal = args.list('reveal').map((name) => {
    const kind = revealChoices.find((known) => known === name);
    if (!kind)
      throw new UsageError(`--reveal cannot be ${JSON.stringify(name)}`, {
        hints: [`use one of: ${revealChoices.join(', ')}`],
      });
    return kind;
  });
  if (args.flag('store') && !args.flag('mirror'))
    throw new UsageError('--store is for the local copy; add --mirror');
  if (args.flag('sandbox') && args.flag('mirror') && !args.flag('store'))
    throw new UsageError('a copy of generated calls needs a file of its own: --store duckdb:FILE');
  const log = (line: string): void => say(io, line);
  return args.flag('mirror') ? { reveal, log, mirror: { file: mirrorFile(args, io) } } : { reveal, log };
}

/** An account for the server. An assistant may list the tools before the keys are set; each tool call then says what is missing. */
function mcpAccount(account: NamedAccount, clientOf: (account: NamedAccount) => Promise<Client>): McpAccount {
  const { name, settings } = account;
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  return {
    name: name ?? 'main',
    client: () => clientOf(account),
    version: settings.apiVersion.value,
    ...(credential ? { pseudonymKey: pseudonymKeyFrom(credential.value) } : {}),
    ...(settings.timeZone ? { timeZone: settings.timeZone.value } : {}),
    ...(settings.account ? { id: settings.account.id } : {}),
  };
}

/** The file of the local copy: the one of --store, else the configured warehouse, else one in a folder of the user. */
function mirrorFile(args: Args, io: Io): string {
  return chooseWarehouse(args, readStoredSettings(null, args, io), io)?.path ?? defaultMirrorFile(io.env);
}

async function overSandbox(args: Args, io: Io, options: CallsMcpOptions): Promise<number> {
  const records = args.integer('records') ?? sandboxDefaults.records;
  const seed = args.integer('seed', { max: 0xffffffff }) ?? 1;
  const { endOfSandbox, openOwnSandbox } = await import('../serving/sandbox.ts');
  const sandbox = await openOwnSandbox({ records, seed, ...endOfSandbox(args, io) }, io);
  say(io, `calls mcp: ${count(records)} generated calls, not real ones`);
  try {
    return await speak(io, sandbox.client, options);
  } finally {
    await sandbox.close();
  }
}

async function speak(
  io: Io,
  client: Client | readonly McpAccount[],
  options: CallsMcpOptions,
): Promise<number> {
  const server = createServer(client, options);
  const connection = serveStdio(server, {
    input: io.stdin,
    write: (line) => void io.stdout.write(line, () => {}),
    log: (line) => say(io, line),
  });
  io.stdout.once('error', () => connection.close());
  await stopped(io.signal, connection.closed);
  connection.close();
  await server.close();
  return exitCodes.ok;
}
