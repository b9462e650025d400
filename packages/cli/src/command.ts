import type { Args } from './args/command.ts';
import type { Io } from './io.ts';

/** Options, a line each: how one is typed and what it does. `--by <groups>` takes a value, `--all` takes none. */
export type Lines = Readonly<Record<string, string>>;

type Word<S> = S extends `${infer First} ${string}` ? First : S;
type NameOf<F> = F extends `-${string}, --${infer Rest}`
  ? Word<Rest>
  : F extends `--${infer Rest}`
    ? Word<Rest>
    : never;
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Choice<V> = V extends `${infer A}|${infer B}` ? A | Choice<B> : V;
type ValueOf<V> = V extends keyof Values ? Values[V] : V extends `${string}|${string}` ? Choice<V> : string;

/** What the words in angle brackets are read as; every other value is text, and `<v2|v3>` one of these. */
export interface Values {
  n: number;
  page: number;
  port: number;
  seed: number;
  fields: readonly string[];
  groups: readonly string[];
  names: readonly string[];
  kinds: readonly string[];
  files: readonly string[];
}

/** What the run of a command gets of its lines: `--min-talk <duration>` is `minTalk`, a text or undefined. */
export type OptionsOf<L> = {
  readonly [F in keyof L & string as Camel<NameOf<F>>]?: F extends `${string}<${infer V}>`
    ? ValueOf<V>
    : true;
};

/** The line to type, and what it does. */
export type Example = readonly [line: string, text: string];

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
  readonly examples: readonly Example[];
  /** What it prints are rows; `--output` writes them to a file instead. */
  readonly printsRows?: boolean;
  /** Imports what it needs, does it, and resolves with the exit status. */
  // biome-ignore lint/suspicious/noExplicitAny: each command knows the options of its own lines.
  run(options: any, io: Io, args: Args): Promise<number>;
}

/** Defines a command; the types of its options follow from their lines. */
export function command<const L extends Lines>(
  spec: Omit<Command, 'options' | 'run'> & {
    readonly options: L;
    run(options: OptionsOf<L>, io: Io, args: Args): Promise<number>;
  },
): Command {
  return spec;
}

/** The first word of several commands, such as `fleet`. Typed alone it lists them. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  readonly about?: string;
  readonly examples: readonly Example[];
}
