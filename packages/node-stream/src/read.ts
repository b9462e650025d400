import { once } from 'node:events';
import { addAbortSignal, Readable } from 'node:stream';
import type { Call, ListQuery, RequestOptions } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkNames, checkRequestNames, checkWhole } from '@call-attribution/core/options';
import { formatNaive, hour, second } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import {
  bytesOf,
  CallSource,
  callQuery,
  callSteps,
  linesOf,
  numberOf,
  type PageClient,
  parsed,
  type RawRecord,
} from './call-source.ts';
import { CheckpointError } from './errors.ts';
import { through } from './operators/chain.ts';
import type { Chain, Done, Operator, Sink, Through } from './operators/operator.ts';
import { leavable } from './operators/sources.ts';
import type { Checkpoint, Page, Range, ReadFacts, Source } from './page.ts';
import type { Verdict } from './proof.ts';
import { type Place, type Portion, type Progress, pagesOf, Reading } from './reading.ts';

/** A record that could not be parsed. */
export interface DeadRecord {
  /** The record as it came. It may hold a caller's data. */
  readonly bytes: Uint8Array;
  /** Why it could not be parsed. */
  readonly error: unknown;
  /** The slice that it came with. */
  readonly slice: Range;
  /** Page within the slice, from 0. */
  readonly page: number;
  /** Record within the page, from 0. */
  readonly index: number;
}

/** Settings of `createCallByteStream`. `timeout`, `retry`, `headers` and `signal` are those of every request. */
export interface CallByteStreamOptions
  extends Pick<RequestOptions, 'timeout' | 'retry' | 'headers' | 'signal'>,
    Pick<ListQuery, 'filter'> {
  /** Calls asked for with one request. @default 1000 */
  readonly rows?: number | undefined;
  /** Slices that are asked for at the same time. @default 4 */
  readonly prefetch?: number | undefined;
  /** Where to resume: the checkpoint of an earlier read of the same filter. */
  readonly checkpoint?: Checkpoint | null | undefined;
  /** Called after each page. An error it throws ends nothing. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Settings of `createCallStream`. */
export interface CallStreamOptions extends CallByteStreamOptions {
  /** What happens to a record that cannot be parsed: `fail` (default), `skip`, or a function that takes its bytes. */
  readonly onError?: 'fail' | 'skip' | ((dead: DeadRecord) => void) | undefined;
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
} satisfies Record<keyof CallStreamOptions, 1>);

/** The options of a stream with their defaults. */
export function streamSettings<O extends CallStreamOptions>(options: O) {
  const { rows = 1000, prefetch = 4, onError = 'fail' } = options;
  checkRequestNames(options);
  checkWhole(rows, 'rows');
  checkWhole(prefetch, 'prefetch');
  return { ...options, rows, prefetch, onError };
}

/** What both kinds of streams have. Read one once: by items, by pages, or through a pipeline. */
export interface ReadStream<T> extends Readable, Source<T>, Through<T> {
  /** The items, one by one. */
  [Symbol.asyncIterator](): NodeJS.AsyncIterator<T>;
  /** Whole pages, each with the checkpoint after it: the cheapest way to read. */
  pages(from?: Checkpoint | null): AsyncGenerator<Page<T>, void, void>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** Where to resume: after the last page of which everything was taken. */
  checkpoint(): Checkpoint;
  /**
   * What was proved. Resolves when the stream ends or is left, rejects with the error that ends it, and with `not_read` when nothing reads
   * the stream.
   */
  readonly verdict: Promise<Verdict>;
  /** What the read is about, for receipts. */
  readonly facts: ReadFacts;
  /** As in its checkpoints. */
  readonly of: string;
}

/** Every call of a query once, as an object-mode Readable. */
export interface CallStream<T = Call> extends ReadStream<T> {}

/** Every call of a query once, as lines of JSON exactly as the server sent them. */
export interface CallByteStream<T = Buffer> extends ReadStream<T> {}

// No time zone is further from UTC: what is older is older everywhere.
const settled = 14 * hour;

