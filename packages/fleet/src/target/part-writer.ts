import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { StreamPage } from '@call-attribution/node-stream';
import type { PinnedJob } from '../job/job.ts';
import { beginPartEncoding, blockBytes } from './part-encoding.ts';

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
): Promise<PartWriter> {
  const abort = new AbortController();
  const hash = createHash('sha256');
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let bytes = 0;
  const encoding = beginPartEncoding(shape, abort.signal, (chunk) => {
    waiting.push(chunk);
    waitingBytes += chunk.length;
  });
  const handle = await open(path, 'wx');
  let isOpen = true;
  /** Once something has failed, the bytes are not those that were counted. */
  let failure: { readonly error: unknown } | null = null;

  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const [chunks, size] = [waiting, waitingBytes];
    waiting = [];
    waitingBytes = 0;
    for (const chunk of chunks) hash.update(chunk);
    await writeAll(handle, chunks, size);
    bytes += size;
  };
  const whole = async <T>(work: () => Promise<T>): Promise<T> => {
    if (failure !== null) throw failure.error;
    try {
      return await work();
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
  };

  return {
    path,
    put: (page) =>
      whole(async () => {
        await encoding.put(page);
        if (waitingBytes >= blockBytes) await flush();
      }),
    finish: () =>
      whole(async () => {
        await encoding.end();
        await flush();
        await handle.datasync();
        await close();
        return { bytes, sha256: hash.digest('hex') };
      }),
    async abandon() {
      abort.abort();
      await close().catch(() => {});
    },
  };
}

async function writeAll(handle: FileHandle, chunks: readonly Uint8Array[], size: number): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks as Uint8Array[]);
  // A write that ends early, as on a disk that becomes full, is repeated from there: it goes on or says why it cannot.
  if (bytesWritten < size) await handle.writeFile(Buffer.concat(chunks).subarray(bytesWritten));
}
