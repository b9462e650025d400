/** What the codes of a class of errors mean: for each code a sentence that says it, and then what to do. */
export type CodeTable<Code extends string = string> = Readonly<Record<Code, string>>;

/**
 * A table of codes, whose names become the type of the code.
 *
 * @example
 * const oddErrors = codeTable({ odd: 'The number is odd. Use an even one.' });
 * type OddErrorCode = keyof typeof oddErrors;
 */
export const codeTable = <Code extends string>(codes: CodeTable<Code>): CodeTable<Code> => codes;

/**
 * The meaning and the remedy in an entry of a table of codes; `scripts/errors.mjs` writes them into docs/errors.md.
 *
 * @public
 */
export function splitEntry(entry: string): readonly [meaning: string, remedy: string] {
  const end = entry.search(/(?<=[.)]) (?=[A-Z`])/);
  return end < 0 ? [entry, ''] : [entry.slice(0, end), entry.slice(end + 1)];
}

/** The same as the words of an error: what is code in the documentation is plain in a message. */
export function wordsOf(entry: string): { readonly message: string; readonly hint: string } {
  const [message, hint] = splitEntry(entry);
  return { message: message.replaceAll('`', ''), hint: hint.replaceAll('`', '') };
}
