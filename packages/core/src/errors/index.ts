// The one family of errors. Light: it loads nothing of the client.
export * from './calls-error.ts';
export { itemAt, propertyOf } from './checked-reads.ts';
export * from './classes.ts';
export { type CodeEntry, type CodesByKind, type CodeTable, codeTable } from './code-table.ts';
export type { ErrorCode } from './codes.ts';
export { formatCount, formatCounted } from './counted.ts';
export { escapeControls } from './escape-controls.ts';
export { type ErrorKind, errorKinds } from './kinds.ts';
