import type { RawPage } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Mark } from '../checkpoint/mark.ts';
import type { ReadableOf } from '../operators/operator.ts';
import type { TimeSlice } from '../query/time-slice.ts';
import type { Batch } from '../slicing/run.ts';
import type { PageClient } from './call-source.ts';
import { checkClient, type StreamOptions, streamOptions } from './options.ts';
import { SessionStream } from './session-stream.ts';
import { ndjsonOf } from './stream-page.ts';
import type { Verdict } from './verdict.ts';

const byteStreamOptions = defineOptions({
  ...streamOptions.entries,
  /** Nothing is parsed, so there are no records to skip. */
  onError: option.oneOf('fail').default('fail'),
  /**
   * Send a `Mark` after the bytes of each slice, so that a file sink can be resumed. The stream is then in object mode, of
   * buffers and marks. Default false.
   */
  marks: option.flag().default(false),
});

/** Settings of `createCallByteStream`. */
export interface CallByteStreamOptions
  extends Omit<StreamOptions, 'onError'>,
    OptionsOf<typeof byteStreamOptions> {}

/**
 * Every record of a query, once, as lines of JSON exactly as the server sent them, without parsing. Its checkpoint moves
 * page by page: a page counts as taken when all of its bytes were.
 */
export interface CallByteStream<T = Buffer> extends ReadableOf<T> {
  /** Resolves when the stream ends, is left or aborted; rejects with the error that ends it otherwise. */
  readonly verdict: Promise<Verdict>;
  /** Where to resume: covers the pages that the consumer has taken so far. */
  checkpoint(): Checkpoint;
  /** Calls the listener with each chunk. */
  on(event: 'data', listener: (item: T) => void): this;
  /** Calls the listener after each slice. */
  on(event: 'slice', listener: (slice: TimeSlice & { readonly records: number }) => void): this;
  /** Calls the listener before the end. */
  on(event: 'verdict', listener: (verdict: Verdict) => void): this;
  /** Any other event of a Readable. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  on(event: string | symbol, listener: (...args: any[]) => void): this;
}

class LineStream extends SessionStream {
  #lines: Buffer | null = null;
  #batch: Batch<RawPage> | null = null;
  readonly #hasMarks: boolean;

  constructor(client: PageClient, options: CallByteStreamOptions = {}) {
    checkClient(client);
    const { marks, ...settings } = byteStreamOptions.read(options);
    super(client, settings, marks ? { objectMode: true, highWaterMark: 2 } : {});
    this.#hasMarks = marks;
  }

  protected override get heldBack(): number {
    if (this.#lines === null || this.#batch === null) return 0;
    return this.#sizeOf(this.#lines, this.#batch);
  }

  protected override begin(batch: Batch<RawPage>): void {
    this.#batch = batch;
    this.#lines = ndjsonOf(batch);
    this.session.ledger.measure(this.#sizeOf(this.#lines, batch), 'byte');
  }

  protected override feed(): boolean {
    const [lines, batch] = [this.#lines, this.#batch];
    if (lines === null || batch === null) return true;
    this.#lines = null;
    this.#batch = null;
    let wantsMore = lines.length === 0 || this.push(lines);
    if (this.#hasMarks && batch.isLast) wantsMore = this.push(this.markAfter(batch));
    if (batch.isLast) this.announce(batch);
    this.session.report();
    return wantsMore;
  }

  /** What a batch adds to the length of the buffer: bytes, or buffers and marks. */
  #sizeOf(lines: Buffer, { isLast }: Batch): number {
    if (!this.#hasMarks) return lines.length;
    return (lines.length > 0 ? 1 : 0) + (isLast ? 1 : 0);
  }
}

/** Reads every record of a query, once, as a Readable of NDJSON bytes, with a `Mark` after those of each slice. */
export function createCallByteStream(
  client: PageClient,
  options: CallByteStreamOptions & { marks: true },
): CallByteStream<Buffer | Mark>;
/**
 * Reads every record of a query, once, as a Readable of NDJSON bytes.
 *
 * @example
 * await pipeline(createCallByteStream(client), fileSink('calls.ndjson'));
 */
export function createCallByteStream(client: PageClient, options?: CallByteStreamOptions): CallByteStream;
export function createCallByteStream(
  client: PageClient,
  options: CallByteStreamOptions = {},
): CallByteStream<Buffer | Mark> {
  return new LineStream(client, options) as CallByteStream<Buffer | Mark>;
}
