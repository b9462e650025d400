import type { Io } from '../io.ts';

/** One option of a command. Parsing, help and shell completion are all read off this one entry. */
export interface OptionSpec {
  /** Long name without dashes. */
  readonly name: string;
  /** One-letter form, without the dash. */
  readonly short?: string;
  /** What the value is called in help. Absent for an on/off option. */
  readonly value?: string;
  /** One sentence for the help text. */
  readonly text: string;
  /** The only values accepted; also offered by completion. */
  readonly choices?: readonly string[];
  /** What holds when the option is not given; shown in help. */
  readonly default?: string | number;
  /** Set when the option may be given more than once. */
  readonly repeat?: boolean;
  /** What completion offers for the value. */
  readonly completes?: 'file' | 'folder' | 'fields';
  /** Heading the option stands under in help. Default: Options. */
  readonly group?: string;
}

/** One word a command takes after its name. */
export interface PositionalSpec {
  readonly name: string;
  readonly text: string;
  readonly required?: boolean;
  readonly choices?: readonly string[];
}

/** What one example in the help shows, and the line to type. */
export interface Example {
  readonly line: string;
  readonly text: string;
}

/** One command: everything that is known about it without loading its code. */
export interface CommandSpec {
  readonly name: string;
  /** One line, shown in the list of commands. */
  readonly summary: string;
  /** A paragraph or two under the usage line. */
  readonly about?: string;
  readonly positionals?: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** Loads the code only when the command runs, so that help stays quick. */
  load(): Promise<Handler>;
}

/** Runs a command and answers its exit status. `commands` is the whole table, for the commands that speak about it. */
export type Handler = (args: Args, io: Io, commands: readonly CommandSpec[]) => Promise<number>;

/** What the parser read: values by option name, words in order. */
export interface Args {
  readonly words: readonly string[];
  /** The value of a text option, or null when it was not given. */
  text(name: string): string | null;
  /** Whether an on/off option was given. */
  flag(name: string): boolean;
  /** The values of an option that may repeat, each also split at commas. */
  list(name: string): readonly string[];
  /** A whole number within bounds, or null when it was not given. */
  integer(name: string, bounds?: { min?: number; max?: number }): number | null;
  /** A decimal number of at least `min`, or null when it was not given. */
  number(name: string, bounds?: { min?: number }): number | null;
}
