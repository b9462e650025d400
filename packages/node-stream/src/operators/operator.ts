import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { Mark } from '../checkpoint/mark.ts';
import type { Kernel, KernelFactory, Outlet } from './kernel.ts';
import { overEager, overPlain } from './over.ts';

/** How the callbacks of a `ReadableOf` run. */
export interface EachOptions {
  /** How many calls of an async callback may run at the same time. The order is kept. Default 1. */
  concurrency?: number | undefined;
  /** Ends the stream when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** A callback of a `ReadableOf`: it gets an item, and a signal that is aborted when the stream ends early. */
export type Each<T, R> = (item: T, options: { signal: AbortSignal }) => R | Promise<R>;

/** The methods that return or take items, as `ReadableOf` and `Operator` have them. */
export interface ItemMethods<T> extends Readable {
  /** Pipes the items through an operator. The result has the type of the items that come out of it. */
  pipe<O>(operator: Operator<Exclude<T, Mark>, O>, options?: { end?: boolean | undefined }): Piped<T, O>;
  /** Pipes the items into any other stream, which is the result. */
  pipe<D extends NodeJS.WritableStream>(destination: D, options?: { end?: boolean | undefined }): D;
  /** Replaces each item. */
  map<O>(fn: Each<T, O>, options?: EachOptions): ReadableOf<O>;
  /** Leaves out the items for which the function returns false. A type guard narrows the type. */
  filter<S extends T>(
    fn: (item: T, options: { signal: AbortSignal }) => item is S,
    options?: EachOptions,
  ): ReadableOf<S>;
  /** Leaves out the items for which the function returns false. */
  filter(fn: Each<T, boolean>, options?: EachOptions): ReadableOf<T>;
  /** Replaces each item with any number of others. */
  flatMap<O>(fn: Each<T, Iterable<O> | AsyncIterable<O>>, options?: EachOptions): ReadableOf<O>;
  /** The items after the first `limit`. */
  drop(limit: number, options?: Pick<EachOptions, 'signal'>): ReadableOf<T>;
  /** The first `limit` items. */
  take(limit: number, options?: Pick<EachOptions, 'signal'>): ReadableOf<T>;
  /** All items, in memory. */
  toArray(options?: Pick<EachOptions, 'signal'>): Promise<T[]>;
  /** Calls a function with each item. */
  forEach(fn: Each<T, void>, options?: EachOptions): Promise<void>;
  /** Is the result true for at least one item? */
  some(fn: Each<T, boolean>, options?: EachOptions): Promise<boolean>;
  /** Is the result true for all items? */
  every(fn: Each<T, boolean>, options?: EachOptions): Promise<boolean>;
  /** The first item of a type. */
  find<S extends T>(
    fn: (item: T, options: { signal: AbortSignal }) => item is S,
    options?: EachOptions,
  ): Promise<S | undefined>;
  /** The first item for which the result is true. */
  find(fn: Each<T, boolean>, options?: EachOptions): Promise<T | undefined>;
  /** Combines all items into one value. Without an initial value the first item is the first `previous`. */
  reduce(fn: (previous: T, item: T, options: { signal: AbortSignal }) => T | Promise<T>): Promise<T>;
  /** Combines all items into one value, beginning with `initial`. */
  reduce<R>(
    fn: (previous: R, item: T, options: { signal: AbortSignal }) => R | Promise<R>,
    initial: R,
    options?: Pick<EachOptions, 'signal'>,
  ): Promise<R>;
  /** Calls the listener with each item. */
  on(event: 'data', listener: (item: T) => void): this;
  /** Any other event of a Readable. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  on(event: string | symbol, listener: (...args: any[]) => void): this;
  /** Calls the listener with the next item. */
  once(event: 'data', listener: (item: T) => void): this;
  /** Any other event of a Readable, once. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  once(event: string | symbol, listener: (...args: any[]) => void): this;
}

/**
 * A Readable that knows the type of its items. In a running program it is an ordinary Readable of Node.js, and it is accepted
 * wherever one is; only the types of the methods that return or take items are narrower.
 *
 * @example
 * const sids: string[] = await createCallStream(client).map((call) => call.sid).toArray();
 */
export interface ReadableOf<T> extends ItemMethods<T> {
  /** The items, one by one. With `destroyOnReturn: false` the stream stays open when the loop is left early. */
  iterator(options?: { destroyOnReturn?: boolean }): NodeJS.AsyncIterator<T>;
  /** The items, one by one. */
  [Symbol.asyncIterator](): NodeJS.AsyncIterator<T>;
}

/** What a stream of `T` becomes behind an operator that emits `O`. Marks pass through, unless the output is bytes. */
export type Piped<T, O> = ReadableOf<
  [Extract<T, Mark>] extends [never] ? O : O extends Uint8Array ? O : O | Mark
>;

/** How the rows that an encoder writes are recognized again, for the receipt of a file. */
export interface RowForm<I> {
  /** The format of the file. */
  readonly format: 'ndjson' | 'json' | 'csv' | 'parquet';
  /** The columns, in order; null where each record has its own fields. */
  readonly fields: readonly string[] | null;
  /** How lines of CSV are cut into cells, and whether the first one names the columns. */
  readonly csv?: { readonly delimiter: string; readonly header: boolean };
  /** What is written of an item, in one form. */
  text(item: I): string;
}

/** How an operator is built. */
export interface OperatorShape<I = never> {
  /** The output is bytes, so marks are not passed on. Default false. */
  bytes?: boolean;
  /** It also emits between inputs, after timers or asynchronous work. Default false, which is faster. */
  eager?: boolean;
  /** Output that was cut off at a mark can be continued; false for formats such as Parquet. Default true. */
  resumable?: boolean;
  /** What a receipt says of the rows. Only encoders of records have it. */
  rows?: RowForm<I>;
}

/**
 * An ordinary Transform for `pipeline` and `pipe`. Its `over(source)` does the same work as an async iterable, without a
 * stream. Piped from a `ReadableOf` it becomes one; iterated itself it is untyped, as the types of `pipeline` require.
 */
export interface Operator<I, O> extends ItemMethods<O>, Omit<Transform, keyof Readable> {
  /** Runs the operator over any iterable, with new state each time. Leaving the loop ends the source too. */
  over(source: Iterable<I> | AsyncIterable<I>): AsyncGenerator<O, void, undefined>;
  /** The same over a source with marks, which are passed on. */
  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined>;
  /** Whether output that was cut off at a mark can be continued. */
  readonly resumable: boolean;
  /** What a receipt says of the rows; null for what does not encode records. */
  readonly rows: RowForm<I> | null;
  /** Begins a run with an outlet of your own, as sinks do for each of their files. */
  begin(outlet: Outlet<O>): Kernel<I>;
  /** Ends the input. */
  end(done?: () => void): this;
  /** Takes the last item. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  end(item: any, done?: () => void): this;
  /** Takes the last item; the encoding is for a string that becomes bytes. */
  // biome-ignore lint/suspicious/noExplicitAny: as Node.js declares it.
  end(item: any, encoding?: BufferEncoding, done?: () => void): this;
  /** The encoding of strings that are written without one. */
  setDefaultEncoding(encoding: BufferEncoding): this;
}

/** Makes an operator of your own. */
export interface OperatorConstructor {
  /** `make` makes the implementation for each run. */
  new <I, O>(make: KernelFactory<I, O>, shape?: OperatorShape<I>): Operator<I, O>;
}

class OperatorTransform<I, O> extends Transform {
  readonly #make: KernelFactory<I, O>;
  readonly #shape: OperatorShape<I>;
  readonly #abort = new AbortController();
  #kernel: Kernel<I> | undefined;
  #held: (() => void) | null = null;

