import { once } from 'node:events';
import { addAbortSignal, Readable } from 'node:stream';
import type { Call, ListQuery, RequestOptions } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkNames, checkRequestNames, checkWhole } from '@call-attribution/core/options';
import { formatNaive } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import {
  addressOf,
  bytesOf,
  type CallQuery,
  CallSource,
  callQuery,
  callSteps,
  linesOf,
  numberOf,
  type PageClient,
  parsed,
  type RawRecord,
  zones,
} from './call-source.ts';
import { CheckpointError } from './errors.ts';
import { through } from './operators/chain.ts';
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
import type { Span, Verdict } from './proof.ts';
import { type Place, type Progress, Reading, type Taking, takingOf } from './reading.ts';

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
  /** Errors reach whoever reads the chain, which may be later. */
  readonly through: Through<T>['through'] = (...operators: readonly AnyOperator[]) => {
    this.on('error', () => {});
    return through(this, ...operators) as Chain<never>;
  };
  readonly #reading: Reading<RawRecord, T, string>;
  #readAs: 'items' | 'pages' | null = null;
  #portions: AsyncGenerator<Taking<T>, void, void> | null = null;
  #portion: Taking<T> | null = null;
  #isFilling = false;
  #place: Place;

  constructor(
    client: PageClient,
    query: CallQuery,
    reading: Reading<RawRecord, T, string>,
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
    this.verdict = verdictMethod(() => reading.verdict());
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
    const portions = this.#ended(this.#reading.portions());
    let portion: Taking<T> | null = null;

    // Not a generator: what is at hand costs a fraction of what it would pay for each item.
    const next = (): Promise<IteratorResult<T, undefined>> => {
      try {
        const value = portion?.next();
        return value === undefined ? more() : Promise.resolve({ done: false, value });
      } catch (error) {
        portion = null;
        return portions.throw(error) as Promise<never>;
      }
    };

    const more = async (): Promise<IteratorResult<T, undefined>> => {
      const { done, value } = await portions.next();
      if (done === true) return { done: true, value: undefined };
      portion = value;
      return next();
    };

    const leave = async (): Promise<IteratorResult<T, undefined>> => {
      portion = null;
      await portions.return();
      return { done: true, value: undefined };
    };

    return {
      next,
      return: leave,
      [Symbol.asyncIterator]: () => ({ next, return: leave }) as never,
    } as never;
  }

  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>> {
    this.on('error', () => {});
    return through<T>(this).into(sink);
  }

  override _read(): void {
    if (this.#isFilling) return;
    if (this.#portions === null) {
      this.#claim('items', null);
      this.#portions = this.#reading.portions();
    }

    this.#isFilling = true;
    this.#fill(this.#portions).catch((error: unknown) =>
      this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#reading.stop();
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
  async #fill(portions: AsyncGenerator<Taking<T>, void, void>): Promise<void> {
    while (!this.destroyed) {
      const item = this.#portion?.next();
      if (item !== undefined) {
        if (this.push(item)) continue;
        break;
      }
      const { done, value } = await portions.next();
      // All that was pushed has been taken, unless a number of bytes is read at a time.
      if (this.readableLength === 0) this.#place = this.#reading.place;
      if (done === true) {
        this.push(null);
        break;
      }
      this.#portion = value;
    }
    this.#isFilling = false;
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
    return leavable(ended.call(this), () => this.#reading.stop());
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

/** Records, parsed and checked one by one. Those that are refused are left out, or end the read. */
export class Parsing implements Taking<Call> {
  left = 0;
  #at = 0;
  readonly #records: readonly RawRecord[];
  readonly #onError: 'fail' | 'skip' | ((dead: DeadRecord) => void);
  readonly #check: ((call: Call) => void) | undefined;

  constructor(
    records: readonly RawRecord[],
    onError: 'fail' | 'skip' | ((dead: DeadRecord) => void),
    check?: (call: Call) => void,
  ) {
    this.#records = records;
    this.#onError = onError;
    this.#check = check;
  }

  next(): Call | undefined {
    for (
      let record = this.#records[this.#at];
      record !== undefined;
      record = this.#records[this.#at]
    ) {
      this.#at += 1;
      try {
        const call = parsed(record);
        this.#check?.(call);
        return call;
      } catch (error) {
        if (this.#onError === 'fail') throw error;
        this.left += 1;
        const { page, index, slice } = record;
        const dead = { bytes: bytesOf(record), error, slice, page: page.meta.page, index };
        if (this.#onError !== 'skip') this.#onError(dead);
      }
    }
    return undefined;
  }
}

function streamOf<T>(
  client: PageClient,
  options: CallStreamOptions,
  take: (records: readonly RawRecord[], settings: ReturnType<typeof streamSettings>) => Taking<T>,
  isObjects: boolean,
): CallStream<T> {
  checkNames(options, optionNames);
  const settings = streamSettings(options);
  const { rows, prefetch, checkpoint = null, signal = null, onProgress, filter } = settings;
  const source = new CallSource(client, callQuery(filter, client.version), settings);
  const { of, asked } = source.query;
  const reading = new Reading<RawRecord, T, string>({
    ...callSteps,
    source,
    of,
    asked,
    rows,
    ahead: prefetch,
    checkpoint,
    signal,
    onProgress,
    read: (time) => numberOf(time) ?? 0,
    spanOf: (span) => source.spanOf(span),
    until: formatNaive(Date.now() - zones),
    take: (records) => take(records, settings),
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
  const { check } = options;
  const take = (records: readonly RawRecord[], { onError }: ReturnType<typeof streamSettings>) =>
    new Parsing(records, onError, check);
  return streamOf<Call>(client, options, take, true);
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
  const take = (records: readonly RawRecord[]) =>
    takingOf(records.length === 0 ? [] : [linesOf(records)]);
  return streamOf<Buffer>(client, options, take, false);
}
