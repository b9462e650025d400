// The one home of pages as text and bytes: content ranges, which calls a copy has, the boundaries of records in a body, one
// field of a record.
export { formatContentRange, type PageRange } from './content-range.ts';
export { type CopyScope, formatScopes, scopeHeader } from './copy-scope.ts';
export { scanFields } from './scan-fields.ts';
export type { ByteRange } from './split-records.ts';
