import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from './errors.ts';
import { otherCommands, otherOptions, otherWays, secretNames } from './names.ts';
import { type Calls, choicesOf, everyCommand } from './program.ts';

/** What is said of a value that is none of the choices. */
export function notAChoice(
  name: string,
  typed: string,
  choices: readonly string[],
  command: Calls,
): UsageError {
  const flag = command.options.find((option) => option.name() === typed && option.isBoolean());
  // One of two letters that differs is not a slip: v4 is not v2.
  const near = typed.length > 2 ? nearest(typed, choices) : undefined;
  return new UsageError(`${name} cannot be ${JSON.stringify(typed)}`, {
    hints: [
      ...(flag ? [`use --${flag.name()}: ${flag.description}`] : []),
      ...(near ? [`did you mean ${near}?`] : []),
      `use one of: ${choices.join(', ')}`,
    ],
  });
}

/** What is said of an option that the command does not have: which one was meant, or where it is one. */
export function unknownOption(shown: string, command: Calls): UsageError {
  const name = shown.replace(/^-+/, '');
  if (secretNames.test(name)) {
    return new UsageError(
      `${shown}: keys are never options, because other users of the machine could read them`,
      {
        hints: [
          'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) in the environment,',
          'or let calls init keep them, or enter them when asked',
        ],
      },
    );
  }
  return new UsageError(`${command.path} has no option ${shown}`, {
    hints: [...meant(name, command), `${command.path} --help lists all options`],
  });
}

/** What to type instead: an option of another name, one that is spelled like it, or an option of other commands. */
function meant(name: string, command: Calls): string[] {
  const { options } = command;
  const named = (found: string | undefined) => options.find((option) => option.name() === found);
  const other = (otherOptions[name] ?? []).map(named).find(Boolean);
  if (other) return [`use ${other.flags.replace(/^-\w, /, '')}: ${other.description}`];
  const choice = options.find(
    (option) => command.spec && choicesOf(option.flags, command.spec, option.name())?.includes(name),
  );
  if (choice) return [`use --${choice.name()} ${name}`];
  const way = Object.hasOwn(otherWays, name) ? otherWays[name] : undefined;
  const option = way === undefined ? undefined : /^--([\w-]+)/.exec(way)?.[1];
  if (way !== undefined && (option === undefined || named(option)))
    return [option === undefined ? way : `use ${way}`];
  const near = nearest(
    name,
    options.map((option) => option.name()),
  );
  return near === undefined ? elsewhere(name, command) : [`did you mean --${near}?`];
}

/** Which commands have the option. */
function elsewhere(name: string, command: Calls): string[] {
  const all = everyCommand(rootOf(command));
  const names = [name, ...(otherOptions[name] ?? [])];
  const having = all.flatMap(({ path, options }) => {
    const found = options.find((option) => names.includes(option.name()));
    return found === undefined ? [] : [`${path} --${found.name()}`];
  });
  const shown = having.slice(0, 3);
  const more = having.length > 3 ? ` and ${having.length - 3} more` : '';
  const found = all.find((each) => each.name() === name);
  return [
    ...(found ? [`${found.path} is a command: ${found.description()}`] : []),
    ...(shown.length > 0 ? [`it is an option of ${shown.join(', ')}${more}`] : []),
  ];
}

const rootOf = (command: Calls): Calls =>
  command.parent === null ? command : rootOf(command.parent as Calls);

/** What is said of a command that there is not. */
export function noSuchCommand(parent: Calls, word: string): UsageError {
  const name = `${parent.path} ${word}`.replace(/^calls /, '');
  const hint = Object.hasOwn(otherCommands, name) ? otherCommands[name] : undefined;
  const near = nearest(
    word,
    parent.commands.map((each) => each.name()),
  );
  const way = hint ?? (near && `did you mean ${parent.path} ${near}?`);
  return new UsageError(`${parent.path} has no command ${JSON.stringify(word)}`, {
    hints: [...(way ? [way] : []), `${parent.path} --help lists the commands`],
  });
}
