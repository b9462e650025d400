// Any list, read whole: what can be asked for a range of an order. createListReader proves that it has everything, as far as
// the list can be counted, and says what it cannot prove.

export type { Checkpoint } from '../reader/checkpoint.ts';
export type { Progress } from '../reader/ledger.ts';
export type { Cursor } from '../reader/page-view.ts';
export type { Span as Range } from '../reader/span.ts';
export type { Proof, VerdictReason } from '../reader/verdict.ts';
export type { PageStart } from '../reader/work.ts';
export { ListError, type ListErrorCode } from './errors.ts';
export type { List, ListPage, ListReaderOptions, ListRequest } from './list.ts';
export { createListReader, type ItemPage, type ListReader } from './list-reader.ts';
export type { ListVerdict } from './list-verdict.ts';
