// The one home of pages as text and bytes: content ranges, the boundaries of records in a body, one
// field of a record.
export { formatContentRange, type PageRange } from './content-range.ts';
export { scanFields } from './scan-fields.ts';
export type { ByteRange } from './split-records.ts';
