import { Readable } from 'node:stream';
import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { Mark } from '../checkpoint/mark.ts';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import { Heap } from './heap.ts';
import { type Reading, reader } from './measures.ts';
import type { ReadableOf } from './operator.ts';

const mergeOptions = <T>() =>
  defineOptions({
    /**
     * How much older an item may be than the latest one of the same source: `0s` (default) for sources in order of time, a
     * duration, or `marks` for sources with marks, whose slices may hold any order.
     */
    lateness: option.oneOf('marks').or(option.duration()).default('0s'),
    /** The naive time of an item. Default: `date_added`. */
    time: reading<Reading<T>>().default('date_added' as Reading<T>),
    /** Decides the order of items with the same time. Default: `sid`. */
    tie: reading<Reading<T>>().default('sid' as Reading<T>),
  });

/** Settings of `mergeOrdered`. */
export interface MergeOptions<T> extends OptionsOf<typeof mergeOptions<T>> {}

interface Input<T> {
  readonly source: AsyncIterable<T | Mark> | Iterable<T | Mark>;
  readonly iterator: AsyncIterator<T | Mark> | Iterator<T | Mark>;
  next: Promise<IteratorResult<T | Mark>> | null;
  latest: number;
  ended: boolean;
}

interface Held<T> {
  readonly time: number;
  readonly tie: string;
  readonly item: T;
}

/**
 * Merges several streams with marks into one in order of `date_added`, then `sid`. A mark of the result says how far all of
 * them have come.
 *
 * @example
 * mergeOrdered(clients.map((client) => createCallStream(client, { marks: true })), { lateness: 'marks' });
 */
export function mergeOrdered<T = Call>(
  sources: readonly (AsyncIterable<T | Mark> | Iterable<T | Mark>)[],
  options: MergeOptions<T> & { lateness: 'marks' },
): ReadableOf<T | Mark>;
/**
 * Merges several streams into one in order of `date_added`, then `sid`: the calls of many accounts as if they were one. It
 * holds the items within `lateness` and one item per source. Destroying it ends the sources; a source that fails makes it
 * fail.
 *
 * @example
 * mergeOrdered([sortedCalls, otherCalls], { lateness: '10m' });
 */
export function mergeOrdered<T = Call>(
  sources: readonly (AsyncIterable<T | Mark> | Iterable<T | Mark>)[],
  options?: MergeOptions<T>,
): ReadableOf<T>;
export function mergeOrdered<T = Call>(
  sources: readonly (AsyncIterable<T | Mark> | Iterable<T | Mark>)[],
  options: MergeOptions<T> = {},
): ReadableOf<T> {
  const settings = mergeOptions<T>().read(options);
  const marks = settings.lateness === 'marks';
  const lateness = settings.lateness === 'marks' ? 0 : settings.lateness;
  const timeOf = reader<T>(settings.time);
  const tieOf = reader<T>(settings.tie);
  const held = new Heap<Held<T>>((a, b) => a.time < b.time || (a.time === b.time && a.tie < b.tie));
  const lanes: Input<T>[] = sources.map((source) => ({
    source,
    iterator: Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator](),
    next: null,
    latest: Number.NEGATIVE_INFINITY,
    ended: false,
  }));
  let passed = Number.NEGATIVE_INFINITY;

  const accept = (lane: Input<T>, item: T | Mark) => {
    if (item instanceof Mark) {
      if (marks && item.to !== null) lane.latest = Math.max(lane.latest, parseNaive(item.to));
      return;
    }
    const time = parseNaive(timeOf(item));
    if (Number.isNaN(time))
      throw new ItemError(
        'unreadable_time',
        `source ${lanes.indexOf(lane)}: the time of an item cannot be read`,
      );
    if (time < lane.latest - lateness) throw disorder(lanes.indexOf(lane), marks);
    if (!marks && time > lane.latest) lane.latest = time;
    held.push({ time, tie: String(tieOf(item)), item });
  };
  const take = async (): Promise<T | Mark | null> => {
    for (;;) {
      const slowest = slowestOf(lanes);
      const safe = slowest === null ? Number.POSITIVE_INFINITY : slowest.latest - lateness;
      const { top } = held;
      if (top !== undefined && top.time < safe) {
        held.pop();
        return top.item;
      }
      if (slowest === null) return null;
      if (marks && safe > passed) {
        passed = safe;
        return new Mark({ to: formatNaive(safe) });
      }
      for (const lane of lanes) if (lane.next === null && !lane.ended) lane.next = pull(lane);
      const result = await slowest.next;
      slowest.next = null;
      if (result?.done === false) accept(slowest, result.value);
      else slowest.ended = true;
    }
  };
  return pulled(take, () => {
    for (const lane of lanes) endSource(lane);
  }) as ReadableOf<T>;
}

/** The source that has come the least far. Null when all have ended. */
function slowestOf<T>(lanes: readonly Input<T>[]): Input<T> | null {
  return lanes.reduce<Input<T> | null>(
    (low, lane) => (lane.ended || (low !== null && low.latest <= lane.latest) ? low : lane),
    null,
  );
}

function pull<T>({ iterator }: Input<T>): Promise<IteratorResult<T | Mark>> {
  const next = Promise.resolve(iterator.next());
  // A failure is thrown when it is the turn of this source.
  next.catch(() => {});
  return next;
}

function pulled<T>(take: () => Promise<T | null>, end: () => void): Readable {
  let busy = false;
  let wanted = false;
  const fill = async () => {
    busy = true;
    while (wanted && !readable.destroyed) {
      const item = await take();
      // A reader may want more from inside the push.
      wanted = false;
      if (readable.push(item) && item !== null) wanted = true;
    }
    busy = false;
  };
  const readable = new Readable({
    objectMode: true,
    read() {
      wanted = true;
      if (!busy) fill().catch((error) => readable.destroy(error));
    },
    destroy(error, callback) {
      end();
      callback(error);
    },
  });
  return readable;
}

function endSource<T>(lane: Input<T>): void {
  if (lane.source instanceof Readable) lane.source.destroy();
  else if (!lane.ended) void Promise.resolve(lane.iterator.return?.()).catch(() => {});
}

function disorder(index: number, marks: boolean): ItemError {
  const advice = marks
    ? 'its marks came too early'
    : "raise lateness, or use 'marks' with sources that have them";
  return new ItemError('out_of_order', `source ${index} is not in order of time; ${advice}`);
}
