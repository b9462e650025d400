import { type Call, type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { atLeastOne } from '../option-kinds.ts';
import { Operator } from './operator.ts';

const batchOptions = <T>() =>
  defineOptions({
    /** Most items in a batch. Default: 1000 when no other limit is given, else no limit. */
    count: atLeastOne(),
    /** Most bytes in a batch. An item larger than that is a batch of its own. */
    bytes: atLeastOne().default(Number.POSITIVE_INFINITY),
    /** Size of one item in bytes. Default: the length of its JSON. */
    sizeOf: option.callback<(item: T) => number>().default((item) => Buffer.byteLength(JSON.stringify(item))),
    /** How long the first item of a batch may wait: milliseconds, or a string such as `5s`. */
    time: option.duration(),
    /** Where the time comes from, for tests. Default: the machine's clock. */
    clock: option.object<Clock>().default(monotonicClock),
  });

/** Settings of `batch`. A batch is emitted as soon as one of the limits is reached. */
export interface BatchOptions<T> extends OptionsOf<typeof batchOptions<T>> {}

/**
 * Gathers items into arrays by count, bytes or time. A mark ends the batch before it, so that batches end with slices.
 *
 * @example
 * batch({ count: 500, time: '5s' });
 */
export function batch<T = Call>(options: BatchOptions<T> = {}): Operator<T, T[]> {
  const { bytes, sizeOf, time = null, clock, ...settings } = batchOptions<T>().read(options);
  const unlimited = options.bytes === undefined && time === null;
  const { count = unlimited ? 1000 : Number.POSITIVE_INFINITY } = settings;
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
      // One timer at most. When it fires for a batch that was emitted already, it waits for the batch that followed.
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
