import { Readable } from 'node:stream';

/** A page of a source: its items, and the position after them. */
export interface SourcePage<T> {
  /** The items of a page of anything. */
  readonly items?: readonly T[];
  /** The items of a page of records. */
  readonly records?: readonly T[];
  /** Where to go on after this page. */
  readonly checkpoint: unknown;
  /** All items from before this naive time have come. */
  readonly passed?: string | null;
  /** The slice of time that the page belongs to, and where that ends. */
  readonly slice?: { readonly to: string | null };
  /** The slice is complete with this page: no item from before its end comes later. */
  readonly isLast?: boolean;
}

/** What a source proves of a read. */
export interface ReadProof {
  /** Whether all items were read: it is proved, it is not, or nothing proves either. */
  readonly proof: 'whole' | 'short' | 'unproven';
  /** Why it is not whole. */
  readonly reasons: readonly { readonly code: string }[];
}

/** A source that is read by pages: a stream of calls, a chain, or anything of this form. */
export interface PagedSource<T> {
  /** Its pages, from its beginning or from a position. `parsed`: what comes before a record that cannot be read is given before the error. */
  pages(options?: { readonly checkpoint?: unknown; readonly parsed?: boolean }): AsyncIterable<SourcePage<T>>;
  /** What is proved of the read, once it has ended. */
  readonly verdict?: Promise<ReadProof>;
  /** Where it was told to begin. */
  readonly startsAt?: unknown;
  /** What the read is about, for receipts. */
  readonly facts?: unknown;
  /** Its slices come in order of time, so that `slice` and `isLast` say how far time has come. */
  readonly hasTime?: boolean;
  /** Why it cannot go on from a position; null or absent when it can. */
  readonly unsaved?: string | null;
  /** The signal that ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** What a chain reads. */
export type ChainSource<T> = PagedSource<T> | Iterable<T> | AsyncIterable<T>;

/** Items on their way through a chain. */
export interface Packet<T> {
  readonly items: readonly T[];
  /** Where the source goes on after them; undefined when it has no positions. */
  readonly position?: unknown;
  /** All items from before this naive time have come; null when nothing is known. */
  readonly passed: string | null;
}

/** A source that is being read. */
export interface Inlet<T> {
  /** The next items; null at the end. */
  next(): Promise<Packet<T> | null>;
  /** Ends the source, without waiting for one that is silent. */
  close(): Promise<void>;
}

/** Items of an iterable that are taken together. */
const most = 256;

/** Whether a source is read by pages, and has positions. */
export const isPaged = <T>(source: ChainSource<T>): source is PagedSource<T> =>
  'pages' in source && typeof source.pages === 'function';

/** Opens a source, at its beginning or a position. */
export function openSource<T>(source: ChainSource<T>, from: unknown): Inlet<T> {
  if (isPaged(source))
    return new Pages(source.pages({ parsed: true, ...(from == null ? {} : { checkpoint: from }) }));
  if (Symbol.asyncIterator in source) return new Arrivals(source);
  return new Cuts(source[Symbol.iterator]());
}

class Pages<T> implements Inlet<T> {
  readonly #iterator: AsyncIterator<SourcePage<T>>;

  constructor(pages: AsyncIterable<SourcePage<T>>) {
    this.#iterator = pages[Symbol.asyncIterator]();
  }

  async next(): Promise<Packet<T> | null> {
    const { done, value } = await this.#iterator.next();
    if (done === true) return null;
    const { items, records, checkpoint, passed, slice, isLast } = value;
    const before = passed ?? (isLast === true ? slice?.to : null) ?? null;
    return { items: items ?? records ?? [], position: checkpoint, passed: before };
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}

class Cuts<T> implements Inlet<T> {
  readonly #iterator: Iterator<T>;
  #end: { readonly error?: unknown } | null = null;

  constructor(iterator: Iterator<T>) {
    this.#iterator = iterator;
  }

  async next(): Promise<Packet<T> | null> {
    const items: T[] = [];
    while (this.#end === null && items.length < most) {
      try {
        const { done, value } = this.#iterator.next();
        if (done === true) this.#end = {};
        else items.push(value);
      } catch (error) {
        this.#end = { error };
      }
    }
    // What came before a failure is delivered before it.
    if (items.length > 0) return { items, passed: null };
    if (this.#end !== null && 'error' in this.#end) throw this.#end.error;
    return null;
  }

  async close(): Promise<void> {
    if (this.#end === null) this.#iterator.return?.();
  }
}

/**
 * What an asynchronous source has at hand goes on together, so that operators have something to work on at the same time. A source that
 * pauses is not waited for.
 */
class Arrivals<T> implements Inlet<T> {
  readonly #source: AsyncIterable<T>;
  readonly #iterator: AsyncIterator<T>;
  #items: T[] = [];
  #end: { readonly error?: unknown } | null = null;
  #isPulling = false;
  #isWanted = false;
  #wake: () => void = () => {};

  constructor(source: AsyncIterable<T>) {
    this.#source = source;
    this.#iterator = source[Symbol.asyncIterator]();
  }

  async next(): Promise<Packet<T> | null> {
    this.#isWanted = true;
    this.#pull();
    while (this.#items.length === 0 && this.#end === null)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#items.length < most && this.#end === null)
      await new Promise((resolve) => setImmediate(resolve));
    this.#isWanted = false;
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) return { items, passed: null };
    if (this.#end !== null && 'error' in this.#end) throw this.#end.error;
    return null;
  }

  async close(): Promise<void> {
    if (this.#end !== null) return;
    if (this.#source instanceof Readable) this.#source.destroy();
    const left = Promise.resolve(this.#iterator.return?.()).catch(() => {});
    // A source that was asked and is silent ends by itself.
    if (!this.#isPulling) await left;
  }

  #pull(): void {
    if (this.#isPulling || this.#end !== null) return;
    this.#isPulling = true;
    this.#iterator.next().then(
      ({ done, value }) => {
        this.#isPulling = false;
        if (done === true) this.#end = {};
        else this.#items.push(value);
        this.#wake();
        if (this.#isWanted && this.#items.length < most) this.#pull();
      },
      (error: unknown) => {
        this.#isPulling = false;
        this.#end = { error };
        this.#wake();
      },
    );
  }
}
