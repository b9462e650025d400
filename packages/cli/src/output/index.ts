// Where results go: the one reader of --output and --format, and the writers of rows and of lines for people.

export { saveResult, screenOf, showResult } from './file.ts';
export { type RowColumn, writeRows } from './rows.ts';
export { rowFormats, sqlFormats, targetOf } from './target.ts';
