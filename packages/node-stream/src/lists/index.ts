// Any list, read whole: what can be asked for a range of an order. createListReader proves that it has everything, as far as
// the list can be counted, and says what it cannot prove.

export type { Checkpoint } from '../checkpoint/checkpoint.ts';
export type { Cursor } from '../slicing/page-view.ts';
export type { Span as Range } from '../slicing/span.ts';
export type { Progress } from '../source/ledger.ts';
export type { Proof, VerdictReason } from '../source/verdict.ts';
export { ListError, type ListErrorCode } from './errors.ts';
export type { List, ListPage, ListReaderOptions, ListRequest } from './list.ts';
export { createListReader, type ItemPage, type ListReader } from './list-reader.ts';
export type { ListVerdict } from './list-verdict.ts';
