import { once } from 'node:events';
import { addAbortSignal, Readable } from 'node:stream';
import type { Call, ListQuery, PageItem, RequestOptions } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkNames, checkRequestNames, checkWhole } from '@call-attribution/core/options';
import { printFilter } from '@call-attribution/query-dsl';
import {
  addressOf,
  bytesOf,
  type CallQuery,
  CallSource,
  callQuery,
  callSteps,
  countedUntil,
  linesOf,
  type PageClient,
} from './call-source.ts';
import { CheckpointError } from './errors.ts';
import { chainOf, through } from './operators/chain.ts';
import type { AnyOperator, Chain, Done, Sink, Through } from './operators/operator.ts';
import { leavable } from './operators/sources.ts';
import {
  type Checkpoint,
  type Page,
  type ReadFacts,
  type Source,
  type VerdictMethod,
  verdictMethod,
} from './page.ts';
import type { Slice } from './reader/slices.ts';
import { type DeliveredSlice, type Place, type Progress, Reading, type Taking } from './reading.ts';
import { inTimes, rangeOf, spanOf } from './times.ts';
import type { Span, Verdict } from './verdict.ts';

/** A record that could not be parsed, or that `check` has refused. */
export interface DeadRecord {
  /** The record as it came. It may hold a caller's data. */
  readonly bytes: Uint8Array;
  /** Why it could not be parsed, or what `check` has thrown. */
  readonly error: unknown;
  /** The slice that it came with. */
  readonly slice: Span;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** Record within the page, from 0. */
  readonly index: number;
}

/**
 * Settings of `createCallByteStream`. `timeout`, `retry`, `headers` and `signal` are those of every
 * request.
 */
