import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import { through } from './chain.ts';
import type { Chain } from './forms.ts';
import { Heap } from './heap.ts';
import { type Reading, reader } from './measures.ts';
import {
  type ChainSource,
  type Inlet,
  isPaged,
  openSource,
  type Packet,
  type SourcePage,
} from './packets.ts';

const mergeOptions = <T>() =>
  defineOptions({
    /**
     * How much older an item may be than the latest one of the same source. Streams of calls say themselves how far time has come,
     * and need none. Default `0s`: sources in order of time.
     */
    lateness: option.duration().default('0s'),
    /** What happens to an item that is older than that: `fail` (default), `drop`, or a function that takes the item. */
    onLate: option.oneOf('fail', 'drop').or(option.callback<(item: NoInfer<T>) => void>()).default('fail'),
    /** The naive time of an item. Default: `date_added`. */
    time: reading<Reading<NoInfer<T>>>().default('date_added' as Reading<T>),
    /** Decides the order of items with the same time. Default: `sid`. */
    tie: reading<Reading<NoInfer<T>>>().default('sid' as Reading<T>),
  });

/** Settings of `mergeOrdered`. */
export interface MergeOptions<T> extends OptionsOf<typeof mergeOptions<T>> {}

/**
 * Merges several sources into one in order of `date_added`, then `sid`: the calls of many accounts as if they were one. It holds what is
 * not safe to pass on yet: items within `lateness`, or those of the slices that streams of calls have begun. A source that fails ends
 * the others, after what came before it.
 *
 * @example
 * mergeOrdered(clients.map((client) => createCallStream(client))).through(tumbling({ size: 'day', measures: { calls: count() } }));
 */
export function mergeOrdered<T = Call>(
  sources: readonly ChainSource<T>[],
  options: MergeOptions<T> = {},
): Chain<T> {
  const settings = mergeOptions<T>().read(options);
  return through({
    hasTime: true,
    unsaved: 'its sources are merged; save one position for each of them',
    pages: () => ({ [Symbol.asyncIterator]: () => new Merge(sources, settings) }),
  });
}

interface Held<T> {
  readonly time: number;
  readonly tie: string;
  readonly item: T;
}

/** One source of a merge. */
interface Lane<T> {
  readonly inlet: Inlet<T>;
  /** The source says itself how far time has come. */
  readonly hasTime: boolean;
  next: Promise<Packet<T> | null> | null;
  /** No item from before this time comes any more. */
  safe: number;
  ended: boolean;
}

class Merge<T> implements AsyncIterator<SourcePage<T>, undefined> {
  readonly #lanes: readonly Lane<T>[];
  readonly #settings: ReadOf<typeof mergeOptions<T>>;
  readonly #held = new Heap<Held<T>>((a, b) => a.time < b.time || (a.time === b.time && a.tie < b.tie));
  readonly #timeOf: (item: T) => unknown;
  readonly #tieOf: (item: T) => unknown;
  #failure: { readonly error: unknown } | null = null;
  #hasEnded = false;

  constructor(sources: readonly ChainSource<T>[], settings: ReadOf<typeof mergeOptions<T>>) {
    this.#settings = settings;
    this.#timeOf = reader<T>(settings.time);
    this.#tieOf = reader<T>(settings.tie);
    this.#lanes = sources.map((source) => ({
      inlet: openSource(source, null),
      hasTime: isPaged(source) && source.hasTime === true,
      next: null,
      safe: Number.NEGATIVE_INFINITY,
      ended: false,
    }));
  }

  async next(): Promise<IteratorResult<SourcePage<T>, undefined>> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#hasEnded) return { done: true, value: undefined };
      const slowest = this.#slowest();
      try {
        if (slowest === null) this.#hasEnded = true;
        else await this.#advance(slowest);
      } catch (error) {
        this.#failure = { error };
        await this.#close();
      }
      const all = this.#hasEnded || this.#failure !== null;
      const safe = all ? Number.POSITIVE_INFINITY : (this.#slowest()?.safe ?? Number.POSITIVE_INFINITY);
      const items: T[] = [];
      while (this.#held.top !== undefined && this.#held.top.time < safe) {
        const first = this.#held.pop();
        if (first !== undefined) items.push(first.item);
      }
      const to = Number.isFinite(safe) ? formatNaive(safe) : null;
      if (items.length > 0)
        return { done: false, value: { items, checkpoint: null, slice: { to }, isLast: true } };
    }
  }

  async return(): Promise<IteratorResult<SourcePage<T>, undefined>> {
    this.#hasEnded = true;
    await this.#close();
    return { done: true, value: undefined };
  }

  /** The source that has come the least far. Null when all have ended. */
  #slowest(): Lane<T> | null {
    return this.#lanes.reduce<Lane<T> | null>(
      (low, lane) => (lane.ended || (low !== null && low.safe <= lane.safe) ? low : lane),
      null,
    );
  }

  async #advance(slowest: Lane<T>): Promise<void> {
    for (const lane of this.#lanes) {
      if (lane.next !== null || lane.ended) continue;
      lane.next = lane.inlet.next();
      // A failure is thrown when it is the turn of this source.
      lane.next.catch(() => {});
    }
    const packet = await slowest.next;
    slowest.next = null;
    if (packet === null) {
      slowest.ended = true;
      return;
    }
    for (const item of packet.items) this.#accept(slowest, item);
    if (packet.passed !== null) slowest.safe = Math.max(slowest.safe, parseNaive(packet.passed));
  }

  #accept(lane: Lane<T>, item: T): void {
    const { lateness, onLate } = this.#settings;
    const time = parseNaive(this.#timeOf(item));
    if (Number.isNaN(time))
      throw new ItemError(
        'unreadable_time',
        `source ${this.#lanes.indexOf(lane)}: the time of an item cannot be read`,
      );
    if (time < lane.safe) {
      if (onLate === 'fail') throw disorder(this.#lanes.indexOf(lane));
      if (onLate !== 'drop') onLate(item);
      return;
    }
    if (!lane.hasTime) lane.safe = Math.max(lane.safe, time - lateness);
    this.#held.push({ time, tie: String(this.#tieOf(item)), item });
  }

  async #close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => (lane.ended ? undefined : lane.inlet.close())));
  }
}

const disorder = (index: number): ItemError =>
  new ItemError(
    'out_of_order',
    `source ${index} is not in order of time; raise lateness, or set onLate to 'drop' or a function`,
  );
