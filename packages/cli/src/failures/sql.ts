/** What SQLite and PostgreSQL say of a column that there is not. */
const unknownColumn = [/no such column: "?(?:\w+\.)?(\w+)/, /\bcolumn "?(?:\w+\.)?(\w+)"? does not exist/];

/** The same sentence for each of them; null when a statement has another mistake. */
export function columnMistake(text: string): string | null {
  const name = unknownColumn.flatMap((form) => form.exec(text)?.[1] ?? [])[0];
  return name === undefined ? null : `the SQL has a mistake: there is no column ${name}`;
}
