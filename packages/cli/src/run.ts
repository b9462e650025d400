import type { CommandSpec } from './args/command.ts';
import { sharedOptions } from './args/options.ts';
import { type Named, named, routeOf } from './args/route.ts';
import { CliError, ClosedPipe, Interrupted } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { type Io, show, write } from './io.ts';
import { table } from './table/all.ts';
import { widthOf } from './term/style.ts';
import { version } from './version.ts';

/**
 * Runs `calls` with these arguments and resolves with the exit status. It never rejects: errors are reported on stderr.
 *
 * @example
 * const status = await run(['count', '--period', '2026-11-20'], io);
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (error instanceof ClosedPipe) return exitCodes.ok;
    // After Ctrl-C, any other error is a consequence of it.
    const shown = io.signal.aborted && !(error instanceof CliError) ? new Interrupted() : error;
    const { report } = await import('./failures/explain.ts');
    const options = commandOf(argv)?.options ?? [];
    const has = (option: string): boolean => options.some(({ name }) => name === option);
    const debug = argv.includes('--debug') || argv.includes('-v');
    return report(shown, io, { debug, has });
  }
}

function commandOf(argv: readonly string[]): CommandSpec | null {
  try {
    return routeOf(argv, table, sharedOptions).command;
  } catch {
    return null;
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-V' || first === 'version') {
    await write(io.stdout, `${version}\n`);
    return exitCodes.ok;
  }
  if (first === 'complete') {
    const { printCompletions } = await import('./completion/complete.ts');
    return printCompletions(rest, table, io);
  }
  if (first === 'help') return help(named(rest.filter((word) => !word.startsWith('-')).join(' '), table), io);
  const found = routeOf(argv, table, sharedOptions);
  const end = found.rest.indexOf('--');
  const plain = end < 0 ? found.rest : found.rest.slice(0, end);
  if (plain.includes('--help') || plain.includes('-h')) return help(found, io);
  if (found.command === null) {
    await help(found, io);
    return exitCodes.usage;
  }
  const { command } = found;
  const { parseArgs } = await import('./args/parse.ts');
  const args = parseArgs(found.rest, command, sharedOptions, table.commands);
  const handler = await command.load();
  const { withWaiting } = await import('./term/waiting.ts');
  return withWaiting(io, async () => {
    const output = command.printsRows ? args.text('output') : null;
    if (output === null || output === '-') return handler(args, io);
    const { intoFile } = await import('./output/file.ts');
    return intoFile(output, io, (io) => handler(args, io));
  });
}

async function help({ command, group }: Named, io: Io): Promise<number> {
  // Help is shown without what reads settings, and commands run without what writes help.
  const { commandHelp, groupHelp, programHelp } = await import('./args/help.ts');
  const width = widthOf(io.stdout, io.env);
  if (command !== null) await show(io, commandHelp(command, sharedOptions, width));
  else if (group !== null) await show(io, groupHelp(group, table, width));
  else await show(io, programHelp(table, version, width));
  return exitCodes.ok;
}
