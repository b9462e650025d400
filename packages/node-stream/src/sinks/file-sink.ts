import { Writable } from 'node:stream';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { Mark } from '../checkpoint/mark.ts';
import { encoding } from '../option-kinds.ts';
import { beginEncoding, type Encoder, type Encoding, encoders } from './encoding.ts';
import { FileRows, type ReceiptMaker } from './file-rows.ts';
import { PartFile, type PartState, readPartState } from './part-file.ts';

const fileSinkOptions = <T>() =>
  defineOptions({
    /** Turns records into bytes. Without it, the sink takes bytes and strings as they are. */
    encode: encoding<Encoding<T>>(),
    /** Continue an unfinished file of the same path: pass `sink.checkpoint` to the source. Default false: start over. */
    resume: option.flag().default(false),
    /** Wait for the disk at each mark and at the end, so that a power failure loses nothing. Default true. */
    durable: option.flag().default(true),
    /**
     * Facts to keep with the checkpoint, as plain JSON: what the file was begun with, for instance. A run that resumes the
     * file finds them in `sink.metadata`.
     */
    metadata: option.anything(),
    /**
     * Write `<path>.receipt.json` next to the complete file: where the records come from, what was proved of the read, how many
     * rows the file has, a digest of them that does not depend on their order, length and SHA-256 of the bytes. `true` takes
     * what is known of the read from the marks of the source. A function gives it instead: it is called at the end with the
     * IDs of the accounts in the records. Default false.
     */
    receipt: option.flag().or(option.callback<ReceiptMaker>()).default(false),
    /** The clock of the receipt. Default: that of the machine. */
    clock: option.clock(),
  });

/** Settings of `fileSink`. */
export interface FileSinkOptions<T> extends OptionsOf<typeof fileSinkOptions<T>> {}

/** A file that appears under its name when it is complete. */
export interface FileSink extends Writable {
  /** The name of the finished file. */
  readonly path: string;
  /** Where the source resumes, for an unfinished file; null when the file is begun from its start. */
  readonly checkpoint: Checkpoint | null;
  /** What the file was begun with: of the earlier run when an unfinished file is resumed, else the option. */
  readonly metadata: unknown;
  /** Bytes of the file so far. */
  readonly bytes: number;
}

type Item<T> = T | Mark | Uint8Array | string;

/**
 * Writes `<path>.partial` and renames it to `path` when it is complete: a reader never sees half a file, and an earlier
 * file stays until then. With `encode` and a source with marks, each mark makes the file durable and saves the position in
 * `<path>.checkpoint`. A run that was cut off, even by SIGKILL, continues with `resume`, without a lost or doubled record.
 * `<path>.lock` keeps a second writer out, on machines that share the folder too. A part that was replaced, shortened or
 * copied since is refused. The receipt of an earlier file is removed when the new one gets its name.
 *
 * @example
 * const file = fileSink('calls.csv', { encode: toCsv(), resume: true });
 * const { checkpoint } = file;
 * await pipeline(createCallStream(client, { checkpoint, marks: true }), file);
 */
export function fileSink<T = unknown>(path: string, options: FileSinkOptions<T> = {}): FileSink {
  const settings = fileSinkOptions<T>().read(options);
  const { resume, encode } = settings;
  if (resume && encode && !encoders(encode).every(({ resumable }) => resumable)) {
    throw new ConfigurationError(
      'invalid_option',
      `${path} cannot be resumed in this format. Write one file per slice with sliceFiles instead.`,
    );
  }
  const state = resume ? readPartState(path) : null;
  return new PartFileSink(path, settings, state, FileRows.of(path, settings, state));
}

class PartFileSink<T> extends Writable implements FileSink {
  readonly path: string;
  readonly checkpoint: Checkpoint | null;
  readonly metadata: unknown;
  readonly #file: PartFile;
  readonly #encoder: Encoder<T> | null;
  readonly #resumable: boolean;
  readonly #state: PartState | null;
  readonly #rows: FileRows<T> | null;
  readonly #abort = new AbortController();
  #isOpen = false;

  constructor(
    path: string,
    { encode, durable, metadata = null }: ReadOf<typeof fileSinkOptions<T>>,
    state: PartState | null,
    rows: FileRows<T> | null,
  ) {
    super({ objectMode: true });
    this.path = path;
    this.checkpoint = state?.checkpoint ?? null;
    this.metadata = state === null ? metadata : (state.metadata ?? null);
    this.#state = state;
    this.#rows = rows;
    this.#file = new PartFile(path, { durable, hash: rows !== null });
    this.#resumable = encode === undefined || encoders(encode).every(({ resumable }) => resumable);
    this.#encoder = encode ? beginEncoding(encode, (state?.bytes ?? 0) > 0, this.#abort.signal) : null;
  }

  get bytes(): number {
    return this.#file.bytes;
  }

  override _write(item: Item<T>, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (!this.#isOpen) {
      this.#open().then(() => this._write(item, encoding, callback), callback);
      return;
    }
    if (this.#encoder !== null && !(item instanceof Mark)) {
      try {
        const bytes = this.#encoder.push(item as T);
        this.#rows?.add(item as T);
        if (Array.isArray(bytes) && bytes.length === 0) callback();
        else this.#save(bytes).then(() => callback(), callback);
      } catch (error) {
        callback(error as Error);
      }
    } else this.#other(item as Mark | Uint8Array | string, encoding).then(() => callback(), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#open()
      .then(() => this.#finish())
      .then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    this.#file.abandon().then(() => callback(error), callback);
  }

  /** Locks and opens the file with the first item: a sink that is never written to leaves everything as it was. */
  async #open(): Promise<void> {
    if (this.#isOpen) return;
    await this.#file.open(this.#state);
    this.#isOpen = true;
  }

  async #other(item: Mark | Uint8Array | string, encoding: BufferEncoding): Promise<void> {
    if (!(item instanceof Mark)) {
      return this.#file.write(typeof item === 'string' ? Buffer.from(item, encoding) : item);
    }
    if (this.#encoder) await this.#save(this.#encoder.mark(item));
    this.#rows?.mark(item);
    if (this.#resumable && item.checkpoint !== null)
      await this.#file.save(item.checkpoint, this.metadata, this.#rows?.state);
  }

  async #save(bytes: Uint8Array[] | Promise<Uint8Array[]>): Promise<void> {
    for (const chunk of await bytes) await this.#file.write(chunk);
  }

  async #finish(): Promise<void> {
    if (this.#encoder) await this.#save(this.#encoder.end());
    const rows = this.#rows;
    await this.#file.finish(this.path, rows === null ? null : (bytes) => rows.receipt(bytes));
  }
}
