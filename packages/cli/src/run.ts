import { CliError, ClosedPipe, exitCodes, Interrupted } from './errors.ts';
import { type Io, show, write } from './io.ts';
import type { ChosenCommand } from './program.ts';
import { widthOf } from './terminal/style.ts';

/**
 * Runs `calls` with these arguments and resolves with the exit status. It never rejects: errors are
 * reported on stderr.
 *
 * @example
 * const status = await run(['count', '--period', '2026-11-20'], io);
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let has = (_name: string): boolean => false;
  try {
    const asked = await ask(argv, io);
    if (typeof asked === 'number') return asked;
    has = asked.args.has;
    const { withWaiting } = await import('./terminal/waiting.ts');
    return await withWaiting(io, () => asked.command.run(asked.args, io));
  } catch (error) {
    if (error instanceof ClosedPipe) return exitCodes.ok;
    // After Ctrl-C, any other error is a consequence of it.
    const shown = io.signal.aborted && !(error instanceof CliError) ? new Interrupted() : error;
    const { report } = await import('./failures.ts');
    return report(shown, io, { debug: argv.includes('--debug') || argv.includes('-v'), has });
  }
}

/** The command that was typed; the exit status where something was shown instead. */
async function ask(argv: readonly string[], io: Io): Promise<ChosenCommand | number> {
  const [first = '', ...rest] = argv;
  if (first === '--version' || first === '-V') {
    const { version } = await import('./version.ts');
    await write(io.stdout, `${version}\n`);
    return exitCodes.ok;
  }

  const { HelpWanted, programOf } = await import('./program.ts');
  const { commands, groups } = await import('./commands/index.ts');
  const asked: ChosenCommand[] = [];
  const program = programOf(commands, groups, (found) => asked.push(found));
  if (first === 'complete') {
    const { completions } = await import('./completion/complete.ts');
    await show(io, await completions(rest, program));
    return exitCodes.ok;
  }

  // A statement may begin with a comment, which is no option.
  const typed = argv.map((word) => (/^--\s/.test(word) ? ` ${word}` : word));
  const words = rest.filter((word) => !word.startsWith('-'));
  if (first === 'help') {
    const { topics } = await import('./help.ts');
    const [topic = ''] = words;
    if (Object.hasOwn(topics, topic)) {
      await show(io, topics[topic]?.(widthOf(io.stdout, io.env)) ?? []);
      return exitCodes.ok;
    }
  }

  try {
    program.parse(first === 'help' ? [...words, '--help'] : typed, { from: 'user' });
  } catch (error) {
    if (!(error instanceof HelpWanted)) throw error;
    const { helpOf } = await import('./help.ts');
    await show(io, helpOf(error.command, widthOf(io.stdout, io.env)));
    return error.isAskedFor ? exitCodes.ok : exitCodes.usage;
  }

  return asked[0] ?? exitCodes.usage;
}
