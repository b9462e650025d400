import { fields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';

/** What SQLite, PostgreSQL and DuckDB say of a column that there is not. */
const unknownColumn = [
  /no such column: "?(?:\w+\.)?(\w+)/,
  /\bcolumn "?(?:\w+\.)?(\w+)"? does not exist/,
  /^Referenced column "(\w+)" not found/,
  /does not have a column named "(\w+)"/,
];

/** The same sentence for each of them; null when a statement has another mistake. */
export function columnMistake(text: string): { readonly name: string; readonly message: string } | null {
  const name = unknownColumn.flatMap((form) => form.exec(text)?.[1] ?? [])[0];
  return name === undefined ? null : { name, message: `the SQL has a mistake: there is no column ${name}` };
}

/**
 * DuckDB's complaint about a statement: its sentence, the line with a caret under the place, and the names that it takes
 * for possible.
 */
export function sqlFailure(text: string, hint: string | undefined, cause: Error): UsageError {
  const [place = ''] = /^LINE \d+:.*(?:\n\s*\^)?/m.exec(text) ?? [];
  const [, listed = ''] =
    /^(?:Candidate (?:bindings|functions|Entries):|Did you mean) *(.*)$/im.exec(text) ?? [];
  const candidates = listed
    .replace(/["?]/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const sentence = (text.split('\n')[0] ?? '').replace(/^[A-Z][A-Za-z ]* Error: /, '').trim();
  const column = columnMistake(sentence);
  // Of columns DuckDB lists distant ones as well, or none.
  const meant =
    column === null
      ? candidates.slice(0, 3)
      : [nearest(column.name, [...candidates, ...fields.map(({ name }) => name)])].filter(
          (name) => name !== undefined,
        );
  const near = meant.length > 0 ? [`did you mean ${meant.join(' or ')}?`] : [];
  const all =
    column !== null && near.length === 0
      ? 'the view calls has a column for each field: calls fields lists them'
      : hint;
  return new UsageError(column?.message ?? `the SQL ${hint ? 'was refused' : 'has a mistake'}. ${sentence}`, {
    detail: place === '' ? null : place,
    hints: [...near, ...(all ? [all] : [])],
    cause,
  });
}
