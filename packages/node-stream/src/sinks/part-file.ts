import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { syncFolder, writeWholeFile } from '../files/whole-file.ts';

/** What is on the disk of an unfinished file: how many bytes of it count, where the source resumes, the caller's facts. */
export interface PartState {
  readonly bytes: number;
  readonly checkpoint: Checkpoint;
  readonly metadata?: unknown;
}

/**
 * A file under a provisional name, which gets its own name only when it is complete. Until then it can be made durable
 * together with a checkpoint, so that a later run cuts off the bytes after it and continues.
 */
export class PartFile {
  readonly path: string;
  readonly #durable: boolean;
  #handle: FileHandle | null = null;
  #bytes = 0;
  #hasState = false;
  #isAbandoned = false;
  #work: Promise<void> = Promise.resolve();

  constructor(path: string, durable: boolean) {
    this.path = path;
    this.#durable = durable;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Opens a new file, or one with the bytes that counted when `state` was written. */
  open(state: PartState | null): Promise<void> {
    return this.#run(async () => {
      this.#handle = await open(partName(this.path), state === null ? 'w' : 'r+');
      this.#bytes = state?.bytes ?? 0;
      this.#hasState = state !== null;
      if (state === null) await rm(stateName(this.path), { force: true });
      else await this.#handle.truncate(state.bytes);
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#run(async () => {
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await this.#opened().write(bytes, from, bytes.length - from, this.#bytes);
        from += bytesWritten;
        this.#bytes += bytesWritten;
      }
    });
  }

  /** All bytes so far count from now on, and `checkpoint` is where the source resumes. */
  save(checkpoint: Checkpoint, metadata: unknown): Promise<void> {
    return this.#run(async () => {
      if (this.#durable) await this.#opened().datasync();
      const state = { version: 1, bytes: this.#bytes, checkpoint, metadata };
      await writeWholeFile(stateName(this.path), `${JSON.stringify(state)}\n`, { durable: this.#durable });
      this.#hasState = true;
    });
  }

  /** The file is complete: gives it its name. */
  finish(path = this.path): Promise<void> {
    return this.#run(async () => {
      if (this.#durable) await this.#opened().sync();
      await this.#close();
      await rename(partName(this.path), path);
      if (this.#durable) await syncFolder(path);
      await rm(stateName(this.path), { force: true });
    });
  }

  /** Gives up: keeps what a saved checkpoint covers, removes the file when there is none. */
  async abandon(): Promise<void> {
    // Nothing may be written after the file was given up: another run may begin it again.
    this.#isAbandoned = true;
    await this.#work.catch(() => {});
    const wasOpen = this.#handle !== null;
    await this.#close();
    if (wasOpen && !this.#hasState) await rm(partName(this.path), { force: true });
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

/** The state of an unfinished file, or null when there is nothing to resume. */
export function readPartState(path: string): PartState | null {
  const part = statSync(partName(path), { throwIfNoEntry: false });
  if (part === undefined || statSync(stateName(path), { throwIfNoEntry: false }) === undefined) return null;
  const state = readState(readFileSync(stateName(path), 'utf8'));
  if (state === null || part.size < state.bytes) {
    throw new Error(`${stateName(path)} does not belong to ${partName(path)}. Remove both to start over.`);
  }
  return state;
}

function readState(text: string): PartState | null {
  try {
    const state = JSON.parse(text);
    return state.version === 1 && Number.isSafeInteger(state.bytes) ? state : null;
  } catch {
    return null;
  }
}
