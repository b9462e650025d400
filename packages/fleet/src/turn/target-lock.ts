import { FileLockedError, lockFile } from '@call-attribution/node-stream/files';
import { targetLocked } from '../errors.ts';

/** Locks a target by a file. */
export async function lockTarget(name: string, path: string): Promise<() => Promise<void>> {
  try {
    return await lockFile(path);
  } catch (cause) {
    throw cause instanceof FileLockedError ? targetLocked(name, cause) : cause;
  }
}
