// Ends of a pipeline that can be resumed: one file that appears when it is complete, or one per slice.

export type { Encoding } from './encoding.ts';
export type { ReceiptMaker } from './file-rows.ts';
export { type FileSink, type FileSinkOptions, fileSink } from './file-sink.ts';
export { type SliceFiles, type SliceFilesOptions, sliceFiles } from './slice-files.ts';
