import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import type { Duration } from '@call-attribution/core/time';
import type { Checkpoint } from '../reader/checkpoint.ts';
import type { Progress } from '../reader/ledger.ts';
import type { Cursor } from '../reader/page-view.ts';

/** What a list is asked for: one page of a range. */
export interface ListRequest {
  /** First position of the range; null when it is open below. */
  readonly from: number | null;
  /** Where it ends: not included, unless `bounds` of the list is `closed`. Null when it is open above. */
  readonly to: number | null;
  /** The number of the page in the range, from 0. */
  readonly page: number;
  /** Items to ask for. It is 1 when only the total is needed. */
  readonly size: number;
  /** `next` of the page before; null for the first page of a range, and where the list gives none. */
  readonly after: Cursor | null;
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
   * What the API gives to go on with, such as a cursor or the number of the next page; null at the end of the range. Leave it
   * out when the API does not say: then pages go by `page`.
   */
  readonly next?: Cursor | null | undefined;
}

/** What can be asked for a range of an order: what an API can do, and what it cannot. */
export interface List<T> {
  /** Asks for one page of a range. */
  fetch(request: ListRequest): Promise<ListPage<T>>;
  /** What tells an item from all others. */
  id(item: T): string | number;
  /** Where an item lies in the order that ranges are about, such as a time in milliseconds. It must not change. */
  position(item: T): number;
  /** Items of a page. */
  readonly size: number;
  /** Its name, which ties a checkpoint to it. Default: none. */
  readonly name?: string | undefined;
  /** Whether `from` and `to` are followed. Default true. */
  readonly hasRanges?: boolean | undefined;
  /** Whether `to` is left out of a range (`half-open`) or part of it (`closed`). Default `half-open`. */
  readonly bounds?: 'half-open' | 'closed' | undefined;
  /** What positions are multiples of: 1000 for milliseconds of an API that knows whole seconds. Default 1. */
  readonly step?: number | undefined;
  /** Items of a range that the API gives at most, however many pages are asked for, such as 10,000 of a search. */
  readonly cap?: number | undefined;
  /** How long after its time an item may still appear, as milliseconds or `'10m'`. Default 0. */
  readonly lag?: Duration | undefined;
}

const listOptions = defineOptions({
  fetch: option.callback<List<never>['fetch']>().required(),
  id: option.callback<List<never>['id']>().required(),
  position: option.callback<List<never>['position']>().required(),
  size: option.whole(1).required(),
  name: option.string().default(''),
  hasRanges: option.flag().default(true),
  bounds: option.oneOf('half-open', 'closed').default('half-open'),
  step: option.whole(1).default(1),
  cap: option.whole(1),
  lag: option.duration().default(0),
});

const position = () =>
  option.of<number | null>('a number', (value) => value === null || Number.isFinite(value));

/** The options of `createListReader`. */
export const listReaderOptions = defineOptions({
  /** First position to read. Default: from the first item on. */
  from: position().default(null),
  /** Where to end, not included. Default: with the last item. */
  to: position().default(null),
  /** Where to resume: the checkpoint of an earlier reader of the same list and range. */
  checkpoint: option.anything<Checkpoint | null>(),
  /** Most pages held ahead of the consumer, of several ranges at a time where the list has totals. Default 4. */
  prefetch: option.whole(1).default(4),
  /**
   * Pages that a range may have. More need fewer requests; a range of one page comes in one answer, in which nothing can
   * shift. Default 20.
   */
  pages: option.whole(1).default(20),
  /** Passes over one range before the read fails as incomplete. Default 5. */
  tries: option.whole(1).default(5),
  /** Ends the read and its requests. */
  signal: option.signal(),
  /** Called after each page. An error it throws ends nothing. */
  onProgress: option.callback<(progress: Progress) => void>(),
  /** The clock. Default: that of the machine. */
  clock: option.clock(),
});

/** Settings of `createListReader`. */
export interface ListReaderOptions extends OptionsOf<typeof listReaderOptions> {}
/** The same with the defaults. */
export interface ListReaderSettings extends ReadOf<typeof listReaderOptions> {}

/** What a list says of itself, checked, with the defaults. */
export type ListFacts = Omit<ReadOf<typeof listOptions>, 'fetch' | 'id' | 'position'>;

/** Checks a list before anything is asked. */
export const factsOf = <T>(list: List<T>): ListFacts => listOptions.read(list, 'list.');
