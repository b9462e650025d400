import type { RawPage } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { through } from '../operators/chain.ts';
import type { Done, Sink } from '../operators/forms.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Batch } from '../reader/run.ts';
import type { Verdict } from '../reader/verdict.ts';
import type { PageClient } from './call-source.ts';
import { checkClient, type StreamOptions, streamOptions } from './options.ts';
import type { ReadableOf } from './readable-of.ts';
import { SessionStream } from './session-stream.ts';
import { ndjsonOf } from './stream-page.ts';
import { type TimeSlice, timeSliceOf } from './time-slice.ts';

const byteStreamOptions = defineOptions({
  ...streamOptions.entries,
  /** Nothing is parsed, so there are no records to skip. */
  onError: option.oneOf('fail').default('fail'),
});

/** Settings of `createCallByteStream`. */
export interface CallByteStreamOptions
  extends Omit<StreamOptions, 'onError'>,
    OptionsOf<typeof byteStreamOptions> {}

/** The lines of a page. */
export interface LinePage {
  /** The lines in one piece; none for an empty page. */
  readonly items: readonly Uint8Array[];
  /** Where to resume once this page has been handled. */
  readonly checkpoint: Checkpoint;
  /** The slice it is part of. */
  readonly slice: TimeSlice;
  /** The slice is complete with this page. */
  readonly isLast: boolean;
}

/**
 * Every record of a query, once, as lines of JSON exactly as the server sent them, without parsing. Its checkpoint moves
 * page by page: a page counts as taken when all of its bytes were.
 */
export interface CallByteStream<T = Buffer> extends ReadableOf<T> {
  /** Resolves when the stream ends, is left or aborted; rejects with the error that ends it otherwise. */
  readonly verdict: Promise<Verdict>;
  /** Where to resume: covers the pages that the consumer has taken so far. */
  checkpoint(): Checkpoint;
  /** The same lines by whole pages. `checkpoint`: begin there, instead of where the options say. */
  pages(options?: { checkpoint?: Checkpoint | null }): AsyncGenerator<LinePage, void, void>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<Uint8Array, W>): Promise<Done<W>>;
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

  constructor(client: PageClient, options: CallByteStreamOptions = {}) {
    checkClient(client);
    super(client, byteStreamOptions.read(options), {});
  }

  pages({ checkpoint }: { checkpoint?: Checkpoint | null } = {}): AsyncGenerator<LinePage, void, void> {
    if (checkpoint != null) this.beginAt(checkpoint);
    this.checkBegin();
    return this.walk((batch) =>
      this.wholly(() => ({
        items: [ndjsonOf(batch)].filter(({ length }) => length > 0),
        checkpoint: this.session.read(),
        slice: timeSliceOf(batch.span),
        isLast: batch.isLast,
      })),
    );
  }

  into<W extends object>(sink: Sink<Uint8Array, W>): Promise<Done<W>> {
    return through<Uint8Array>(this).into(sink);
  }

  protected override get heldBack(): number {
    if (this.#lines === null || this.#batch === null) return 0;
    return this.#lines.length;
  }

  protected override begin(batch: Batch<RawPage>): void {
    this.#batch = batch;
    this.#lines = ndjsonOf(batch);
    this.session.ledger.measure(this.#lines.length, 'byte');
  }

  protected override feed(): boolean {
    const [lines, batch] = [this.#lines, this.#batch];
    if (lines === null || batch === null) return true;
    this.#lines = null;
    this.#batch = null;
    const wantsMore = lines.length === 0 || this.push(lines);
    if (batch.isLast) this.announce(batch);
    this.session.report();
    return wantsMore;
  }
}

/**
 * Reads every record of a query, once, as a Readable of NDJSON bytes.
 *
 * @example
 * await createCallByteStream(client).into(fileSink('calls.ndjson', { resume: true }));
 */
export function createCallByteStream(
  client: PageClient,
  options: CallByteStreamOptions = {},
): CallByteStream {
  return new LineStream(client, options) as unknown as CallByteStream;
}
