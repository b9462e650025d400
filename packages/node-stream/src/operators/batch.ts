import { type Call, type Clock, monotonicClock, sleep } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { atLeastOne } from '../option-kinds.ts';
import type { Operator } from './forms.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';

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

/** Settings of `batch`. A batch comes out as soon as one of the limits is reached. */
export interface BatchOptions<T> extends OptionsOf<typeof batchOptions<T>> {}

/**
 * Gathers items into arrays by count, bytes or time.
 *
 * @example
 * batch({ count: 500, time: '5s' });
 */
export function batch<T = Call>(options: BatchOptions<T> = {}): Operator<T, T[]> {
  const { bytes, sizeOf, time = null, clock, ...settings } = batchOptions<T>().read(options);
  const unlimited = options.bytes === undefined && time === null;
  const { count = unlimited ? 1000 : Number.POSITIVE_INFINITY } = settings;
  return defineOperator<T, T[]>({
    name: 'batch',
    settings: { count: String(count), bytes: String(bytes), time },
    begin(state, { signal }) {
      let items: T[] = Array.isArray(state) ? [...state] : [];
      let size = bytes === Number.POSITIVE_INFINITY ? 0 : items.reduce((sum, item) => sum + sizeOf(item), 0);
      let since = clock.now();
      let timer: Promise<void> | null = null;
      const flush = (out: T[][]) => {
        if (items.length > 0) out.push(items);
        items = [];
        size = 0;
        timer = null;
      };
      const wait = async (limit: number) => {
        await sleep(clock, since + limit - clock.now(), signal).catch(() => {});
      };
      const rest = () => {
        const out: T[][] = [];
        flush(out);
        return out;
      };
      return {
        take: each((item, out) => {
          const itemSize = bytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(item);
          if (size + itemSize > bytes) flush(out);
          if (items.length === 0 && time !== null) since = clock.now();
          items.push(item);
          size += itemSize;
          if (items.length >= count || size >= bytes) flush(out);
        }),
        // Whether the items after them are from the same time, nobody knows.
        passed: () => ({ out: [], before: null }),
        end: rest,
        due() {
          if (time !== null && items.length > 0) timer ??= wait(time);
          return timer;
        },
        tick: () => (time !== null && clock.now() >= since + time ? rest() : []),
        save: () => (items.length === 0 ? null : [...items]),
      };
    },
  });
}
