// Receipts: what a file of records holds, in writing, so that it can be checked later. fileSink writes them; readReceipt and
// readFileContents are what a check compares.

export { receiptEnding } from '../files/whole-file.ts';
export {
  type DatasetContents,
  datasetPath,
  filesDigest,
  removeDatasetReceipt,
  writeDatasetReceipt,
} from './dataset.ts';
export {
  type FileContents,
  type FileForm,
  type FileRow,
  type ReadingOptions,
  readFileContents,
} from './read-file.ts';
export {
  coverOf,
  type FoundReceipt,
  parseReceipt,
  type Receipt,
  type ReceiptFacts,
  type ReceiptFile,
  type ReceiptRows,
  readReceipt,
  writeReceipt,
} from './receipt.ts';
export { type RowCount, RowDigest } from './row-digest.ts';
