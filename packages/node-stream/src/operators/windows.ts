import type { Call } from '@call-attribution/core';
import { ConfigurationError, propertyOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import { type Grouping, type GroupRow, type GroupTable, groupingOptions, groupTables } from './aggregate.ts';
import { type Measure, type Reading, reader } from './measures.ts';
import { Operator } from './operator.ts';

const tumblingOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    ...groupingOptions<T, K, M>().entries,
    /** Length of a window: `1h`, `1d`, `7d` or milliseconds. */
    size: option.duration().required(),
    /**
     * How long a window stays open for late items after its end has passed. The marks of the source say how far time has
     * come; without marks it is the latest item seen, and without `lateness` all windows then close at the end.
     */
    lateness: option.duration(),
    /** What happens to an item whose window has closed: `fail` (default), `drop`, or a function that takes the item. */
    onLate: option.oneOf('fail', 'drop').or(option.callback<(item: NoInfer<T>) => void>()).default('fail'),
    /** A naive time at which a window begins. Default `1970-01-05 00:00:00`, a Monday at midnight. */
    origin: option.string().default('1970-01-05 00:00:00'),
    /** The naive time of an item. Default: `date_added`. */
    time: reading<Reading<NoInfer<T>>>().default('date_added' as Reading<T>),
  });

const slidingOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    ...tumblingOptions<T, K, M>().entries,
    /** Distance from the start of one window to the next; `size` must be a multiple of it. */
    step: option.duration().required(),
  });

/** Settings of `tumbling`. */
export interface TumblingOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M>,
    OptionsOf<typeof tumblingOptions<T, K, M>> {}

/** Settings of `sliding`. */
export interface SlidingOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends TumblingOptions<T, K, M>,
    OptionsOf<typeof slidingOptions<T, K, M>> {}

/** One group of one window. `from` is included, `to` is not; both are naive times as in the records. */
export type WindowRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  from: string;
  to: string;
} & GroupRow<K, M>;

/**
 * Divides time into adjacent windows and emits the groups of each when it closes, the oldest first. Times have no zone: in
 * the night when clocks are set back, one window of an hour holds two hours of calls.
 *
 * @example
 * tumbling({ size: '1d', by: ['channel'], measures: { calls: count() } });
 */
export function tumbling<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  options: TumblingOptions<T, K, M>,
): Operator<T, WindowRow<K, M>> {
  tumblingOptions<T, K, M>().check(options);
  return sliding<M, K, T>({ ...options, step: options.size });
}

/**
 * Overlapping windows of `size`, one every `step`. An item counts in `size / step` of them.
 *
 * @example
 * sliding({ size: '7d', step: '1d', measures: { minutes: sum('talk_minutes') } });
 */
export function sliding<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  options: SlidingOptions<T, K, M>,
): Operator<T, WindowRow<K, M>> {
  const settings = slidingOptions<T, K, M>().read(options);
  const { size, step, lateness = null, onLate } = settings;
  const origin = originOf(settings);
  const timeOf = reader<T>(settings.time);
  const table = groupTables<T, K, M>(settings, ['from', 'to']);

  return new Operator<T, WindowRow<K, M>>(({ emit }) => {
    const open = new Map<number, GroupTable<T, GroupRow<K, M>>>();
    let oldest = Number.POSITIVE_INFINITY;
    let closedBefore = Number.NEGATIVE_INFINITY;
    let marked = false;
    const close = (upTo: number) => {
      closedBefore = Math.max(closedBefore, upTo);
      if (oldest + size > upTo) return;
      for (const start of [...open.keys()].sort((a, b) => a - b)) {
        if (start + size > upTo) break;
        const span = { from: formatNaive(start), to: formatNaive(start + size) };
        for (const row of open.get(start)?.rows() ?? []) emit({ ...span, ...row });
        open.delete(start);
      }
      oldest = open.size > 0 ? Math.min(...open.keys()) : Number.POSITIVE_INFINITY;
    };
    return {
      push(item) {
        const time = parseNaive(timeOf(item));
        if (Number.isNaN(time)) throw noTime(item);
        const last = time - mod(time - origin, step);
        let late = false;
        for (let start = last; start > time - size; start -= step) {
          if (start + size <= closedBefore) {
            late = true;
            break;
          }
          let groups = open.get(start);
          if (groups === undefined) {
            groups = table();
            open.set(start, groups);
            oldest = Math.min(oldest, start);
          }
          groups.add(item);
        }
        if (late) lateItem(item, onLate);
        if (lateness !== null && !marked) close(time - lateness);
      },
      mark({ to }) {
        marked = true;
        if (to !== null) close(parseNaive(to) - (lateness ?? 0));
      },
      end: () => close(Number.POSITIVE_INFINITY),
    };
  });
}

/** The start of one of the windows. Throws when the windows are not laid out as they must be. */
function originOf({ size, step, origin }: { size: number; step: number; origin: string }): number {
  if (!(step >= 1000 && size % step === 0)) {
    throw new ConfigurationError(
      'invalid_option',
      `size ${size} ms and step ${step} ms; expected a step of at least 1s that divides the size`,
    );
  }
  const time = parseNaive(origin);
  if (Number.isNaN(time))
    throw new ConfigurationError('invalid_option', 'origin is not a time; expected YYYY-MM-DD HH:MM:SS');
  return time;
}

function lateItem<T>(item: T, onLate: 'fail' | 'drop' | ((item: T) => void)): void {
  if (typeof onLate === 'function') onLate(item);
  else if (onLate === 'fail') {
    throw new ItemError(
      'late_item',
      `${name(item)} arrived after its window had closed; raise lateness, or set onLate to 'drop' or a function`,
    );
  }
}

function noTime(item: unknown): ItemError {
  return new ItemError(
    'unreadable_time',
    `the time of ${name(item)} cannot be read; expected YYYY-MM-DD HH:MM:SS`,
  );
}

function name(item: unknown): string {
  const sid = propertyOf(item, 'sid');
  return typeof sid === 'string' ? `call ${sid}` : 'an item';
}

/** The remainder that is never negative. */
function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
