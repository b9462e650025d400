import type { Io } from '../io.ts';

/** One option of a command. Parsing, help and shell completion all come from this one entry. */
export interface OptionSpec {
  /** Long name without dashes. */
  readonly name: string;
  /** One-letter form, without the dash. */
  readonly short?: string;
  /** What the value is called in help. Absent for an on/off option. */
  readonly value?: string;
  /** What the help says. */
  readonly text: string;
  /** The only values accepted; also offered by completion. */
  readonly choices?: readonly string[];
  /** Values that completion offers, where others are accepted as well. */
  readonly offers?: readonly string[];
  /** What holds when the option is not given; shown in help. */
  readonly default?: string | number;
  /** Set when the option may be given more than once. */
  readonly repeat?: boolean;
  /** The command cannot do without it. */
  readonly required?: boolean;
  /** Names in other programs. Typing one is an error that points to this option. */
  readonly otherNames?: readonly string[];
  /** What completion offers for the value; fields, groups and measures are lists with commas. */
  readonly completes?: 'file' | 'folder' | 'fields' | 'groups' | 'measures';
  /** What is replaced in the name of a file that is written: {account}, {date}. Other words in braces are refused. */
  readonly replaces?: readonly string[];
  /** Heading in the help. Default: Options. */
  readonly group?: string;
}

/** One argument of a command that is not an option. */
export interface PositionalSpec {
  readonly name: string;
  readonly text: string;
  readonly required?: boolean;
  readonly choices?: readonly string[];
  /** What completion offers in addition to the choices. */
  readonly completes?: 'file' | 'fields';
}

/** One example in the help: the line to type, and what it does. */
export interface Example {
  readonly line: string;
  readonly text: string;
}

/** Everything about a command that is known without loading its code. */
export interface CommandSpec {
  /** All words of it: `list`, or `store accounts add`. */
  readonly name: string;
  /** One line, shown in the list of commands. */
  readonly summary: string;
  /** A paragraph under the usage line. */
  readonly about?: string;
  readonly positionals?: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** What it prints are rows; `--output` writes them to a file instead. */
  readonly printsRows?: boolean;
  /** Loads the code. Called only when the command runs, so that help stays fast. */
  load(): Promise<Handler>;
}

/** The first word or words of several commands, such as `fleet`. Typed alone it lists them. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  readonly examples: readonly Example[];
}

/** All commands and their groups, in the order of the help. */
export interface CommandTable {
  readonly commands: readonly CommandSpec[];
  readonly groups: readonly CommandGroup[];
}

/** Runs a command and resolves with its exit status. */
export type Handler = (args: Args, io: Io) => Promise<number>;

/** What was typed: values by option name, arguments in order. */
export interface Args {
  /** The name of the command. */
  readonly command: string;
  readonly words: readonly string[];
  /** Whether the command has this option. */
  has(name: string): boolean;
  /** The value of an option, or null when it was not given. */
  text(name: string): string | null;
  /** The value of an option that the command cannot do without. */
  need(name: string): string;
  /** Whether an on/off option was given. */
  flag(name: string): boolean;
  /** The values of an option that may be repeated, each also split at commas. */
  list(name: string): readonly string[];
  /** A whole number within bounds, or null when it was not given. */
  integer(name: string, bounds?: { min?: number; max?: number }): number | null;
  /** A decimal number of at least `min`, or null when it was not given. */
  number(name: string, bounds?: { min?: number }): number | null;
}
