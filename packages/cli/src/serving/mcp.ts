import { revealChoices } from '@call-attribution/core/fields';
import { type ServedAccount, type ServeOptions, serveAccounts } from '@call-attribution/mcp-server';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { Args, Handler } from '../args/command.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { accountsOfApi } from '../reading/accounts.ts';
import { clientsOf } from '../reading/connect.ts';
import { count } from '../term/numbers.ts';
import { stopped } from '../term/waiting.ts';

/** `calls mcp`: the MCP server on stdin and stdout, for your account or for a sandbox. */
export const mcp: Handler = async (args, io) => {
  const options = optionsOf(args);
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
  // An assistant may list the tools before the keys are set; each tool call then says what is missing.
  const accounts = named.map((account): ServedAccount => {
    const { name, settings } = account;
    return { name: name ?? 'main', client: () => clients.of(account).catch(withHints), settings };
  });
  try {
    return await speak(io, accounts, options);
  } finally {
    await clients.close();
  }
};

/** What is missing, and how it is set: an assistant sees only the message. */
function withHints(error: unknown): never {
  if (!(error instanceof CliError)) throw error;
  throw new CliError([error.message, ...error.hints].join('; '), { exitCode: error.exitCode, cause: error });
}

function optionsOf(args: Args): ServeOptions {
  const reveal = args.list('reveal').map((name) => {
    const kind = revealChoices.find((known) => known === name);
    if (!kind)
      throw new UsageError(`--reveal cannot be ${JSON.stringify(name)}`, {
        hints: [`use one of: ${revealChoices.join(', ')}`],
      });
    return kind;
  });
  return { reveal, memory: args.flag('memory') };
}

async function overSandbox(args: Args, io: Io, options: ServeOptions): Promise<number> {
  const records = args.integer('records') ?? sandboxDefaults.records;
  const seed = args.integer('seed', { max: 0xffffffff }) ?? 1;
  const { endOfSandbox, openOwnSandbox } = await import('./sandbox.ts');
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
  accounts: Parameters<typeof serveAccounts>[0],
  options: ServeOptions,
): Promise<number> {
  let over: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    over = resolve;
  });
  io.stdout.once('error', over);
  try {
    await serveAccounts(accounts, options, {
      env: io.env,
      input: io.stdin,
      write: (line) => void io.stdout.write(line, () => {}),
      log: (line) => say(io, line),
      stopped: stopped(io.signal, left),
    });
  } finally {
    over();
  }
  return exitCodes.ok;
}
