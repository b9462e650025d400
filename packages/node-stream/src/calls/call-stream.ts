import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Call, RawPage } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { through } from '../operators/chain.ts';
import type { Chain, Done, Operator, Sink, Through } from '../operators/forms.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import { sizeOf } from '../reader/ledger.ts';
import type { Batch } from '../reader/run.ts';
import type { Verdict } from '../reader/verdict.ts';
import type { PageClient } from './call-source.ts';
import { checkClient, type StreamOptions, streamOptions } from './options.ts';
import type { ReadFacts } from './read-facts.ts';
import type { ReadableOf } from './readable-of.ts';
import { SessionStream, type Walked } from './session-stream.ts';
import { pageOf, parsed, recordOf, type StreamPage } from './stream-page.ts';
import type { TimeSlice } from './time-slice.ts';

const callStreamOptions = defineOptions({
  ...streamOptions.entries,
  /** Records parsed ahead of the consumer. Default 256. */
  highWaterMark: option.whole(1).default(256),
});

/** Settings of `createCallStream`. */
export interface CallStreamOptions extends StreamOptions, OptionsOf<typeof callStreamOptions> {}

/**
 * Every record of a query, once, as an object-mode Readable. It ends only when each slice was proved complete; otherwise it
 * fails with an `IncompleteError`. It emits `slice` after each slice and `verdict` before its end.
 */
export interface CallStream<T = Call> extends ReadableOf<T>, Through<T> {
  /** Resolves when the stream ends, is left or aborted; rejects with the error that ends it otherwise. */
  readonly verdict: Promise<Verdict>;
  /** Where to resume: covers exactly what the consumer has taken so far. */
  checkpoint(): Checkpoint;
  /**
   * The same records by whole pages, parsed on first use. Read a stream by pages or by records, not both. `checkpoint`: begin
   * there, instead of where the options say. `parsed`: parse a page before it is given. One with a record that cannot be parsed then ends
   * before that record, and the error comes after it; otherwise its `records` throws.
   */
  pages(options?: {
    checkpoint?: Checkpoint | null;
    parsed?: boolean;
  }): AsyncGenerator<StreamPage, void, void>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** What the read is about, for receipts. */
  readonly facts: ReadFacts;
  /** Where the options say that it begins. */
  readonly startsAt: Checkpoint | null;
  /** Its slices come in order of time. */
  readonly hasTime: true;
  /** The signal that ends it. */
  readonly signal: AbortSignal | undefined;
  /** A web stream of records. */
  toWeb(): ReadableStream<T>;
  /** Calls the listener with each record. */
  on(event: 'data', listener: (item: T) => void): this;
  /** Calls the listener after each slice. */
  on(event: 'slice', listener: (slice: TimeSlice & { readonly records: number }) => void): this;
  /** Calls the listener before the end. */
  on(event: 'verdict', listener: (verdict: Verdict) => void): this;
  /** Any other event of a Readable. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  on(event: string | symbol, listener: (...args: any[]) => void): this;
}

class RecordStream extends SessionStream {
  #batch: Batch<RawPage> | null = null;
  #at = 0;
  #readAs: 'records' | 'pages' | null = null;

  constructor(client: PageClient, options: CallStreamOptions = {}) {
    checkClient(client);
    const { highWaterMark, ...settings } = callStreamOptions.read(options);
    super(client, settings, { objectMode: true, highWaterMark });
  }

  pages({
    checkpoint,
    parsed: isParsed = false,
  }: {
    checkpoint?: Checkpoint | null;
    parsed?: boolean;
  } = {}): AsyncGenerator<StreamPage, void, void> {
    if (checkpoint != null && this.#readAs === null) this.beginAt(checkpoint);
    this.#claim('pages');
    return this.walk((batch) => (isParsed ? this.#parsed(batch) : this.#unparsed(batch)));
  }

  // biome-ignore lint/suspicious/noExplicitAny: the types of neighbors are checked by the interface.
  through(...operators: readonly Operator<any, any>[]): Chain<never> {
    // Errors reach the reader of the chain, which may begin to read later than the signal aborts.
    this.on('error', () => {});
    return through(this, ...operators) as Chain<never>;
  }

  into<W extends object>(sink: Sink<Call, W>): Promise<Done<W>> {
    this.on('error', () => {});
    return through<Call>(this).into(sink);
  }

  toWeb(): ReadableStream<Call> {
    // Errors reach the reader through the web stream; a stream that was aborted before it was wrapped has no way there.
    this.on('error', () => {});
    if (this.destroyed) {
      const reason = this.errored ?? new Error('The stream has been closed.');
      return new ReadableStream<Call>({ start: (controller) => controller.error(reason) });
    }
    // Without a queue of its own, since what is in it would count as taken.
    return Readable.toWeb(this, { strategy: { highWaterMark: 0 } });
  }

  #unparsed(batch: Batch<RawPage>): Walked<StreamPage> {
    return this.wholly(() => pageOf(batch, this.session.read(), (from, index) => this.#parse(from, index)));
  }

  #parsed(batch: Batch<RawPage>): Walked<StreamPage> {
    const { session } = this;
    const read = parsed(batch, (from, index) => this.#parse(from, index));
    if (!('error' in read)) return this.wholly(() => pageOf(batch, session.read(), read));
    const { records, left, error } = read;
    const size = records.length + left;
    session.ledger.measure(size, 'record');
    // The position after these records. They count as taken only when the page was.
    session.ledger.settle(left);
    const checkpoint = session.taken();
    session.ledger.settle(size);
    const page = records.length === 0 ? null : pageOf(read.batch, checkpoint, records);
    return { page, left, error };
  }

  #parse(batch: Batch<RawPage>, index: number): Call | null {
    return recordOf(this.session, batch, index);
  }

  override _read(): void {
    this.#claim('records');
    super._read();
  }

  protected override get heldBack(): number {
    const batch = this.#batch;
    return batch === null ? 0 : sizeOf(batch) - this.#at;
  }

  protected override begin(batch: Batch<RawPage>): void {
    const size = sizeOf(batch);
    this.session.ledger.measure(size, 'record');
    this.#batch = batch;
    this.#at = 0;
  }

  protected override feed(): boolean {
    const batch = this.#batch;
    if (batch === null) return true;
    const { keep } = batch;
    const size = sizeOf(batch);
    let wantsMore = true;
    while (wantsMore && this.#at < size) {
      const index = keep?.[this.#at] ?? this.#at;
      const call = this.#parse(batch, index);
      // Only now: the position of a failure is before the record that failed.
      this.#at += 1;
      if (call !== null) wantsMore = this.push(call);
    }
    if (this.#at < size) return false;
    this.#batch = null;
    if (batch.isLast) this.announce(batch);
    this.session.report();
    return wantsMore;
  }

  #claim(as: 'records' | 'pages'): void {
    this.checkBegin();
    this.#readAs ??= as;
    if (this.#readAs === as) return;
    throw new ConfigurationError(
      'invalid_option',
      `This stream is already being read as ${this.#readAs}. Create another one to read it as ${as}.`,
    );
  }
}

/**
 * Reads every record of a query, once, as an object-mode Readable.
 *
 * @example
 * for await (const call of createCallStream(client, { filter: 'talk_minutes:[2 TO *]' })) console.log(call.sid);
 */
export function createCallStream(client: PageClient, options: CallStreamOptions = {}): CallStream {
  return new RecordStream(client, options) as unknown as CallStream;
}
