// Files: written whole or not at all, locked against a second writer.

export { FileLockedError, type FileLockedErrorCode } from '../errors.ts';
export {
  inUseBy,
  isRunning,
  type LockOwner,
  lockFile,
  newOwner,
  readOwner,
  type Unlock,
} from './file-lock.ts';
export {
  findForeignFile,
  makeFolder,
  makeOwnFolder,
  openOwnList,
} from './own-file.ts';
export {
  type FileContents,
  syncFolder,
  type WholeFileOptions,
  writeWholeFile,
} from './whole-file.ts';
