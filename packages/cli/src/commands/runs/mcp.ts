import { Readable } from 'node:stream';
import { type McpChoices, type ServedAccount, serveProgram } from '@call-attribution/mcp-server';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { Args } from '../../args.ts';
import { CliError, UsageError } from '../../errors.ts';
import { type Io, say } from '../../io.ts';
import { count } from '../../terminal/numbers.ts';
import { progressLine, stopped } from '../../terminal/waiting.ts';
import { accountsOfApi, keptClients, openNamed } from '../typed/accounts.ts';

/** `calls mcp`: the MCP server, for your account or for a sandbox. */
export async function mcp(
  isSandbox: boolean,
  choices: McpChoices,
  args: Args,
  io: Io,
): Promise<number> {
  if (isSandbox) return overSandbox(choices, args, io);
  for (const name of ['records', 'seed', 'to']) {
    if (args.flag(name)) throw new UsageError(`--${name} is for the sandbox; add --sandbox`);
  }

  const clients = keptClients();

  // An assistant may list the tools before the keys are set; each tool call then says what is
  // missing, and nobody is asked at a terminal.
  const unattended = { ...io, stdin: Readable.from([]) };
  const accounts = accountsOfApi(args, io).map((account): ServedAccount => {
    const client = () => clients.of(account, () => openNamed(account, unattended)).catch(withHints);
    return { name: account.name ?? 'main', client, settings: account.settings };
  });
  try {
    return await speak(io, accounts, choices);
  } finally {
    await clients.close();
  }
}

/** What is missing, and how it is set: an assistant sees only the message. */
function withHints(error: unknown): never {
  if (!(error instanceof CliError)) throw error;
  throw new CliError([error.message, ...error.hints].join('; '), {
    exitCode: error.exitCode,
    cause: error,
  });
}

async function overSandbox(choices: McpChoices, args: Args, io: Io): Promise<number> {
  const records = args.integer('records') ?? sandboxDefaults.records;
  const seed = args.integer('seed') ?? 1;
  const { endOfSandbox, openOwnSandbox } = await import('../../serving/sandbox.ts');
  const sandbox = await openOwnSandbox(
    { records, seed, ...endOfSandbox(args.text('to'), io.clock) },
    progressLine(io, 'generated calls'),
    io.signal,
  );
  say(io, `calls mcp: ${count(records)} generated calls, not real ones`);
  try {
    // Generated calls need no copy that stays.
    return await speak(io, sandbox.client, { ...choices, memory: true });
  } finally {
    await sandbox.close();
  }
}

async function speak(
  io: Io,
  accounts: Parameters<typeof serveProgram>[0],
  choices: McpChoices,
): Promise<number> {
  let over: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    over = resolve;
  });
  io.stdout.once('error', over);
  try {
    return await serveProgram(accounts, choices, {
      env: io.env,
      input: io.stdin,
      write: (line) => void io.stdout.write(line, () => {}),
      log: (line) => say(io, line),
      stopped: stopped(io.signal, left),
    });
  } finally {
    over();
  }
}
