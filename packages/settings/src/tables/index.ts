// Files of rows, as tools for advertising and sales let people download them. Start with
// readTable(path).

export { readTable } from './read-table.ts';
export type { TableCell, TableRow } from './table.ts';
