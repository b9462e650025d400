// Ends of a read: a file that appears when it is complete, and a store with transactions.

export type { Sink } from '../operators/operator.ts';
export {
  type EncodedName,
  type Encoding,
  type FileSink,
  type FileSinkOptions,
  type FileWritten,
  fileSink,
  type ReceiptMaker,
} from './file-sink.ts';
export { type ChainBatch, type ChainStore, storeSink } from './store-sink.ts';
