import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { ConfigurationError } from '@call-attribution/core/errors';
import { leavable } from '../leavable.ts';
import type { Checkpoint } from '../reader/checkpoint.ts';
import { type Progress, sizeOf } from '../reader/ledger.ts';
import { Reading } from '../reader/reading.ts';
import type { Batch } from '../reader/run.ts';
import { ListError } from './errors.ts';
import {
  factsOf,
  type List,
  type ListFacts,
  type ListPage,
  type ListReaderOptions,
  type ListReaderSettings,
  listReaderOptions,
} from './list.ts';
import { listSource } from './list-source.ts';
import { type ListVerdict, listVerdictOf } from './list-verdict.ts';

/** Items that were read together, and the checkpoint after them. */
export interface ItemPage<T> {
  /** The items that had not been delivered before. */
  readonly items: readonly T[];
  /** The range that they are part of. */
  readonly range: { readonly from: number | null; readonly to: number | null };
  /** The range is complete with this page. */
  readonly isLast: boolean;
  /** Where to resume once this page has been handled. */
  readonly checkpoint: Checkpoint;
}

/** Reads a list: every item once, by items, by pages or as a stream, one of them. */
export interface ListReader<T> extends AsyncIterable<T> {
  /** What was proved. Resolves when the read ends, is left or aborted; rejects with the error that ends it otherwise. */
  readonly verdict: Promise<ListVerdict>;
  /** The items page by page. `checkpoint`: begin there, instead of where the options say. */
  pages(options?: { checkpoint?: Checkpoint | null }): AsyncGenerator<ItemPage<T>, void, void>;
  /** The items as a Readable in object mode. */
  readable(options?: { highWaterMark?: number }): Readable;
  /** The items as a web stream. */
  toWeb(): ReadableStream<T>;
  /** How far the read has come. */
  progress(): Progress;
  /** Where to resume: covers exactly what was taken so far. */
  checkpoint(): Checkpoint;
}

/**
 * Reads a list of any API whole: it is cut into ranges that can be proved, several are read at a time, each item comes once,
 * and the verdict says what was proved.
 *
 * @example
 * const orders = createListReader(
 *   {
 *     async fetch({ from, to, page, size, signal }) {
 *       const response = await fetch(`${api}/orders?since=${from}&before=${to}&page=${page}&per_page=${size}`, { signal });
 *       return { items: await response.json(), total: Number(response.headers.get('x-total')) };
 *     },
 *     id: (order) => order.id,
 *     position: (order) => Date.parse(order.created_at),
 *     size: 100,
 *   },
 *   { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) },
 * );
 * for await (const order of orders) console.log(order.id);
 * console.log((await orders.verdict).proof); // whole
 */
export function createListReader<T>(list: List<T>, options: ListReaderOptions = {}): ListReader<T> {
  return new Reader(list, factsOf(list), listReaderOptions.read(options));
}

