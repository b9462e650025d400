import type { Args } from './args.ts';
import type { Io } from './io.ts';

/**
 * Options, a line each: how one is typed and what it does. `--by <groups>` takes a value, `--all`
 * takes none.
 */
export type Lines = Readonly<Record<string, string>>;

type Word<S> = S extends `${infer First} ${string}` ? First : S;
type NameOf<F> = F extends `-${string}, --${infer Rest}`
  ? Word<Rest>
  : F extends `--${infer Rest}`
    ? Word<Rest>
    : never;
/** A command. Everything but its run is known without loading what it needs. */
export interface Command {
  /** All words of it: `list`, or `store purge`. */
  readonly name: string;
  /** One line, shown in the list of commands. */
  readonly summary: string;
  /** A paragraph under the usage line. */
  readonly about?: string;
  /** Words that are no options: `<sid>` is needed, `[name]` is not. */
  readonly words?: Lines;
  readonly options: Lines;
  /** Options that it cannot do without, by name. */
  readonly needs?: readonly string[];
  /** The only values of a word or an option, where they are a list that stands elsewhere. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Lines to type, and what they do. */
  readonly examples: Lines;
  /** Imports what it needs, does it, and resolves with the exit status. */
  run(args: Args, io: Io): Promise<number>;
}

/** Defines a command, whose run knows its options by the names in their lines. */
export function command<const L extends Lines>(
  spec: Omit<Command, 'options' | 'run'> & {
    readonly options: L;
    run(args: Args<NameOf<keyof L>>, io: Io): Promise<number>;
  },
): Command {
  return spec;
}

/** The first word of several commands, such as `fleet`. Typed alone it lists them. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  readonly examples: Lines;
}
