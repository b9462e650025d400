/** What an option may be. `V` is what is given, and `R` what it is read as. */
export interface Entry<V = unknown, R = V> {
  /** Ends the sentence "... must be ...". */
  readonly expected: string;
  /** Errors say only the type of a string, because it may be a key, unless this is set. */
  readonly isShown?: boolean;
  /** The default. */
  readonly initial?: unknown;
  /** Whether the option must be given. */
  readonly isNeeded?: boolean;
  /** Whether a value may be given. */
  accepts(value: unknown): value is V;
  /** Checks what is within a value that is accepted. */
  check?(value: V, name: string): void;
  /** Adds the defaults of the options within a value. */
  fill(value: V): R;
}

/** An option that has a default. */
export interface Filled<V, R = V> extends Entry<V, R> {
  /** The default. */
  readonly initial: V;
}

/** An option that must be given. */
export interface Needed<V, R = V> extends Entry<V, R> {
  /** Whether the option must be given. */
  readonly isNeeded: true;
}

/** Options by name. */
export type Entries = Readonly<Record<string, Entry>>;

/** What an option needs of a table that has the options within it. */
export interface InnerTable<V, R> {
  /** The options. */
  readonly entries: Entries;
  /** Refuses unknown options, wrong types and what is missing. */
  check(given: unknown, prefix?: string): void;
  /** Adds the defaults. */
  fill(given: V): R;
}

/** What is given for one option. */
type ValueOf<O> = O extends { accepts(value: unknown): value is infer V } ? V : never;
/** What one option is read as. */
type ReadValue<O> = O extends { fill(value: never): infer R } ? R : never;
/** Names of options that must be given. */
type NeededNames<E> = { [K in keyof E]: E[K] extends { isNeeded: true } ? K : never }[keyof E];
/** Names of options that are always there once they are read. */
type FilledNames<E> =
  | { [K in keyof E]: E[K] extends { initial: unknown } ? K : never }[keyof E]
  | NeededNames<E>;

// Homomorphic mapped types keep the doc comments of options.
/** One object type. Because it is conditional, editors show the names and types of options instead of how they were made. */
type Flat<T> = T extends unknown ? { [K in keyof T]: T[K] } : never;
/** Options that must be given. */
type Given<E, K extends keyof E> = { [N in K]: ValueOf<E[N]> };
/** Options that may be left out. */
type MayBeGiven<E, K extends keyof E> = { [N in K]?: ValueOf<E[N]> | undefined };
/** Options that are always read. */
type Read<E, K extends keyof E> = { readonly [N in K]: ReadValue<E[N]> };
/** Options that may be missing when they are read. */
type MayBeRead<E, K extends keyof E> = { readonly [N in K]?: ReadValue<E[N]> | undefined };

/** The values of these options, as they are given. */
export type ValuesOf<E> = Flat<Given<E, NeededNames<E>> & MayBeGiven<E, Exclude<keyof E, NeededNames<E>>>>;

/** The same as they are read: with their defaults. */
export type ReadValues<E> = Flat<Read<E, FilledNames<E>> & MayBeRead<E, Exclude<keyof E, FilledNames<E>>>>;