export interface CallByteStreamOptions
  extends Pick<RequestOptions, 'timeout' | 'retry' | 'headers' | 'signal'>,
    Pick<ListQuery, 'filter'> {
  /** Calls asked for with one request. @default 1000 */
  readonly rows?: number | undefined;
  /** Slices that are asked for at the same time. @default 4 */
  readonly prefetch?: number | undefined;
  /** Where to resume: the checkpoint of an earlier read of the same filter. */
  readonly checkpoint?: Checkpoint | null | undefined;
  /** Called after each page. An error it throws ends the read. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Settings of `createCallStream`. */
export interface CallStreamOptions extends CallByteStreamOptions {
  /**
   * What happens to a record that cannot be parsed: `fail` (default), `skip`, or a function that
   * takes its bytes.
   */
  readonly onError?: 'fail' | 'skip' | ((dead: DeadRecord) => void) | undefined;
  /**
   * Called with each call before it is delivered. One for which it throws is a record like one that
   * cannot be parsed: for calls that a file or a table has no form for.
   */
  readonly check?: ((call: Call) => void) | undefined;
}

const optionNames = Object.keys({
  timeout: 1,
  retry: 1,
  headers: 1,
  signal: 1,
  filter: 1,
  rows: 1,
  prefetch: 1,
  checkpoint: 1,
  onProgress: 1,
  onError: 1,
  check: 1,
} satisfies Record<keyof CallStreamOptions, 1>);

/** The options of a stream with their defaults. */
export function streamSettings<O extends CallStreamOptions>(options: O) {
  const { rows = 1000, prefetch = 4, onError = 'fail' } = options;
  checkRequestNames(options);
  checkWhole(rows, 'rows');
  checkWhole(prefetch, 'prefetch');
  return { ...options, rows, prefetch, onError };
}

type StreamSettings = ReturnType<typeof streamSettings<CallStreamOptions>>;

/**
 * Every call of a query once, as an object-mode Readable or as bytes. Read one once: by items, by
 * pages, or through a pipeline.
 */
export interface CallStream<T = Call> extends Readable, Source<T>, Through<T> {
  /** The items, one by one. */
  [Symbol.asyncIterator](): NodeJS.AsyncIterator<T>;
  /**
   * Whole pages, each with the checkpoint after it. One by one costs less: the items of a page live
   * together.
   */
  pages(from?: Checkpoint | null): AsyncGenerator<Page<T>, void, void>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** Where to resume: after the last page of which everything was taken. */
  checkpoint(): Checkpoint;
  /**
   * What is proved so far: `whole` only when the stream has come to its end. After an error it says
   * which one.
   */
  readonly verdict: VerdictMethod<Verdict>;
  /** What the read is about, for receipts. */
  readonly facts: ReadFacts;
  /** As in its checkpoints. */
  readonly of: string;
}

class Stream<T> extends Readable implements CallStream<T> {
  readonly of: string;
  readonly calls: 'v2' | 'v3' | null;
  readonly hasTime = true;
  readonly startsAt: Checkpoint | null;
  readonly facts: ReadFacts;
  readonly signal: AbortSignal | null;
  readonly verdict: VerdictMethod<Verdict>;
  readonly #reading: Reading<PageItem, T>;
  #readAs: 'items' | 'pages' | null = null;
  #slices: AsyncGenerator<DeliveredSlice<T>, void, void> | null = null;
  #items: Iterator<T, void, void> | null = null;
  #isFilling = false;
  #place: Place;

  constructor(
    client: PageClient,
    query: CallQuery,
    reading: Reading<PageItem, T>,
    isObjects: boolean,
  ) {
    // An item is made when the one before it was taken.
    super({ objectMode: isObjects, highWaterMark: 1 });
    this.#reading = reading;
    this.#place = reading.place;
    this.of = query.of;
    this.calls = isObjects ? client.version : null;
    this.startsAt = reading.options.checkpoint;
    this.signal = reading.options.signal;
    this.verdict = verdictMethod(() => inTimes(reading.verdict()));
    const address = addressOf(client);
    this.facts = {
      address,
      version: client.version,
      filter: printFilter(query.filter),
      ...query.asked,
    };
    if (this.signal !== null) addAbortSignal(this.signal, this);
  }

  checkpoint(): Checkpoint {
    if (this.readableLength === 0) this.#place = this.#reading.place;
    return this.#place.checkpoint;
  }

  pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    this.#claim('pages', from);
    return this.#ended(this.#reading.pages(from));
  }

  override [Symbol.asyncIterator](): NodeJS.AsyncIterator<T> {
    this.#claim('items', null);
    const slices = this.#ended(this.#reading.slices());
    const end = { done: true, value: undefined } as const;
    let items: Iterator<T, void, void> | null = null;

    // Not a generator: what is at hand costs a fraction of what it would pay for each item.
    const next = (): Promise<IteratorResult<T, undefined>> => {
      try {
        const item = items?.next();
        return item?.done === false ? Promise.resolve(item) : more();
      } catch (error) {
        items = null;
        return slices.throw(error).then(() => end);
      }
    };

    const more = async (): Promise<IteratorResult<T, undefined>> => {
      const { done, value } = await slices.next();
      if (done === true) return end;
      items = value.items;
      return next();
    };

    const leave = async (): Promise<IteratorResult<T, undefined>> => {
      items = null;
      await slices.return();
      return end;
    };

    const iterator = {
      next,
      return: leave,
      [Symbol.asyncDispose]: async () => void (await leave()),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Errors reach whoever reads the chain, which may be later. */
  through(...operators: readonly AnyOperator[]): Chain<never> {
    this.on('error', () => {});
    return chainOf(this, operators);
  }

  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>> {
    this.on('error', () => {});
    return through<T>(this).into(sink);
  }

  override _read(): void {
    if (this.#isFilling) return;
    if (this.#slices === null) {
      this.#claim('items', null);
      this.#slices = this.#reading.slices();
    }

    this.#isFilling = true;
    this.#fill(this.#slices).catch((error: unknown) => this.destroy(errorOf(error)));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#reading.stop();
    void this.#slices?.return().catch(() => {});
    done(error);
  }

  /** A stream that was left midway, or has failed, is closed: whoever read it got the error. */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.on('error', () => {});
    this.destroy();
    if (!this.closed) await once(this, 'close');
  }

  /** Pushes items until the reader has enough. */
  async #fill(slices: AsyncGenerator<DeliveredSlice<T>, void, void>): Promise<void> {
    while (!this.destroyed) {
      const item = this.#items?.next();
      if (item?.done === false) {
        if (this.push(item.value)) continue;
        break;
      }
      const { done, value } = await slices.next();
      // All that was pushed has been taken, unless a number of bytes is read at a time.
      if (this.readableLength === 0) this.#place = this.#reading.place;
      if (done === true) {
        this.push(null);
        break;
      }
      this.#items = value.items;
    }
    this.#isFilling = false;
  }

  /** A walk after which the stream ends as one that was read by events does. */
  #ended<X>(walk: AsyncGenerator<X, void, void>): AsyncGenerator<X, void, void> {
    // Errors reach whoever walks.
    this.on('error', () => {});
    return leavable(this.#walked(walk), () => this.#reading.stop());
  }

  async *#walked<X>(walk: AsyncGenerator<X, void, void>): AsyncGenerator<X, void, void> {
    let isLeft = true;
    try {
      yield* walk;
      isLeft = false;
      this.push(null);
      this.read();
    } catch (error) {
      isLeft = false;
      this.destroy(errorOf(error));
      throw error;
    } finally {
      if (isLeft) this.destroy();
    }
  }

  #claim(as: 'items' | 'pages', from: Checkpoint | null): void {
    if (this.#readAs !== null)
      throw new ConfigurationError(
        'invalid_option',
        `This stream is already being read as ${this.#readAs}. Create another one.`,
      );

    if (from === null && this.startsAt !== null && this.startsAt.chain != null)
      throw new CheckpointError(
        'checkpoint_invalid',
        'The checkpoint belongs to a chain of operators, which keep a part of what was read. Read through the same operators: createCallStream(client, { checkpoint }).through(...).',
      );

    this.#readAs = as;
  }
}