  constructor(make: KernelFactory<I, O>, shape: OperatorShape<I> = {}) {
    super({ writableObjectMode: true, readableObjectMode: shape.bytes !== true });
    this.#make = make;
    this.#shape = shape;
  }

  over(source: Iterable<I | Mark> | AsyncIterable<I | Mark>): AsyncGenerator<O | Mark, void, undefined> {
    if (this.#shape.eager) return overEager(this.#make, source);
    return overPlain(this.#make, source, this.#shape.bytes !== true);
  }

  get resumable(): boolean {
    return this.#shape.resumable !== false;
  }

  get rows(): RowForm<I> | null {
    return this.#shape.rows ?? null;
  }

  begin(outlet: Outlet<O>): Kernel<I> {
    return this.#make(outlet);
  }

  override _transform(item: I | Mark, _encoding: string, callback: TransformCallback): void {
    const kernel = this.#running();
    if (!(item instanceof Mark))
      settle(() => kernel.push(item), this.#shape.eager ? this.#paced(callback) : callback);
    else if (this.#shape.bytes) settle(() => kernel.mark?.(item), callback);
    else
      settle(
        () => kernel.mark?.(item),
        (error) => (error ? callback(error) : callback(null, item)),
      );
  }

  override _read(size: number): void {
    const go = this.#held;
    this.#held = null;
    if (go) go();
    else super._read(size);
  }

  override _flush(callback: TransformCallback): void {
    const kernel = this.#running();
    settle(() => kernel.end?.(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#abort.abort();
    callback(error);
  }

  /** Transform only sees output pushed while an input is handled; later output must delay the next input as well. */
  #paced(callback: TransformCallback): TransformCallback {
    return (error) => {
      if (!error && this.readableLength >= this.readableHighWaterMark) this.#held = callback;
      else callback(error);
    };
  }

  #running(): Kernel<I> {
    this.#kernel ??= this.#make({
      emit: (item) => {
        if (!this.destroyed) this.push(item);
      },
      fail: (error) => this.destroy(error),
      signal: this.#abort.signal,
    });
    return this.#kernel;
  }
}

/**
 * The constructor of operators, for one of your own.
 *
 * @example
 * const longOnes = new Operator<Call, Call>(({ emit }) => ({
 *   push(call) {
 *     if (Number(call.talk_minutes) > 10) emit(call);
 *   },
 * }));
 */
export const Operator = OperatorTransform as unknown as OperatorConstructor;

function settle(work: () => void | Promise<void>, done: (error?: Error | null) => void): void {
  let wait: void | Promise<void>;
  try {
    wait = work();
  } catch (error) {
    done(error as Error);
    return;
  }
  if (wait === undefined) done();
  else wait.then(() => done(), done);
}
