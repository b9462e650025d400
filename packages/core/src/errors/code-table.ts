import type { ErrorKind } from './kinds.ts';

/** What is known of a code. */
export interface CodeEntry {
  /** See `errorKinds`. */
  readonly kind: ErrorKind;
  /** What the code means. */
  readonly means: string;
  /** What to do. */
  readonly do: string;
}

/** What the codes of a class of errors mean. */
export type CodeTable<Code extends string = string> = Readonly<Record<Code, CodeEntry>>;

/** Codes and their words by kind: what `codeTable` takes. */
export type CodesByKind = { readonly [K in ErrorKind]?: Readonly<Record<string, string>> };

/**
 * A table of codes by kind: for each code a sentence that says what it means, then what to do.
 * Their names become the type of the code.
 *
 * @example
 * const oddErrors = codeTable({ usage: { odd: 'The number is odd. Use an even one.' } });
 * type OddErrorCode = keyof typeof oddErrors;
 */
export function codeTable<const T extends CodesByKind>(
  byKind: T,
): CodeTable<{ [K in keyof T]: keyof T[K] }[keyof T] & string> {
  const entries = Object.entries(byKind).flatMap(([kind, codes = {}]) =>
    Object.entries(codes).map(([code, words]): [string, CodeEntry] => {
      const end = words.search(/(?<=[.)]) (?=[A-Z`])/);
      return [
        code,
        { kind: kind as ErrorKind, means: words.slice(0, end), do: words.slice(end + 1) },
      ];
    }),
  );
  return Object.fromEntries(entries) as ReturnType<typeof codeTable<T>>;
}

/** The same as the words of an error: what is code in the documentation is plain in a message. */
export function wordsOf(entry: CodeEntry): { readonly message: string; readonly hint: string } {
  return { message: entry.means.replaceAll('`', ''), hint: entry.do.replaceAll('`', '') };
}