/** What begins a read of calls: for streams, and for syncs. */
function callReading<T>(
  source: CallSource,
  settings: {
    readonly rows: number;
    readonly prefetch: number;
    readonly checkpoint?: Checkpoint | null | undefined;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: Progress) => void) | undefined;
    readonly now?: () => number;
  },
  take: (record: RawRecord) => T | null,
): Reading<RawRecord, T, string> {
  const { rows, prefetch, checkpoint = null, signal = null, onProgress, now = Date.now } = settings;
  return new Reading<RawRecord, T, string>({
    ...callSteps,
    source,
    of: source.query.of,
    asked: source.query.asked,
    read: (time) => numberOf(time) ?? 0,
    spanOf: (span) => source.spanOf(span),
    until: formatNaive(Math.floor((now() - settled) / second) * second),
    take,
    count: (range, stop) => source.count(range, stop),
    rows,
    ahead: prefetch,
    checkpoint,
    signal,
    onProgress,
    now,
  });
}

class Stream<T> extends Readable {
  readonly of: string;
  readonly calls: 'v2' | 'v3' | null;
  readonly hasTime = true;
  readonly startsAt: Checkpoint | null;
  readonly facts: ReadFacts;
  readonly signal: AbortSignal | null;
  readonly verdict: Promise<Verdict>;
  readonly #stop: () => void;
  readonly #open: (from: Checkpoint | null) => Portions<T>;
  #readAs: 'items' | 'pages' | null = null;
  #portions: Portions<T> | null = null;
  #isPulling = false;
  #isWanted = false;
  /** The portion that is being pushed, and how far it was. */
  #portion: Portion<T, string> | null = null;
  #at = 0;
  /** Items that were handed over, and after how many of them pages ended that were not taken yet. */
  #given = 0;
  #ends: { readonly at: number; readonly place: Place }[] = [];
  #place: { readonly checkpoint: Checkpoint };

  constructor(
    client: PageClient,
    { query }: CallSource,
    reading: Reading<RawRecord, unknown, string>,
    open: (from: Checkpoint | null) => Portions<T>,
    isObjects: boolean,
  ) {
    super(isObjects ? { objectMode: true, highWaterMark: 256 } : {});
    this.#stop = () => reading.stop();
    this.#open = open;
    this.#place = reading.place;
    this.of = query.of;
    this.calls = isObjects ? client.version : null;
    this.startsAt = reading.options.checkpoint;
    this.signal = reading.options.signal;
    this.verdict = reading.verdict;
    const address = 'baseUrl' in client && typeof client.baseUrl === 'string' ? client.baseUrl : null;
    this.facts = { address, version: client.version, filter: printFilter(query.filter), ...query.asked };
    if (this.signal !== null) addAbortSignal(this.signal, this);
  }

  checkpoint(): Checkpoint {
    // With an encoding the buffer is counted in characters, of three bytes at most.
    const held = this.readableEncoding === null ? this.readableLength : 3 * this.readableLength;
    const taken = this.#given - held;
    for (let end = this.#ends[0]; end !== undefined && end.at <= taken; end = this.#ends[0]) {
      this.#place = end.place;
      this.#ends.shift();
    }
    return this.#place.checkpoint;
  }

  pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    this.#claim('pages', from);
    return this.#ended(this.#wholePages(from));
  }

  override [Symbol.asyncIterator](): NodeJS.AsyncIterator<T> {
    this.#claim('items', null);
    const portions = this.#ended(this.#open(null));
    let portion: Portion<T, string> | null = null;
    let at = 0;
    // Not a generator: what is at hand costs a fraction of what it would pay for each item.
    const next = (): Promise<IteratorResult<T, undefined>> => {
      try {
        while (portion !== null && at < portion.size) {
          const value = portion.item(at);
          at += 1;
          if (value !== null) return Promise.resolve({ done: false, value });
        }
        return more();
      } catch (error) {
        return portions.throw(error) as Promise<never>;
      }
    };
    const more = async (): Promise<IteratorResult<T, undefined>> => {
      if (portion !== null) this.#place = portion.commit();
      portion = null;
      const { done, value } = await portions.next();
      if (done === true) return { done: true, value: undefined };
      portion = value;
      at = 0;
      return next();
    };
    const leave = async (): Promise<IteratorResult<T, undefined>> => {
      portion = null;
      await portions.return();
      return { done: true, value: undefined };
    };
    return { next, return: leave, [Symbol.asyncIterator]: () => ({ next, return: leave }) as never } as never;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the types of neighbors are checked by the interface.
  through(...operators: readonly Operator<any, any>[]): Chain<never> {
    // Errors reach whoever reads the chain, which may be later.
    this.on('error', () => {});
    return through(this as unknown as Source<T>, ...operators) as Chain<never>;
  }

  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>> {
    this.on('error', () => {});
    return through(this as unknown as Source<T>).into(sink);
  }

  override _read(): void {
    if (this.#portions === null) {
      this.#claim('items', null);
      this.#portions = this.#open(null);
    }
    this.#isWanted = true;
    if (this.#isPulling) return;
    this.#isPulling = true;
    this.#pull(this.#portions).then(
      () => {
        this.#isPulling = false;
        // It was asked for more while the last items were pushed.
        if (this.#isWanted && !this.readableEnded && !this.destroyed) this._read();
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#stop();
    void this.#portions?.return().catch(() => {});
    done(error);
  }

  /** A stream that was left midway, or has failed, is closed: whoever read it got the error. */
  override async [Symbol.asyncDispose](): Promise<void> {
    this.on('error', () => {});
    this.destroy();
    if (!this.closed) await once(this, 'close');
  }

  /** Pushes items until the reader has enough. */
  async #pull(portions: Portions<T>): Promise<void> {
    while (this.#isWanted) {
      if (this.#portion === null) {
        const { done, value } = await portions.next();
        if (this.destroyed) return;
        if (done === true) {
          this.#isWanted = false;
          this.push(null);
          return;
        }
        this.#portion = value;
        this.#at = 0;
      }
      const portion = this.#portion;
      while (this.#isWanted && this.#at < portion.size) {
        const item = portion.item(this.#at);
        this.#at += 1;
        if (item === null) continue;
        this.#given += this.readableObjectMode ? 1 : (item as Buffer).length;
        this.#isWanted = false;
        if (this.push(item)) this.#isWanted = true;
      }
      if (this.#at < portion.size) return;
      this.#ends.push({ at: this.#given, place: portion.commit() });
      this.#portion = null;
    }
  }

  async *#wholePages(from: Checkpoint | null): AsyncGenerator<Page<T>, void, void> {
    for await (const page of pagesOf(this.#open(from))) {
      yield page;
      this.#place = page;
    }
  }

  /** A walk after which the stream ends as one that was read by events does. */
  #ended<X>(walk: AsyncGenerator<X, void, void>): AsyncGenerator<X, void, void> {
    const ended = async function* (this: Stream<T>): AsyncGenerator<X, void, void> {
      let isEnd = false;
      try {
        yield* walk;
        isEnd = true;
        this.push(null);
        this.read();
      } catch (error) {
        isEnd = true;
        this.destroy(error instanceof Error ? error : new Error(String(error)));
        throw error;
      } finally {
        if (!isEnd) this.destroy();
      }
    };
    // Errors reach whoever walks.
    this.on('error', () => {});
    return leavable(ended.call(this), () => this.#stop());
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

type Portions<T> = AsyncGenerator<Portion<T, string>, void, void>;

/** A client, as an option. */

/** A record, parsed; null when it cannot be and is left out. */
export function parsedOr(
  record: RawRecord,
  onError: 'fail' | 'skip' | ((dead: DeadRecord) => void),
): Call | null {
  try {
    return parsed(record);
  } catch (error) {
    if (onError === 'fail') throw error;
    const { page, index, slice } = record;
    if (onError !== 'skip') onError({ bytes: bytesOf(record), error, slice, page: page.meta.page, index });
    return null;
  }
}

/**
 * Reads every call of a query, once, as an object-mode Readable.
 *
 * @example
 * for await (const call of createCallStream(client, { filter: 'talk_minutes:[2 TO *]' })) console.log(call.sid);
 */
export function createCallStream(client: PageClient, options: CallStreamOptions = {}): CallStream {
  checkNames(options, optionNames);
  const settings = streamSettings(options);
  const source = new CallSource(client, callQuery(settings.filter, client.version), settings);
  const reading = callReading<Call>(source, settings, (record) => parsedOr(record, settings.onError));
  const stream = new Stream(client, source, reading, (from) => reading.portions(from), true);
  return stream as unknown as CallStream;
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
): CallByteStream {
  checkNames(options, optionNames);
  const settings = streamSettings(options);
  const source = new CallSource(client, callQuery(settings.filter, client.version), settings);
  const reading = callReading<RawRecord>(source, settings, (record) => record);
  const open = async function* (from: Checkpoint | null): Portions<Buffer> {
    for await (const portion of reading.portions(from)) {
      const records = Array.from({ length: portion.size }, (_, i) => portion.item(i) as RawRecord);
      yield { ...portion, size: Math.min(1, portion.size), item: () => linesOf(records) };
    }
  };
  return new Stream(client, source, reading, open, false) as unknown as CallByteStream;
}
