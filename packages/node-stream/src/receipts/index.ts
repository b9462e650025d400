// Receipts: what a file of records holds, in writing, so that it can be checked later. fileSink
// writes them; readReceipt and readFileContents are what a check compares.

export { receiptEnding } from '../files/whole-file.ts';
export { type Periods, periodsOf } from './periods.ts';
export {
  type FileContents,
  type FileForm,
  type FileRow,
  type ReadingOptions,
  readFileContents,
} from './read-file.ts';
export {
  type FoundReceipt,
  type Receipt,
  type ReceiptChanges,
  type ReceiptFacts,
  type ReceiptRows,
  type RowCount,
  readReceipt,
} from './receipt.ts';
