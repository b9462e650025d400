import { createHash, type Hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { CheckpointError, FileLockedError } from '../errors.ts';
import { lockFile, type Unlock } from '../files/file-lock.ts';
import { createFile, openOwnFile, strangeFile } from '../files/own-file.ts';
import { removeReceipt, syncFolder, writeWholeFile } from '../files/whole-file.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import { isSealed, seal } from '../reader/seal.ts';
import { type Receipt, writeReceipt } from '../receipts/receipt.ts';

/** What is on the disk of an unfinished file: how many bytes of it count, where the source resumes, the caller's facts. */
export interface PartState {
  readonly bytes: number;
  /** CRC-32 of these bytes, and the number of the file in its file system. */
  readonly checksum: number;
  readonly file: string;
  readonly checkpoint: Checkpoint;
  readonly metadata?: unknown;
  /** A checksum over all of this. */
  readonly seal: string;
}

/** Makes the receipt of a file with these bytes; null for none. */
export type MakeReceipt = (bytes: NonNullable<Receipt['bytes']>) => Promise<Receipt | null>;

/**
 * A file under a provisional name, which gets its own name only when it is complete. Until then it can be made durable
 * together with a checkpoint, so that a later run cuts off the bytes after it and continues.
 */
export class PartFile {
  readonly path: string;
  readonly #durable: boolean;
  #handle: FileHandle | null = null;
  #bytes = 0;
  #checksum = 0;
  #hash: Hash | null;
  #hasState = false;
  #isAbandoned = false;
  #checkedAt = 0;
  #work: Promise<void> = Promise.resolve();
  readonly #isLocked: boolean;
  #unlock: Unlock | null = null;

  /** `isLocked`: somebody else keeps other writers out. `hash`: the file will have a receipt. */
  constructor(
    path: string,
    { durable, isLocked = false, hash = false }: { durable: boolean; isLocked?: boolean; hash?: boolean },
  ) {
    this.path = path;
    this.#durable = durable;
    this.#isLocked = isLocked;
    this.#hash = hash ? createHash('sha256') : null;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Opens a new file, or one with the bytes that counted when `state` was written. */
  open(state: PartState | null): Promise<void> {
    return this.#run(async () => {
      if (!this.#isLocked) this.#unlock = await lockTarget(this.path, `${this.path}.lock`);
      this.#checksum = state?.checksum ?? 0;
      this.#bytes = state?.bytes ?? 0;
      this.#hasState = state !== null;
      if (state === null) {
        this.#handle = await createFile(partName(this.path));
        await rm(stateName(this.path), { force: true });
      } else {
        this.#handle = await openVerified(this.path, state, this.#hash);
        await this.#handle.truncate(state.bytes);
      }
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#run(async () => {
      await this.#checkLock(5_000);
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await this.#opened().write(bytes, from, bytes.length - from, this.#bytes);
        const written = bytes.subarray(from, from + bytesWritten);
        this.#checksum = crc32(written, this.#checksum);
        this.#hash?.update(written);
        from += bytesWritten;
        this.#bytes += bytesWritten;
      }
    });
  }

  /** All bytes so far count from now on, and `checkpoint` is where the source resumes. */
  save(checkpoint: Checkpoint, metadata: unknown): Promise<void> {
    return this.#run(async () => {
      if (this.#durable) await this.#opened().datasync();
      await this.#checkLock();
      const file = await this.#ownNumber();
      const [bytes, checksum] = [this.#bytes, this.#checksum];
      const state = seal({ version: 1, bytes, checksum, file, checkpoint, metadata });
      await writeWholeFile(stateName(this.path), `${JSON.stringify(state)}\n`, { durable: this.#durable });
      this.#hasState = true;
    });
  }

  /** The file is complete: gives it its name, and writes its receipt. */
  finish(path = this.path, receiptOf: MakeReceipt | null = null): Promise<void> {
    return this.#run(async () => {
      if (this.#durable) await this.#opened().sync();
      await this.#checkLock();
      await this.#ownNumber();
      const sha256 = this.#hash?.digest('hex');
      this.#hash = null;
      const receipt =
        receiptOf === null || sha256 === undefined ? null : await receiptOf({ length: this.#bytes, sha256 });
      await this.#close();
      // Until the new one is there, the file has none: a receipt never stands beside a file that it does not describe.
      await removeReceipt(path);
      await rename(partName(this.path), path);
      if (this.#durable) await syncFolder(path);
      if (receipt !== null) await writeReceipt(path, receipt, { durable: this.#durable });
      await rm(stateName(this.path), { force: true });
      await this.#letGo();
    });
  }

  /** Gives up: keeps what a saved checkpoint covers, removes the file when there is none. */
  abandon(): Promise<void> {
    const done = this.#abandon();
    whileLettingGo(`${this.path}.lock`, done);
    return done;
  }

  async #abandon(): Promise<void> {
    // Nothing may be written after the file was given up: another run may begin it again.
    this.#isAbandoned = true;
    await this.#work.catch(() => {});
    const wasOpen = this.#handle !== null;
    await this.#close();
    const isMine = await this.#checkLock().then(
      () => true,
      () => false,
    );
    if (wasOpen && isMine && !this.#hasState) await rm(partName(this.path), { force: true });
    await this.#letGo();
  }

  /** A run that was stopped for long may have lost its lock, and then must not write into the file of the next one. */
  async #checkLock(unlessWithinMs = 0): Promise<void> {
    const now = performance.now();
    if (this.#unlock === null || now - this.#checkedAt < unlessWithinMs) return;
    await this.#unlock.check();
    this.#checkedAt = now;
  }

  /** The number of the file that was written, which must still be the one that has its name. */
  async #ownNumber(): Promise<string> {
    const own = await numberOf(this.#opened());
    const named = await stat(partName(this.path), { bigint: true }).catch(() => null);
    if (own !== String(named?.ino))
      throw refusal(this.path, `${partName(this.path)} was replaced while it was written`);
    return own;
  }

  async #letGo(): Promise<void> {
    const unlock = this.#unlock;
    this.#unlock = null;
    await unlock?.();
  }

  #run(work: () => Promise<void>): Promise<void> {
    if (this.#isAbandoned) return Promise.reject(new Error(`${this.path} is no longer open`));
    this.#work = work();
    return this.#work;
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

const partName = (path: string) => `${path}.partial`;
const stateName = (path: string) => `${path}.checkpoint`;

/** Locks of this process whose writers have failed and are closing their files. */
const lettingGo = new Map<string, Promise<unknown>>();

/** A pipeline fails before its sink is closed: a caller that tries again at once waits for that. */
function whileLettingGo(lock: string, done: Promise<void>): void {
  const name = resolve(lock);
  // Several may be closing the same file: one that never opened it is done before the one that wrote it.
  const quiet = Promise.allSettled([lettingGo.get(name), done]).then(() => {
    if (lettingGo.get(name) === quiet) lettingGo.delete(name);
  });
  lettingGo.set(name, quiet);
}

/** Keeps other runs from writing the same file or folder. */
async function lockTarget(path: string, lock: string): Promise<Unlock> {
  await lettingGo.get(resolve(lock));
  try {
    return await lockFile(lock);
  } catch (error) {
    if (!(error instanceof FileLockedError) || error.owner === null) throw error;
    const owner = `Process ${error.owner} on ${error.host}`;
    throw Object.assign(error, {
      message: `${owner} is writing ${path}. Wait until it ends, or write to another name; remove ${lock} if that process has nothing to do with it.`,
    });
  }
}

/** Opens an unfinished file, which has to be the one that was left, byte for byte. */
async function openVerified(path: string, state: PartState, hash: Hash | null): Promise<FileHandle> {
  const part = partName(path);
  const now = readPartState(path);
  if (now?.seal !== state.seal)
    throw new CheckpointError(
      'checkpoint_invalid',
      `Another run has written ${part} since this one began. Run again to continue after it.`,
    );
  const handle = await openOwnFile(part, (what) => refusal(path, `${part} ${what}`));
  try {
    if ((await numberOf(handle)) !== state.file)
      throw refusal(path, `${part} is a copy: it is not the file that the interrupted run wrote`);
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

/** The number of a file in its file system: it stays when the file is renamed, and a copy has another. */
async function numberOf(handle: FileHandle): Promise<string> {
  return String((await handle.stat({ bigint: true })).ino);
}

/** The state of an unfinished file, or null when there is nothing to resume. */
export function readPartState(path: string): PartState | null {
  const part = statSync(partName(path), { throwIfNoEntry: false });
  if (part === undefined || statSync(stateName(path), { throwIfNoEntry: false }) === undefined) return null;
  // Checked before they are read: a pipe in their place would be waited for.
  for (const name of [partName(path), stateName(path)]) {
    const strange = strangeFile(name);
    if (strange !== null) throw refusal(path, `${name} ${strange}`);
  }
  const state = readState(readFileSync(stateName(path), 'utf8'));
  if (state === null) throw refusal(path, `${stateName(path)} cannot be read`);
  if (part.size < state.bytes)
    throw refusal(path, `${partName(path)} is shorter than the interrupted run left it`);
  return state;
}

function readState(text: string): PartState | null {
  try {
    const state = JSON.parse(text);
    const isWhole =
      state.version === 1 &&
      isSealed(state) &&
      Number.isSafeInteger(state.bytes) &&
      Number.isSafeInteger(state.checksum) &&
      typeof state.file === 'string';
    return isWhole ? state : null;
  } catch {
    return null;
  }
}
