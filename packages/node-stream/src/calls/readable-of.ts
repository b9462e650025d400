import type { Readable } from 'node:stream';

/** How the callbacks of a `ReadableOf` run. */
export interface EachOptions {
  /** How many calls of an async callback may run at the same time. The order is kept. Default 1. */
  concurrency?: number | undefined;
  /** Ends the stream when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** A callback of a `ReadableOf`: it gets an item, and a signal that is aborted when the stream ends early. */
export type Each<T, R> = (item: T, options: { signal: AbortSignal }) => R | Promise<R>;

/** The methods that return or take items. */
export interface ItemMethods<T> extends Readable {
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
