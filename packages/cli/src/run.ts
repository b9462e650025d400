import { nearest } from '@call-attribution/query-dsl/nearest';
import { commandHelp, programHelp } from './args/help.ts';
import { sharedOptions } from './args/options.ts';
import { parseArgs } from './args/parse.ts';
import { CliError, ClosedPipe, Interrupted, UsageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { type Io, show, write } from './io.ts';
import { commands } from './table/all.ts';
import { widthOf } from './term/style.ts';
import { withWaiting } from './term/waiting.ts';
import { version } from './version.ts';

/**
 * Runs `calls` with these arguments and resolves with the exit status. It never rejects: errors are reported on stderr.
 *
 * @example
 * const status = await run(['count', '--on', '2026-11-20'], io);
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    if (error instanceof ClosedPipe) return exitCodes.ok;
    // After Ctrl-C, any other error is a consequence of it.
    const shown = io.signal.aborted && !(error instanceof CliError) ? new Interrupted() : error;
    const { report } = await import('./failure.ts');
    const command = commands.find(({ name }) => name === argv[0]);
    const has = (option: string): boolean => command?.options.some(({ name }) => name === option) ?? false;
    return report(shown, io, { debug: argv.includes('--debug'), noColor: argv.includes('--no-color'), has });
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  const width = widthOf(io.stdout, io.env);
  if (first === '--version' || first === '-V' || first === 'version') {
    await write(io.stdout, `${version}\n`);
    return exitCodes.ok;
  }
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    const topic = first === 'help' ? commands.find(({ name }) => name === rest[0]) : undefined;
    await show(io, topic ? commandHelp(topic, sharedOptions, width) : programHelp(commands, version, width));
    return first === undefined ? exitCodes.usage : exitCodes.ok;
  }
  const command = commands.find(({ name }) => name === first);
  if (!command) throw noSuchCommand(first);
  const plain = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (plain.includes('--help') || plain.includes('-h')) {
    await show(io, commandHelp(command, sharedOptions, width));
    return exitCodes.ok;
  }
  const args = parseArgs(rest, command, sharedOptions, commands);
  const handler = await command.load();
  return withWaiting(io, async () => {
    const output = command.printsRows ? args.text('output') : null;
    if (output === null || output === '-') return handler(args, io, commands);
    const { intoFile } = await import('./export/output.ts');
    return intoFile(output, io, (io) => handler(args, io, commands));
  });
}

function noSuchCommand(typed: string): UsageError {
  if (typed.startsWith('-')) {
    return new UsageError(`calls needs a command before ${typed}`, {
      hints: ['calls --help lists the commands'],
    });
  }
  const near = nearest(
    typed,
    commands.map(({ name }) => name),
  );
  return new UsageError(`calls has no command ${JSON.stringify(typed)}`, {
    hints: [...(near ? [`did you mean calls ${near}?`] : []), 'calls --help lists the commands'],
  });
}
