import type { Client } from '@call-attribution/core';
import { revealChoices } from '@call-attribution/core/fields';
import {
  type CallsMcpOptions,
  createServer,
  pseudonymKeyFrom,
  serveStdio,
} from '@call-attribution/mcp-server';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { Args, Handler } from '../args/command.ts';
import { openClient } from '../calls/connect.ts';
import { stopped } from '../calls/until-stopped.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { count } from '../term/numbers.ts';

/** `calls mcp`: the MCP server on stdin and stdout, for your account or for a sandbox. */
export const mcp: Handler = async (args, io) => {
  const reveal = args.list('reveal').map((name) => {
    const kind = revealChoices.find((known) => known === name);
    if (!kind)
      throw new UsageError(`--reveal cannot be ${JSON.stringify(name)}`, {
        hints: [`use one of: ${revealChoices.join(', ')}`],
      });
    return kind;
  });
  const options: CallsMcpOptions = { reveal, log: (line) => say(io, line) };
  if (args.flag('sandbox')) return overSandbox(args, io, options);
  for (const name of ['records', 'seed']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; add --sandbox`);
  }
  const settings = readSettings(args, io);
  let client: Client | null = null;
  // An assistant may list the tools before the keys are set. Each tool call then says what is missing.
  const open = async (): Promise<Client> => {
    client ??= await openClient(settings, args, io, { ask: false });
    return client;
  };
  await open().catch((error: unknown) => {
    say(
      io,
      `calls mcp: ${error instanceof Error ? error.message : 'the configuration is incomplete'}; run calls check`,
    );
  });
  const version = settings.apiVersion.value;
  const timeZone = settings.timeZone?.value;
  const credential = settings.secret('secretKey') ?? settings.secret('bearerToken');
  const key = credential ? { pseudonymKey: pseudonymKeyFrom(credential.value) } : {};
  try {
    return await speak(io, open, {
      ...options,
      ...key,
      version,
      ...(timeZone === undefined ? {} : { timeZone }),
    });
  } finally {
    await (client as Client | null)?.close();
  }
};

async function overSandbox(args: Args, io: Io, options: CallsMcpOptions): Promise<number> {
  const records = args.integer('records') ?? sandboxDefaults.records;
  const { openOwnSandbox } = await import('../calls/own-sandbox.ts');
  const sandbox = await openOwnSandbox({ records, seed: args.integer('seed', { max: 0xffffffff }) ?? 1 });
  say(io, `calls mcp: ${count(records)} made-up calls, not real ones`);
  try {
    return await speak(io, sandbox.client, options);
  } finally {
    await sandbox.close();
  }
}

async function speak(
  io: Io,
  client: Client | (() => Promise<Client>),
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
  return exitCodes.ok;
}
