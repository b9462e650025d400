import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import {
  type Duration,
  day,
  formatNaive,
  parseDuration,
  parseNaive,
  startOfWeek,
} from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import type { Range } from '../page.ts';
import { defineOperator } from './chain.ts';
import { inCall, nameOf, namesOf, type Reading, reader } from './fields.ts';
import { type AnyGrouping, type Grouping, GroupKind, type GroupRow, type Groups } from './groups.ts';
import type { Measure } from './measures.ts';
import type { Operator } from './operator.ts';

/** The options about time that all windows have. */
export interface TimeOptions<T> {
  /**
   * How long a window stays open for late items after its end has passed. A stream of calls says itself how far time has come. For
   * other sources it is the latest item seen; without `lateness`, all their windows close at the end.
   */
  lateness?: Duration;
  /** Takes an item whose window has closed. Default: it is an error. */
  onLate?: (item: NoInfer<T>) => void;
  /** The naive time of an item. Default: `date_added`. */
  time?: Reading<NoInfer<T>>;
}

/** Settings of `tumbling`. */
export interface TumblingOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M>,
    TimeOptions<T> {
  /** Length of a window: `1h`, `7d` or milliseconds; or a `day`, `week` (from Monday) or `month` of the calendar. */
  size: Duration | 'day' | 'week' | 'month';
}

/** One group of one window. `from` is included, `to` is not; both are naive times as in the records. */
export type WindowRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  from: string;
  to: string;
} & GroupRow<K, M>;

/**
 * Divides time into adjacent windows, and gives the groups of each when it closes, the oldest first. Times have no zone: in
 * the night when clocks are set back, one window of an hour holds two hours of calls.
 *
 * @example
 * tumbling({ size: 'day', by: ['channel'], measures: { calls: count() } });
 */
export function tumbling<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  options: TumblingOptions<T, K, M>,
): Operator<T, WindowRow<K, M>> {
  const { size } = options;
  const spanOf = spansOf(size);
  const kind = new GroupKind<T, GroupRow<K, M>>(options as AnyGrouping<T>, ['from', 'to']);
  const { settings, fields, unsaved } = kind.shape;
  const time = timeOf(options as TimeOptions<T>);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'tumbling',
    settings: { size, ...time.settings, groups: settings },
    fields: [...time.fields, ...fields],
    unsaved,
    begin(state, { hasTime }) {
      const saved = state as { closed: number | null; open: [start: number, groups: unknown][] } | null;
      const clock = new Clock(time, hasTime, saved?.closed ?? null);
      const open = new Map<number, Groups<T, GroupRow<K, M>>>(
        saved?.open.map(([start, groups]) => [start, kind.open(groups)]),
      );
      // Items mostly come in order of time: the window of one is that of the next.
      let latest: (Span & { readonly groups: Groups<T, GroupRow<K, M>> }) | null = null;
      const close = (): WindowRow<K, M>[] => {
        const out: WindowRow<K, M>[] = [];
        for (const start of [...open.keys()].sort((a, b) => a - b)) {
          const { to } = spanOf(start);
          if (to > clock.closed) break;
          const span = { from: formatNaive(start), to: formatNaive(to) };
          for (const row of open.get(start)?.rows() ?? []) out.push({ ...span, ...row });
          open.delete(start);
          latest = null;
        }
        return out;
      };
      return {
        page(items, passed) {
          for (const item of items) {
            const at = clock.timeOf(item);
            if (latest === null || at < latest.from || at >= latest.to) {
              const { from, to } = spanOf(at);
              if (to <= clock.closed) {
                clock.late(item);
                continue;
              }
              const groups = open.get(from) ?? kind.open();
              open.set(from, groups);
              latest = { from, to, groups };
            }
            latest.groups.add(item);
            clock.seen(at);
          }
          return clock.pass(passed) ? close() : [];
        },
        end() {
          clock.closed = Number.POSITIVE_INFINITY;
          return close();
        },
        save: () => ({
          ...clock.save(),
          open: Array.from(open, ([start, groups]) => [start, groups.save()]),
        }),
      };
    },
  });
}

/** The options about time, ready to be used. */
interface Timing<T> {
  readonly settings: { readonly lateness: number | null; readonly time: string | null };
  readonly fields: readonly string[];
  readonly read: (item: T) => unknown;
  readonly onLate: ((item: T) => void) | undefined;
}

/** Reads the options about time. */
export function timeOf<T>(options: TimeOptions<T>): Timing<T> {
  const { lateness, onLate, time = 'date_added' as Reading<T> } = options;
  return {
    settings: {
      lateness: lateness === undefined ? null : millisOf('lateness', lateness, 0),
      time: nameOf(time),
    },
    fields: namesOf(time),
    read: reader(time),
    onLate,
  };
}

/** A length of time in milliseconds. */
export function millisOf(name: string, value: Duration, least: number): number {
  const millis = typeof value === 'number' ? value : parseDuration(value);
  if (millis >= least && Number.isFinite(millis)) return millis;
  throw new ConfigurationError(
    'invalid_option',
    `${name} is ${JSON.stringify(value)}; expected milliseconds or a string such as '30s', '15m', '1h' or '7d', of at least ${least} ms`,
  );
}

/** How far time has come in one run. */
export class Clock<T> {
  /** Windows that end here or before are closed. */
  closed: number;
  readonly #timing: Timing<T>;
  readonly #hasTime: boolean;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(timing: Timing<T>, hasTime: boolean, closed: number | null) {
    this.#timing = timing;
    this.#hasTime = hasTime;
    this.closed = closed ?? Number.NEGATIVE_INFINITY;
  }

  /** The time of an item. */
  timeOf(item: T): number {
    const at = parseNaive(this.#timing.read(item));
    if (!Number.isNaN(at)) return at;
    throw new ItemError(
      'unfit_value',
      `the time${inCall(item)} cannot be read; expected YYYY-MM-DD HH:MM:SS`,
    );
  }

  /** An item of this time has come. */
  seen(at: number): void {
    if (at > this.#latest) this.#latest = at;
  }

  /** A page has come, and with it all items from before its end. Says whether that closes more. */
  pass(range: Range | null): boolean {
    const { lateness } = this.#timing.settings;
    let at = Number.NEGATIVE_INFINITY;
    if (!this.#hasTime) at = lateness === null ? at : this.#latest - lateness;
    else if (range?.to != null) at = parseNaive(range.to) - (lateness ?? 0);
    if (!(at > this.closed)) return false;
    this.closed = at;
    return true;
  }

  /** An item came after its window had closed. */
  late(item: T): void {
    const { onLate } = this.#timing;
    if (onLate === undefined)
      throw new ItemError(
        'unfit_value',
        `an item${inCall(item)} arrived after its window had closed; raise lateness, or set onLate to a function`,
      );
    onLate(item);
  }

  save(): { readonly closed: number | null } {
    return { closed: Number.isFinite(this.closed) ? this.closed : null };
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A Monday at midnight, from which windows of a fixed length are counted. */
const monday = Date.UTC(1970, 0, 5);

/** The window of a time. Naive times have days of 24 hours. */
function spansOf(size: Duration | 'day' | 'week' | 'month'): (time: number) => Span {
  if (size === 'month')
    return (time) => {
      const date = new Date(time);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
    };
  if (size === 'week')
    return (time) => {
      const from = startOfWeek(time);
      return { from, to: from + 7 * day };
    };
  const length = size === 'day' ? day : millisOf('size', size, 1000);
  return (time) => {
    const from = time - ((((time - monday) % length) + length) % length);
    return { from, to: from + length };
  };
}
