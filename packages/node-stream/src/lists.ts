// Any list, read whole: what can be asked for a range of an order. createListReader proves that it
// has everything, as far as the list can be counted, and says what it cannot prove.
import { ConfigurationError } from '@call-attribution/core/errors';
import { checkWhole } from '@call-attribution/core/options';
import { through } from './operators/chain.ts';
import type { Done, Sink } from './operators/operator.ts';
import { leavable } from './operators/sources.ts';
import {
  type Checkpoint,
  type Page,
  type Source,
  type VerdictMethod,
  verdictMethod,
} from './page.ts';
import type { Answer, Ask, Item, ListSource } from './reader/list.ts';
import { Reading } from './reading.ts';
import type { Verdict } from './verdict.ts';

/** What a list is asked for: one page of a range. */
export interface ListRequest {
  /** First position of the range; null when it is open below. It is part of the range. */
  readonly from: number | null;
  /** Where it ends; null when it is open above. The list may include it or not. */
  readonly to: number | null;
  /** The number of the page in the range, from 0. */
  readonly page: number;
  /** Items to ask for. It is 1 when only the total is needed. */
  readonly size: number;
  /**
   * `next` of the page before; null for the first page of a range, and where the list gives none.
   */
  readonly after: string | number | null;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** A page of a list. */
export interface ListPage<T> {
  /** The items, in the order of the API. */
  readonly items: readonly T[];
  /** Items of the whole range, not of the page. Leave it out when the API does not say. */
  readonly total?: number | null | undefined;
  /**
   * What asks for the next page, such as a cursor; null at the end. Leave it out where pages go by
   * number.
   */
  readonly next?: string | number | null | undefined;
}

/** What can be asked for a range of an order. */
export interface List<T> {
  /** Asks for one page of a range. */
  fetch(request: ListRequest): Promise<ListPage<T>>;
  /** What tells an item from all others. */
  id(item: T): string | number;
  /**
   * Where an item lies, such as a time in milliseconds. It must not change. A list without is read
   * as one range.
   */
  position?(item: T): number;
  /** Items of a page. */
  readonly size: number;
  /** Its name, which ties a checkpoint to it. Default: none. */
  readonly name?: string | undefined;
  /**
   * What positions are multiples of: 1000 for milliseconds of an API that knows whole seconds.
   * Default 1.
   */
  readonly step?: number | undefined;
  /**
   * Items of a range that the API gives at most, however many pages are asked for, such as 10,000
   * of a search.
   */
  readonly cap?: number | undefined;
}

interface Listed<T> extends Item {
  readonly item: T;
}

/** Settings of `createListReader`. */
export interface ListReaderOptions {
  /** First position to read. Default: from the first item on. */
  readonly from?: number | null | undefined;
  /** Where to end. Default: with the last item. */
  readonly to?: number | null | undefined;
  /** Where to resume: the checkpoint of an earlier reader of the same list and range. */
  readonly checkpoint?: Checkpoint | null | undefined;
  /** Ranges that are asked for at the same time. Default 4. */
  readonly prefetch?: number | undefined;
  /** Ends the read and its requests. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a list: every item once, one by one, by pages, or through operators. */
export interface ListReader<T> extends Source<T>, AsyncIterable<T> {
  /** What was proved; as of a stream of calls. */
  readonly verdict: VerdictMethod<Verdict<number>>;
  /** Reads everything into a sink, from where an earlier run into it stopped. */
  into<W extends object>(sink: Sink<T, W>): Promise<Done<W>>;
  /** Where to resume: after the last page of which everything was taken. */
  checkpoint(): Checkpoint;
}

/**
 * Reads a list of any API whole: it is cut into ranges that can be proved, several are read at a
 * time, each item comes once, and the verdict says what was proved.
 *
 * @example
 * const orders = createListReader(
 *   { fetch: askForOrders, id: (order) => order.id, position: (order) => Date.parse(order.created_at), size: 100 },
 *   { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) },
 * );
 * for await (const order of orders) console.log(order.id);
 * console.log(orders.verdict().proof); // whole
 */
export function createListReader<T>(list: List<T>, options: ListReaderOptions = {}): ListReader<T> {
  const { size, name = '', step = 1, cap = Number.POSITIVE_INFINITY } = list;
  const { from = null, to = null, checkpoint = null, prefetch = 4, signal = null } = options;
  for (const [each, value] of Object.entries({ size, step, prefetch })) checkWhole(value, each);

  const fetch = async (request: ListRequest): Promise<ListPage<T>> => {
    const page: ListPage<T> | undefined = await list.fetch(request);
    if (Array.isArray(page?.items) && (page.total == null || Number.isSafeInteger(page.total)))
      return page;
    throw new ConfigurationError(
      'invalid_option',
      'The `fetch` of a list returns { items, total, next }.',
    );
  };

  const source: ListSource<Listed<T>> = {
    async ask({ range, rows, ...request }: Ask): Promise<Answer<Listed<T>>> {
      const { items, total = null, next } = await fetch({ ...range, ...request, size: rows });
      return {
        items: items.map((item) => ({
          id: String(list.id(item)),
          at: list.position?.(item) ?? Number.NaN,
          item,
        })),
        // A total that is all that the list tells may stand for more.
        total: total !== null && total >= cap ? Math.max(total, cap + 1) : total,
        next,
      };
    },
  };
  const reading = new Reading<Listed<T>, T>({
    source,
    asked: { from, to },
    rows: size,
    step,
    stray: 0,
    ahead: prefetch,
    until: null,
    of: JSON.stringify([name, from, to]),
    hasPositions: list.position !== undefined,
    spanOf: null,
    *take({ items }) {
      for (const { item } of items) yield item;
      return 0;
    },
    count: async (range, stop) => {
      const { total = null } = await fetch({
        ...range,
        page: 0,
        size: 1,
        after: null,
        signal: stop,
      });
      // A total that is all that the list tells says nothing of a range that holds more.
      return total !== null && total >= cap ? Number.POSITIVE_INFINITY : total;
    },
    checkpoint,
    signal,
    onProgress: undefined,
  });
  const pages = (begin: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> =>
    leavable(reading.pages(begin), () => reading.stop());
  const reader: ListReader<T> = {
    of: reading.options.of,
    calls: null,
    hasTime: false,
    startsAt: checkpoint,
    facts: null,
    signal,
    verdict: verdictMethod(() => reading.verdict()),
    pages,
    into: (sink) => through<T>(reader).into(sink),
    checkpoint: () => reading.place.checkpoint,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of reading.slices()) yield* items;
    },
  };
  return reader;
}
