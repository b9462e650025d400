import { type Call, type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { type Duration, durationMillis } from '@call-attribution/core/time';
import { Operator } from './operator.ts';

/** Options of `batch`: a batch leaves as soon as one of the limits is reached. */
export interface BatchOptions<T> {
  /** Items in a batch at most. Default 1000 when no other limit is given, else none. */
  count?: number;
  /** Bytes in a batch at most; one item larger than that travels alone. */
  bytes?: number;
  /** Size of one item in bytes. Default the length of its JSON. */
  sizeOf?: (item: T) => number;
  /** How long the first item of a batch waits at most, as milliseconds or '5s'. */
  time?: Duration;
  /** Clock for `time`. Default the machine's. */
  clock?: Clock;
}

/** Gathers items into arrays by count, bytes or time. A mark sends the batch out before it, so batches end with slices. */
export function batch<T = Call>(options: BatchOptions<T> = {}): Operator<T, T[]> {
  const time = options.time === undefined ? null : durationMillis(options.time, 'time');
  const bytes = limit(options.bytes, 'bytes');
  const unlimited = options.bytes === undefined && time === null;
  const count = limit(options.count ?? (unlimited ? 1000 : undefined), 'count');
  const sizeOf = options.sizeOf ?? ((item: T) => Buffer.byteLength(JSON.stringify(item)));
  const clock = options.clock ?? monotonicClock;
  return new Operator<T, T[]>(
    ({ emit, fail, signal }) => {
      let items: T[] = [];
      let size = 0;
      let since = 0;
      let waiting = false;
      const flush = () => {
        if (items.length > 0) emit(items);
        items = [];
        size = 0;
      };
      // One timer at most: when it rings for a batch that has left, it waits on for the batch that followed.
      const watch = async (limitMillis: number) => {
        waiting = true;
        while (items.length > 0) {
          const left = since + limitMillis - clock.now();
          if (left > 0) await sleep(clock, left, signal);
          else flush();
        }
        waiting = false;
      };
      return {
        push(item) {
          const itemSize = bytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(item);
          if (size + itemSize > bytes) flush();
          if (items.length === 0 && time !== null) since = clock.now();
          items.push(item);
          size += itemSize;
          if (items.length >= count || size >= bytes) flush();
          else if (time !== null && !waiting) {
            watch(time).catch((error) => {
              if (!signal.aborted) fail(error);
            });
          }
        },
        mark: flush,
        end: flush,
      };
    },
    { eager: time !== null },
  );
}

function limit(value: number | undefined, name: string): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (value >= 1) return value;
  throw new RangeError(`${name} is ${value}; expected at least 1`);
}
