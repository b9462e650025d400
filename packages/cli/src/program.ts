import { nearest } from '@call-attribution/query-dsl/nearest';
import { Argument, Command as Commander, InvalidArgumentError, Option } from 'commander';
import { type Args, argsOf, listIn } from './args.ts';
import type { Command, Group } from './command.ts';
import { UsageError } from './errors.ts';
import { otherCommands, otherOptions, secretNames } from './names.ts';
import { sharedOptions } from './options.ts';

/** A command to run, and what was typed for it. */
export interface ChosenCommand {
  readonly command: Command;
  readonly args: Args;
}

/** Help is to be shown: of this command, asked for or in the place of a command that is missing. */
export class HelpWanted {
  readonly command: Calls;
  readonly isAskedFor: boolean;

  constructor(command: Calls, isAskedFor: boolean) {
    this.command = command;
    this.isAskedFor = isAskedFor;
  }
}

/** A command of the tree that commander parses, helps and completes by. */
export class Calls extends Commander {
  /** What it does; null for the program and for groups. */
  spec: Command | null = null;
  group: Group | null = null;

  override createCommand(name?: string): Calls {
    return new Calls(name);
  }

  override outputHelp(context?: { readonly error?: boolean } | ((text: string) => string)): void {
    const [word = ''] = this.args;
    if (this.commands.length > 0 && word !== '' && !word.startsWith('-')) this.unknownCommand();
    throw new HelpWanted(this, typeof context !== 'object' || context.error !== true);
  }

  /** All words of it: `calls store purge`. */
  get path(): string {
    return this.parent === null ? this.name() : `${(this.parent as Calls).path} ${this.name()}`;
  }

  /** Commander's sentence about what was typed, and where to look. */
  override error(message: string, options?: { readonly code?: string }): never {
    const [sentence = '', ...more] = message.replace(/^error: /, '').split('\n');
    const hints: Readonly<Record<string, string>> = {
      'commander.excessArguments':
        'put quotes around a value with spaces; an option such as --json takes no value',
      'commander.missingArgument': this.registeredArguments
        .filter(({ argChoices }) => argChoices !== undefined)
        .map(({ argChoices = [] }) => `use one of: ${argChoices.join(', ')}`)
        .join(),
    };
    throw new UsageError(
      `${this.path}: ${sentence}`,
      [...more, hints[options?.code ?? ''] ?? '', `see ${this.path} --help`].filter(Boolean),
    );
  }

  override setOptionValueWithSource(
    ...typed: Parameters<Commander['setOptionValueWithSource']>
  ): this {
    const given = this.options.find((each) => each.attributeName() === typed[0]);
    if (given && !isList(given.flags) && this.getOptionValueSource(typed[0]) === 'cli')
      throw new UsageError(`--${given.name()} was given twice`, [
        `give it once; see ${this.path} --help`,
      ]);
    return super.setOptionValueWithSource(...typed);
  }

  /** Commander calls it with what was typed, which may hold a key. */
  unknownOption(typed: string): never {
    const shown = typed.startsWith('--') ? (typed.split('=')[0] ?? '') : typed.slice(0, 2);
    if (this.commands.length > 0) {
      const words = this.commands.map((each) => each.name());
      const next = this.args.find((word) => words.includes(word));
      const near = nearest(
        shown,
        this.options.map(({ long }) => long ?? ''),
      );
      const lists = near
        ? `did you mean ${this.path} ${near}?`
        : `${this.path} --help lists the commands`;
      throw new UsageError(`${this.path} needs a command before ${shown}`, [
        next === undefined
          ? lists
          : `options of a command come after it: ${this.path} ${next} ${shown}`,
      ]);
    }

    throw noSuchOption(shown, this);
  }

  unknownCommand(): never {
    throw noSuchCommand(this, this.args[0] ?? '');
  }
}

/** Options of commands that exclude each other, where a command has both. */
const conflicts: Readonly<Record<string, readonly string[]>> = {
  'all-accounts': ['account'],
  json: ['format'],
  all: ['limit'],
  check: ['sandbox'],
  follow: ['all', 'limit', 'output', 'format', 'to', 'period', 'store', 'all-accounts'],
};

/** The tree of all commands. Nothing that a command needs is loaded. */
export function programOf(
  commands: readonly Command[],
  groups: readonly Group[],
  found: (asked: ChosenCommand) => void,
): Calls {
  const program = new Calls('calls');
  program.enablePositionalOptions().helpCommand(false);
  addCommon(program);
  program.option('-V, --version', 'show the version');
  for (const spec of commands)
    if (!spec.name.includes(' ')) addCommand(program, spec.name, spec, found);
  for (const group of groups) {
    const made = program.command(group.name) as Calls;
    made.helpCommand(false).enablePositionalOptions().description(group.summary);
    made.group = group;
    addCommon(made);
    for (const spec of commands) {
      const [first, second = ''] = spec.name.split(' ');
      if (first === group.name && second !== '') addCommand(made, second, spec, found);
    }
  }

  return program;
}

