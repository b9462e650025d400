// Files: written whole or not at all, locked against a second writer, read line by line.

export { FileLockedError, type FileLockedErrorCode } from '../errors.ts';
export { type FileLockOptions, lockFile, lockOwner, type Unlock } from './file-lock.ts';
export {
  createByteLineReader,
  createLineReader,
  type LineOptions,
  type LineReader,
  type LineReaderOptions,
  readLines,
} from './lines.ts';
export {
  createFile,
  makeOwnFolder,
  openOwnFile,
  openOwnList,
  pathInside,
  strangeCompanion,
} from './own-file.ts';
export { type FileContents, syncFolder, type WholeFileOptions, writeWholeFile } from './whole-file.ts';
