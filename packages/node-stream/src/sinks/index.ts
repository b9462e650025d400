// Ends of a read: a file that appears when it is complete, a store with transactions, a function.

export type { Sink } from '../operators/forms.ts';
export type { Encoding } from './encoding.ts';
export type { ReceiptMaker } from './file-rows.ts';
export { type FileSink, type FileSinkOptions, type FileWritten, fileSink } from './file-sink.ts';
export {
  type Delivered,
  type FunctionSinkOptions,
  filePosition,
  type PositionStore,
  type SinkContext,
  sink,
} from './function-sink.ts';
export { defineSink } from './sink.ts';
export { type ChainBatch, type ChainStore, storeSink } from './store-sink.ts';