const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/**
 * The calls of a slice, parsed and checked one by one. Those that are refused are left out, or end
 * the read.
 */
export function* parsed(
  { items, ...slice }: Slice<PageItem>,
  { onError, check }: Pick<StreamSettings, 'onError' | 'check'>,
): Taking<Call> {
  let left = 0;
  for (const item of items) {
    let call: Call;
    try {
      call = item.read();
      check?.(call);
    } catch (error) {
      if (onError === 'fail') throw error;
      left += 1;
      const place = { slice: spanOf(slice), page: item.page.meta.page, index: item.index };
      if (onError !== 'skip') onError({ bytes: bytesOf(item), error, ...place });
      continue;
    }
    yield call;
  }

  return left;
}

function streamOf<T>(
  client: PageClient,
  options: CallStreamOptions,
  take: (slice: Slice<PageItem>, settings: StreamSettings) => Taking<T>,
  isObjects: boolean,
): CallStream<T> {
  checkNames(options, optionNames);
  const settings = streamSettings(options);
  const { rows, prefetch, checkpoint = null, signal = null, onProgress, filter } = settings;
  const source = new CallSource(client, callQuery(filter, client.version), settings);
  const { of, asked } = source.query;
  const reading = new Reading<PageItem, T>({
    ...callSteps,
    source,
    of,
    asked: rangeOf(asked),
    rows,
    ahead: prefetch,
    checkpoint,
    signal,
    onProgress,
    spanOf,
    until: countedUntil(Date.now()),
    take: (slice) => take(slice, settings),
    count: (range, stop) => source.count(range, stop),
  });
  return new Stream(client, source.query, reading, isObjects);
}

/**
 * Reads every call of a query, once, as an object-mode Readable.
 *
 * @example
 * for await (const call of createCallStream(client, { filter: 'talk_minutes:[2 TO *]' }))
 * console.log(call.sid);
 */
export function createCallStream(client: PageClient, options: CallStreamOptions = {}): CallStream {
  return streamOf(client, options, parsed, true);
}

/**
 * Reads every call of a query, once, as a Readable of NDJSON bytes.
 *
 * @example
 * await createCallByteStream(client).into(fileSink('calls.ndjson', { encode: [], resume: true }));
 */
export function createCallByteStream(
  client: PageClient,
  options: CallByteStreamOptions = {},
): CallStream<Buffer> {
  return streamOf(client, options, lines, false);
}

/** The calls of a slice as lines, together. */
function* lines({ items }: Slice<PageItem>): Taking<Buffer> {
  if (items.length > 0) yield linesOf(items);
  return 0;
}
