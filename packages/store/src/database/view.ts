import { fields } from '@call-attribution/core/record';
import { ownColumns } from './own-columns.ts';

const own = new Set(ownColumns.map(({ name }) => name));
const quoted = (name: string) => `"${name}"`;

/**
 * The view `calls`: every field under the name that the API gives it. It casts nothing, since a value that is not of its type would
 * end a query in PostgreSQL and be 0 in SQLite: columns are filled when a call is written, and null when it has no such value.
 */
export const callsView = `SELECT account, ${fields
  .map(({ name }) => {
    if (name === 'sid' || own.has(name)) return quoted(name);
    return `record ->> '${name}' AS ${quoted(name)}`;
  })
  .join(', ')}, unknown AS other_fields FROM records`;

/** What the columns of the view mean, in the words of the field table. */
export const columnComments: ReadonlyMap<string, string> = new Map([
  ['account', 'The account that the call was read from.'],
  ...fields.map(({ name, meaning }) => [name, meaning] as const),
  ['other_fields', 'Fields that are not in the table of fields, as JSON.'],
]);
