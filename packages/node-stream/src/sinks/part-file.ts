import { createHash, type Hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
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

/** Files of this process that are being given up. A pipeline fails before that is done: who begins again at once waits for it. */
const closing = new Map<string, Promise<void>>();

/**
 * A file under a provisional name, which gets its own name only when it is complete. Until then it can be made durable
 * together with a checkpoint, so that a later run cuts off the bytes after it and continues.
 */
export class PartFile {
  readonly path: string;
  /** Of the bytes so far, for a receipt; null without one. */
  #hash: Hash | null;
  #handle: FileHandle | null = null;
  #unlock: Unlock | null = null;
  #checkedAt = 0;
  #bytes = 0;
  #checksum = 0;
  #hasState = false;

  constructor(path: string, hasReceipt: boolean) {
    this.path = path;
    this.#hash = hasReceipt ? createHash('sha256') : null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Opens a new file, or one with the bytes that counted when `state` was written. */
  async open(state: PartState | null): Promise<void> {
    await closing.get(resolve(this.path));
    this.#unlock = await lockTarget(this.path);
    if (state === null) {
      this.#handle = await createFile(partName(this.path));
      await rm(stateName(this.path), { force: true });
      return;
    }
    this.#handle = await openVerified(this.path, state, this.#hash);
    await this.#handle.truncate(state.bytes);
    this.#bytes = state.bytes;
    this.#checksum = state.checksum;
    this.#hasState = true;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (performance.now() - this.#checkedAt > 5_000) await this.#checkLock();
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await this.#opened().write(bytes, from, bytes.length - from, this.#bytes);
      const written = bytes.subarray(from, from + bytesWritten);
      this.#checksum = crc32(written, this.#checksum);
      this.#hash?.update(written);
      from += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }

  /** All bytes so far count from now on, and `checkpoint` is where the source resumes. */
  async save(checkpoint: Checkpoint, metadata: unknown): Promise<void> {
    await this.#opened().datasync();
    await this.#checkLock();
    const state = seal({ version: 1, bytes: this.#bytes, checksum: this.#checksum, checkpoint, metadata });
    await writeWholeFile(stateName(this.path), `${JSON.stringify(state)}\n`);
    this.#hasState = true;
  }

  /** The file is complete: gives it its name, and writes its receipt. */
  async finish(receiptOf: (bytes: NonNullable<Receipt['bytes']>) => Promise<Receipt>): Promise<void> {
    const { path } = this;
    const handle = this.#opened();
    await handle.sync();
    await this.#checkLock();
    const named = await stat(partName(path), { bigint: true }).catch(() => null);
    if ((await handle.stat({ bigint: true })).ino !== named?.ino)
      throw refusal(path, `${partName(path)} was replaced while it was written`);
    const sha256 = this.#hash?.digest('hex');
    const receipt = sha256 === undefined ? null : await receiptOf({ length: this.#bytes, sha256 });
    await this.#close();
    // Until the new one is there, the file has none: a receipt never stands beside a file that it does not describe.
    await removeReceipt(path);
    await rename(partName(path), path);
    await syncFolder(path);
    if (receipt !== null) await writeReceipt(path, receipt);
    await rm(stateName(path), { force: true });
    await this.#letGo();
  }

  /** Gives up: keeps what a saved checkpoint covers, removes the file when there is none. */
  abandon(): Promise<void> {
    const name = resolve(this.path);
    const done = (async () => {
      const wasOpen = this.#handle !== null;
      await this.#close();
      const isMine = await this.#checkLock().then(
        () => true,
        () => false,
      );
      if (wasOpen && isMine && !this.#hasState) await rm(partName(this.path), { force: true });
      await this.#letGo();
    })();
    // Several may be closing the same file: one that never opened it is done before the one that wrote it.
    const all = Promise.allSettled([closing.get(name), done]).then(() => {
      if (closing.get(name) === all) closing.delete(name);
    });
    closing.set(name, all);
    return done;
  }

  /** A run that was stopped for long may have lost its lock, and then must not write into the file of the next one. */
  async #checkLock(): Promise<void> {
    await this.#unlock?.check();
    this.#checkedAt = performance.now();
  }

  async #letGo(): Promise<void> {
    const unlock = this.#unlock;
    this.#unlock = null;
    await unlock?.();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  #opened(): FileHandle {
    if (this.#handle === null) throw new Error(`${this.path} is no longer open`);
    return this.#handle;
  }
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
