import { checkEntries, fillEntries } from './check.ts';
import type { Entries, InnerTable, ReadValues, ValuesOf } from './entry.ts';

/** Options by name: their types, checks, defaults and doc comments. */
export interface OptionTable<E extends Entries> {
  /** The options, for tables that share some of them. */
  readonly entries: E;
  /** Checks what was given, and adds the defaults. */
  read(given: unknown, prefix?: string): ReadValues<E>;
  /** Refuses unknown options, wrong types and what is missing. */
  check(given: unknown, prefix?: string): void;
  /** Adds the defaults to options that were checked. */
  fill(given: ValuesOf<E>): ReadValues<E>;
  /** The same options without defaults: what is left out stays out. */
  open(): InnerTable<ValuesOf<E>, Partial<ReadValues<E>>>;
}

/** The options that a function takes, by its table, or by a function that makes the table for a type. */
export type OptionsOf<T> = T extends () => infer R
  ? OptionsOf<R>
  : T extends { readonly entries: infer E }
    ? ValuesOf<E>
    : never;

/** The same options as the table reads them: with their defaults. */
export type ReadOf<T> = T extends () => infer R
  ? ReadOf<R>
  : T extends { readonly entries: infer E }
    ? ReadValues<E>
    : never;

/**
 * Makes a table of options. An entry is all there is to say of an option: its type, its check, its default, and its doc comment,
 * which editors show where the option is used. Errors name the option, say what it got and, for an unknown name, the nearest one.
 *
 * Doc comments do not follow entries into a table of another file: there, the interface also extends the one that has them.
 *
 * @example
 * const copyOptions = defineOptions({
 *   // Calls of a request.
 *   rows: option.whole(1).default(250),
 *   onCopied: option.callback<(calls: number) => void>(),
 * });
 * export interface CopyOptions extends OptionsOf<typeof copyOptions> {}
 * export function copy(options: CopyOptions = {}) {
 *   const { rows, onCopied } = copyOptions.read(options);
 * }
 */
export function defineOptions<E extends Entries>(entries: E): OptionTable<E> {
  const check = (given: unknown, prefix = '') => checkEntries(given, entries, prefix);
  const fill = (given: unknown) => fillEntries(given, entries) as ReadValues<E>;
  return {
    entries,
    check,
    fill,
    open: () => ({
      entries,
      check,
      fill: (given) => fillEntries(given, entries, true) as Partial<ReadValues<E>>,
    }),
    read(given, prefix) {
      check(given, prefix);
      return fill(given);
    },
  };
}