function addCommon(command: Calls): void {
  command.helpOption('-h, --help', 'show this help');
  command.option(
    '-v, --debug',
    "report on stderr what is done, with causes and stack traces of errors; no keys, no callers' data",
  );
}

function addCommand(
  parent: Calls,
  name: string,
  spec: Command,
  found: (asked: ChosenCommand) => void,
): void {
  const command = parent.command(name) as Calls;
  command.spec = spec;
  command.description(spec.summary);
  for (const [word, text] of Object.entries(spec.words ?? {})) {
    const argument = new Argument(word, text);
    const choices = choicesOf(word, spec, argument.name());
    if (choices !== undefined)
      argument.choices(choices).argParser((typed: string) => {
        if (choices.includes(typed)) return typed;
        throw notAChoice(argument.name(), typed, choices, command);
      });
    command.addArgument(argument);
  }

  addCommon(command);
  for (const [flags, text] of Object.entries(spec.options))
    command.addOption(optionOf(flags, text, command));
  command.action(() => {
    const names = command.options.map((option) => option.name());
    const values = new Map<string, readonly string[]>();
    for (const option of command.options) {
      const typed = command.optsWithGlobals<Typed>()[option.attributeName()];

      // Of an option such as --no-exclude, the value is false once it was typed.
      if (option.negate && typed === false) values.set(option.name(), ['true']);
      if (!option.negate && typed !== undefined)
        values.set(option.name(), [typed].flat().map(String));
    }

    found({ command: spec, args: argsOf(spec.name, command.args, names, values) });
  });
}

/** The values that commander has read, by their attributes. */
type Typed = Readonly<Record<string, string | boolean | readonly string[]>>;

/** What is in angle brackets; null for an option without a value. */
export const valueIn = (flags: string): string | null => /[<[](.+)[>\]]/.exec(flags)?.[1] ?? null;

const isList = (flags: string): boolean =>
  /^(?:fields|groups|names|kinds|files)$/.test(valueIn(flags) ?? '');

/** The only values that a word or an option takes. */
export function choicesOf(
  flags: string,
  spec: Command,
  name: string,
): readonly string[] | undefined {
  const value = valueIn(flags) ?? '';
  return spec.choices?.[name] ?? (value.includes('|') ? value.split('|') : undefined);
}

/** The bounds of whole numbers, by what stands in the angle brackets. */
const numbers: Readonly<Record<string, readonly [min: number, max: number]>> = {
  n: [1, 1e9],
  slots: [1, 64],
  accounts: [1, 1000],
  port: [0, 65_535],
  seed: [0, 0xffffffff],
};

/** Whether an option is typed so: `--limit` or `-n`. */
export const isTyped = ({ long, short }: Option, word: string): boolean =>
  word === long || word === short;

function optionOf(flags: string, text: string, command: Calls): Option {
  const option = new Option(flags, text);
  const { spec } = command;
  const value = valueIn(flags);
  if (value === null || spec === null) return conflicting(option);
  if (spec.needs?.includes(option.name())) option.makeOptionMandatory();
  const choices = choicesOf(flags, spec, option.name());
  return conflicting(option).argParser((typed: string, before?: readonly string[]) => {
    // A value may begin with a dash (a negative number, `-` for stdout) unless it is an option
    // itself.
    const [word = ''] = typed.split('=', 1);
    if (command.options.some((each) => isTyped(each, word)) || /^(?:-h|--help)$/.test(word))
      throw new UsageError(`${command.path}: --${option.name()} needs a value: ${flags}`, [
        `see ${command.path} --help`,
      ]);

    const parts = isList(flags) ? listIn(typed) : [typed];
    const wrong = choices && parts.find((part) => !choices.includes(part));
    if (wrong !== undefined) throw notAChoice(`--${option.name()}`, wrong, choices ?? [], command);
    if (Object.hasOwn(numbers, value)) checkNumber(typed, ...(numbers[value] ?? [0, 0]));
    return [...(before ?? []), ...parts];
  });
}

function conflicting(option: Option): Option {
  const names = conflicts[option.name()] ?? [];
  return option.conflicts(names.map((name) => new Option(`--${name}`).attributeName()));
}