class Reader<T> implements ListReader<T> {
  readonly verdict: Promise<ListVerdict>;
  readonly #list: List<T>;
  readonly #facts: ListFacts;
  readonly #settings: ListReaderSettings;
  #reading: Reading<ListPage<T>>;
  #readAs: string | null = null;
  #readable: Readable | null = null;
  /** Items of the page at hand that were not handed over. */
  #left = 0;
  #isClosed = false;
  #outcome: { resolve(verdict: ListVerdict): void; reject(error: unknown): void } = {
    resolve: () => {},
    reject: () => {},
  };

  constructor(list: List<T>, facts: ListFacts, settings: ListReaderSettings) {
    if (!facts.hasRanges && (settings.from !== null || settings.to !== null))
      throw new ConfigurationError(
        'invalid_option',
        'The list has no ranges (hasRanges: false), so from and to cannot be followed. Leave them out.',
      );
    this.#list = list;
    this.#facts = facts;
    this.#settings = settings;
    this.#reading = this.#open(settings.checkpoint);
    this.verdict = new Promise((resolve, reject) => {
      this.#outcome = { resolve, reject };
    });
    // Without a reader of the verdict, the read's own error still reports the failure.
    this.verdict.catch(() => {});
    settings.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    this.#claim('items');
    return leavable(this.#items(), () => this.#close());
  }

  pages({ checkpoint }: { checkpoint?: Checkpoint | null } = {}): AsyncGenerator<ItemPage<T>, void, void> {
    this.#claim('pages');
    if (checkpoint != null) {
      this.#reading.close();
      this.#reading = this.#open(checkpoint);
    }
    return leavable(this.#pages(), () => this.#close());
  }

  readable({ highWaterMark = 16 }: { highWaterMark?: number } = {}): Readable {
    this.#claim('a stream');
    const items = leavable(this.#items(), () => this.#close());
    const readable = new Readable({
      ...{ objectMode: true, highWaterMark },
      read: () => {
        items.next().then(
          ({ done, value }) => readable.push(done === true ? null : value),
          (error: unknown) => readable.destroy(error instanceof Error ? error : new Error(String(error))),
        );
      },
      destroy: (error, done) => {
        void items.return().catch(() => {});
        done(error);
      },
    });
    this.#readable = readable;
    return readable;
  }

  toWeb(): ReadableStream<T> {
    const readable = this.readable({ highWaterMark: 1 });
    // Errors reach the reader through the web stream. It has no queue of its own, since what is in it would count as taken.
    readable.on('error', () => {});
    return Readable.toWeb(readable, { strategy: { highWaterMark: 0 } });
  }

  progress(): Progress {
    return this.#reading.ledger.progress();
  }

  checkpoint(): Checkpoint {
    this.#reading.ledger.settle(this.#left + (this.#readable?.readableLength ?? 0));
    return this.#reading.taken();
  }

  async *#items(): AsyncGenerator<T, void, void> {
    for await (const { items, batch } of this.#batches()) {
      this.#left = sizeOf(batch);
      this.#reading.ledger.measure(this.#left, 'record');
      for (const item of items) {
        this.#settings.signal?.throwIfAborted();
        this.#left -= 1;
        yield item;
      }
    }
  }

  async *#pages(): AsyncGenerator<ItemPage<T>, void, void> {
    for await (const { items, batch } of this.#batches()) {
      this.#reading.ledger.measure(1, 'page');
      this.#left = 1;
      const { span: range, isLast } = batch;
      yield { items, range, isLast, checkpoint: this.#reading.read() };
      this.#left = 0;
    }
  }

  /** The pages, and what becomes of the read. */
  async *#batches(): AsyncGenerator<{ items: readonly T[]; batch: Batch<ListPage<T>> }, void, void> {
    const reading = this.#reading;
    try {
      this.#settings.signal?.throwIfAborted();
      for (let batch = await reading.next(); batch !== null; batch = await reading.next()) {
        const { keep, page } = batch;
        const items = keep === null ? page.items : keep.flatMap((i) => page.items.slice(i, i + 1));
        reading.report();
        yield { items, batch };
      }
      this.#resolve(true);
    } catch (error) {
      if (!this.#isClosed) {
        this.checkpoint();
        this.#outcome.reject(reading.placed(error));
      }
      throw error;
    } finally {
      this.#close();
    }
  }

  #resolve(isEnd: boolean): void {
    this.checkpoint();
    const { read, taken } = this.#reading.ledger;
    const { delivered } = isEnd ? read : taken;
    this.#outcome.resolve(listVerdictOf(this.#reading.verdict(isEnd), delivered));
  }

  #open(checkpoint: Checkpoint | null | undefined): Reading<ListPage<T>> {
    const { from, to, prefetch, pages, tries, clock, onProgress } = this.#settings;
    const { size, name, hasRanges, step, cap, lag } = this.#facts;
    const source = listSource(this.#list, this.#facts, this.#settings);
    const now = Math.floor(clock.now() / step) * step;
    return new Reading(source, {
      ...{ checkpoint, clock, onProgress },
      hash: createHash('sha256')
        .update(JSON.stringify([name, from, to]))
        .digest('hex')
        .slice(0, 16),
      style: 'half-open',
      place(error, at) {
        if (error instanceof ListError) error.checkpoint = at;
      },
      settings: {
        ...{ axis: source.axis, rows: size, cap, tries, lower: from, upper: to },
        slicePages: hasRanges ? pages : 0,
        sealedBefore: Math.floor((now - lag) / step) * step,
        horizon: now + source.axis.near,
        lookahead: { pages: prefetch, bytes: Number.POSITIVE_INFINITY },
        ...{ hasExclusiveBound: false, isBounded: hasRanges },
        keepsFirst: true,
      },
    });
  }

  #claim(as: string): void {
    this.#readAs ??= as;
    if (this.#readAs === as && this.#readable === null) return;
    throw new ConfigurationError(
      'invalid_option',
      `This list is already being read as ${this.#readAs}. Create another reader to read it as ${as}.`,
    );
  }

  readonly #abort = (): void => this.#close(this.#settings.signal?.reason);

  /** Ends the requests in flight, and the read, unless it has ended. */
  #close(reason?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#settings.signal?.removeEventListener('abort', this.#abort);
    this.#reading.close(reason);
    this.#resolve(false);
  }
}
