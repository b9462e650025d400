import { createHash, type Hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { isSealed, seal } from '../checkpoint.ts';
import { CheckpointError, FileLockedError } from '../errors.ts';
import { lockFile, type Unlock } from '../files/file-lock.ts';
import { createFile, openOwnFile, strangeFile } from '../files/own-file.ts';
import { removeReceipt, syncFolder, writeWholeFile } from '../files/whole-file.ts';
import type { Checkpoint } from '../page.ts';
import { type Receipt, writeReceipt } from '../receipts/receipt.ts';

/** What is on the disk of an unfinished file: how many bytes of it count, where the source resumes, the caller's facts. */
export interface PartState {
  readonly bytes: number;
  /** CRC-32 of these bytes. */
  readonly checksum: number;
  readonly checkpoint: Checkpoint;
  readonly metadata: unknown;
  /** A checksum over all of this. */
  readonly seal: string;
}

const partName = (path: string) => `${path}.partial`;
const stateName = (path: string) => `${path}.checkpoint`;

/** A file under a provisional name, which gets its own name only when it is complete. */
export interface PartFile {
  /** Its length so far. */
  readonly bytes: number;
  write(bytes: Uint8Array): Promise<void>;
  /** All bytes so far are durable and count from now on, and `checkpoint` is where the source resumes: a later run cuts off what came after. */
  save(checkpoint: Checkpoint, metadata: unknown): Promise<void>;
  /** The file is complete: gives it its name, and writes its receipt. */
  finish(receiptOf: (bytes: NonNullable<Receipt['bytes']>) => Promise<Receipt>): Promise<void>;
  /** Gives up: keeps what a saved checkpoint covers, removes the file when there is none. */
  abandon(): Promise<void>;
}

/** Opens a new file, or one with the bytes that counted when `state` was written. */
export async function openPart(
  path: string,
  state: PartState | null,
  hasReceipt: boolean,
): Promise<PartFile> {
  const part = partName(path);
  /** Of the bytes so far, for a receipt. */
  const hash = hasReceipt ? createHash('sha256') : null;
  const unlock = await lockTarget(path);
  let handle: FileHandle;
  try {
    handle = state === null ? await createFile(part) : await openVerified(path, state, hash);
    if (state === null) await rm(stateName(path), { force: true });
  } catch (error) {
    await unlock();
    throw error;
  }
  let { bytes, checksum } = state ?? { bytes: 0, checksum: 0 };
  let hasState = state !== null;
  let checkedAt = 0;
  /** A run that was stopped for long may have lost its lock, and then must not write into the file of the next one. */
  const checkLock = async (): Promise<void> => {
    await unlock.check();
    checkedAt = performance.now();
  };
  return {
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      if (performance.now() - checkedAt > 5_000) await checkLock();
      for (let from = 0; from < chunk.length; ) {
        const { bytesWritten } = await handle.write(chunk, from, chunk.length - from, bytes);
        const written = chunk.subarray(from, from + bytesWritten);
        checksum = crc32(written, checksum);
        hash?.update(written);
        from += bytesWritten;
        bytes += bytesWritten;
      }
    },
    async save(checkpoint, metadata) {
      await handle.datasync();
      await checkLock();
      const saved = seal({ version: 1, bytes, checksum, checkpoint, metadata });
      await writeWholeFile(stateName(path), `${JSON.stringify(saved)}\n`);
      hasState = true;
    },
    async finish(receiptOf) {
      await handle.sync();
      await checkLock();
      const named = await stat(part, { bigint: true }).catch(() => null);
      if ((await handle.stat({ bigint: true })).ino !== named?.ino)
        throw refusal(path, `${part} was replaced while it was written`);
      const receipt = hash === null ? null : await receiptOf({ length: bytes, sha256: hash.digest('hex') });
      await handle.close();
      // Until the new one is there, the file has none: a receipt never stands beside a file that it does not describe.
      await removeReceipt(path);
      await rename(part, path);
      await syncFolder(path);
      if (receipt !== null) await writeReceipt(path, receipt);
      await rm(stateName(path), { force: true });
      await unlock();
    },
    async abandon() {
      await handle.close();
      const isMine = await checkLock().then(
        () => true,
        () => false,
      );
      if (isMine && !hasState) await rm(part, { force: true });
      await unlock();
    },
  };
}

/** Keeps other runs from writing the same file. */
async function lockTarget(path: string): Promise<Unlock> {
  try {
    return await lockFile(`${path}.lock`);
  } catch (error) {
    if (!(error instanceof FileLockedError) || error.owner === null) throw error;
    const owner = `Process ${error.owner} on ${error.host}`;
    throw Object.assign(error, {
      message: `${owner} is writing ${path}. Wait until it ends, or write to another name; remove ${error.path} if that process has nothing to do with it.`,
    });
  }
}

/** Opens an unfinished file, which has to be the one that was left, byte for byte. */
async function openVerified(path: string, state: PartState, hash: Hash | null): Promise<FileHandle> {
  const part = partName(path);
  if (readPartState(path)?.seal !== state.seal)
    throw new CheckpointError(
      'checkpoint_invalid',
      `Another run has written ${part} since this one began. Run again to continue after it.`,
    );
  const handle = await openOwnFile(part, (what) => refusal(path, `${part} ${what}`));
  try {
    const block = Buffer.alloc(1 << 20);
    let checksum = 0;
    for (let at = 0; at < state.bytes; ) {
      const { bytesRead } = await handle.read(block, 0, Math.min(block.length, state.bytes - at), at);
      if (bytesRead === 0) throw refusal(path, `${part} is shorter than the interrupted run left it`);
      checksum = crc32(block.subarray(0, bytesRead), checksum);
      hash?.update(block.subarray(0, bytesRead));
      at += bytesRead;
    }
    if (checksum !== state.checksum)
      throw refusal(path, `${part} is not what the interrupted run left: its checksum differs`);
    await handle.truncate(state.bytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const refusal = (path: string, why: string) =>
  new CheckpointError(
    'checkpoint_invalid',
    `${why}. Remove both to start over: ${partName(path)} and ${stateName(path)}.`,
  );

/** The state of an unfinished file, or null when there is nothing to resume. */
export function readPartState(path: string): PartState | null {
  const part = statSync(partName(path), { throwIfNoEntry: false });
  if (part === undefined || statSync(stateName(path), { throwIfNoEntry: false }) === undefined) return null;
  // Checked before they are read: a pipe in their place would be waited for.
  for (const name of [partName(path), stateName(path)]) {
    const strange = strangeFile(name);
    if (strange !== null) throw refusal(path, `${name} ${strange}`);
  }
  let state: PartState;
  try {
    state = JSON.parse(readFileSync(stateName(path), 'utf8'));
    if (!isSealed(state)) throw new Error('it was changed');
  } catch {
    throw refusal(path, `${stateName(path)} cannot be read`);
  }
  if (part.size < state.bytes)
    throw refusal(path, `${partName(path)} is shorter than the interrupted run left it`);
  return state;
}