function checkNumber(typed: string, min: number, max: number): void {
  const value = /^-?\d+$/.test(typed) ? Number(typed) : Number.NaN;
  if (value >= min && value <= max) return;
  throw new InvalidArgumentError(
    `It must be a whole number${max === 1e9 ? `, ${min} or greater` : ` from ${min} to ${max}`}.`,
  );
}

/** Every command under another one, without groups. */
export function everyCommand(command: Calls): Calls[] {
  return command.commands.flatMap((each) =>
    each.commands.length > 0 ? everyCommand(each as Calls) : [each as Calls],
  );
}

/** The heading under which help shows an option: that of the list it is from. */
export function headingOf({ flags, description }: Option): string {
  const shared = Object.entries(sharedOptions).find(([, lines]) => lines[flags] === description);
  return shared?.[0] ?? 'Options';
}

/** What is said of a value that is none of the choices. */
function notAChoice(
  name: string,
  typed: string,
  choices: readonly string[],
  command: Calls,
): UsageError {
  const flag = command.options.find((option) => option.name() === typed && option.isBoolean());

  // One of two letters that differs is not a slip: v4 is not v2. What begins several means any.
  const begun = typed.length > 2 ? choices.filter((choice) => choice.startsWith(`${typed}-`)) : [];
  const near = typed.length > 2 ? nearest(typed, choices) : undefined;
  const meant = begun.length > 1 ? begun.join(' or ') : near;
  return new UsageError(`${name} cannot be ${JSON.stringify(typed)}`, [
    ...(flag ? [`use --${flag.name()}: ${flag.description}`] : []),
    ...(meant ? [`did you mean ${meant}?`] : []),
    `use one of: ${choices.join(', ')}`,
  ]);
}

/** What is said of an option that the command does not have. */
function noSuchOption(shown: string, command: Calls): UsageError {
  const name = shown.replace(/^-+/, '');
  if (secretNames.test(name)) {
    const ofPage = command.spec?.name === 'serve' && name.endsWith('password');
    const hints = ofPage
      ? [
          'CALLS_PAGE_PASSWORD is the password of the web page; viewers of it have theirs in calls.config.json, and feeds in --feeds <file>',
        ]
      : [
          'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY (or CALLS_BEARER_TOKEN) in the environment,',
          'or let calls init keep them, or enter them when asked',
        ];
    return new UsageError(
      `${shown}: keys are never options, because other users of the machine could read them`,
      hints,
    );
  }

  return new UsageError(`${command.path} has no option ${shown}`, [
    ...meant(name, command),
    `${command.path} --help lists all options`,
  ]);
}

/**
 * What to type instead: an option of another name, one that is spelled like it, or an option of
 * other commands.
 */
function meant(name: string, command: Calls): string[] {
  const { options, spec } = command;
  for (const [names, way] of Object.entries(otherOptions)) {
    if (!names.split(' ').includes(name)) continue;
    const [, needed] = /^--([\w-]+)/.exec(way) ?? [];
    const option = options.find((each) => each.name() === needed);
    if (needed === undefined) return [way];
    if (option !== undefined)
      return [`use ${way === `--${needed}` ? `${flagsOf(option)}: ${option.description}` : way}`];
  }

  const choice = options.find(
    (each) => spec && choicesOf(each.flags, spec, each.name())?.includes(name),
  );
  if (choice) return [`use --${choice.name()} ${name}`];
  const near = nearest(
    name,
    options.map((option) => option.name()),
  );
  if (near !== undefined) return [`did you mean --${near}?`];
  const having = everyCommand(rootOf(command)).filter((each) =>
    each.options.some((option) => option.name() === name),
  );
  const shown = having.slice(0, 3).map(({ path }) => `${path} --${name}`);
  const more = having.length > 3 ? ` and ${having.length - 3} more` : '';
  return shown.length > 0 ? [`it is an option of ${shown.join(', ')}${more}`] : [];
}

const flagsOf = ({ flags }: Option): string => flags.replace(/^-\w, /, '');

const rootOf = (command: Calls): Calls =>
  command.parent === null ? command : rootOf(command.parent as Calls);

/** What is said of a command that there is not. */
function noSuchCommand(parent: Calls, word: string): UsageError {
  const name = `${parent.path} ${word}`.replace(/^calls /, '');
  const known = Object.entries(otherCommands).find(([names]) => names.split(', ').includes(name));
  const names = parent.commands.map((each) => each.name());
  const near =
    nearest(word, names) ?? nearest(`help ${word}`, ['help options', 'help environment']);
  const way = known?.[1] ?? (near && `did you mean ${parent.path} ${near}?`);
  const hints = [way ?? '', `${parent.path} --help lists the commands`].filter(Boolean);
  return new UsageError(`${parent.path} has no command ${JSON.stringify(word)}`, hints);
}
