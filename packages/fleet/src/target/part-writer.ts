import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { StreamPage } from '@call-attribution/node-stream';
import type { PinnedJob } from '../job/job.ts';
import { beginPartEncoding, blockBytes, type PartEncoding } from './part-encoding.ts';

/** What a finished part is. */
export interface PartFacts {
  /** Its size. */
  readonly bytes: number;
  /** SHA-256 of its bytes in hex. */
  readonly sha256: string;
}

/** A file of records while it is written. One call at a time. */
export interface PartWriter {
  /** Where it is. */
  readonly path: string;
  /** Adds a page. Its memory may be used again once the promise is resolved. */
  put(page: StreamPage): Promise<void>;
  /** Ends the file, waits until the disk has it, and closes it. Without any page it is a file without records. */
  finish(): Promise<PartFacts>;
  /** Closes the file as it is, for somebody who is going to remove it. Never throws; after `finish` it does nothing. */
  abandon(): Promise<void>;
}

/**
 * Begins a new file of records in the format of a job. It must not exist. Size and hash are taken of the bytes that are written,
 * and no format needs more memory than a group of Parquet rows.
 *
 * @example
 * const part = await openPart('scratch/101.ndjson.gz', { format: 'ndjson.gz', columns: null });
 * for await (const page of stream.pages()) await part.put(page);
 * const { bytes, sha256 } = await part.finish();
 */
export async function openPart(
  path: string,
  shape: Pick<PinnedJob, 'format' | 'columns'>,
  mode?: number,
): Promise<PartWriter> {
  const abort = new AbortController();
  const blocks = new Blocks();
  const encoding = beginPartEncoding(shape, abort.signal, (chunk) => blocks.add(chunk));
  return new OpenPart(path, await open(path, 'wx', mode), encoding, blocks, abort);
}

/** Bytes that wait to be written together, and what was written. */
class Blocks {
  waiting = 0;
  written = 0;
  readonly hash = createHash('sha256');
  #chunks: Uint8Array[] = [];

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.waiting += chunk.length;
  }

  async writeTo(handle: FileHandle): Promise<void> {
    if (this.waiting === 0) return;
    const [chunks, size] = [this.#chunks, this.waiting];
    this.#chunks = [];
    this.waiting = 0;
    for (const chunk of chunks) this.hash.update(chunk);
    await writeAll(handle, chunks, size);
    this.written += size;
  }
}

class OpenPart implements PartWriter {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #encoding: PartEncoding;
  readonly #blocks: Blocks;
  readonly #abort: AbortController;
  #isOpen = true;
  /** Once something has failed, the bytes are not those that were counted. */
  #failure: { readonly error: unknown } | null = null;

  constructor(
    path: string,
    handle: FileHandle,
    encoding: PartEncoding,
    blocks: Blocks,
    abort: AbortController,
  ) {
    this.path = path;
    this.#handle = handle;
    this.#encoding = encoding;
    this.#blocks = blocks;
    this.#abort = abort;
  }

  put(page: StreamPage): Promise<void> {
    return this.#whole(async () => {
      await this.#encoding.put(page);
      if (this.#blocks.waiting >= blockBytes) await this.#blocks.writeTo(this.#handle);
    });
  }

  finish(): Promise<PartFacts> {
    return this.#whole(async () => {
      await this.#encoding.end();
      await this.#blocks.writeTo(this.#handle);
      await this.#handle.datasync();
      await this.#close();
      return { bytes: this.#blocks.written, sha256: this.#blocks.hash.digest('hex') };
    });
  }

  async abandon(): Promise<void> {
    this.#abort.abort();
    await this.#close().catch(() => {});
  }

  async #whole<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== null) throw this.#failure.error;
    try {
      return await work();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#handle.close();
  }
}

async function writeAll(handle: FileHandle, chunks: readonly Uint8Array[], size: number): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks as Uint8Array[]);
  // A write that ends early, as on a disk that becomes full, is repeated from there: it goes on or says why it cannot.
  if (bytesWritten < size) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
