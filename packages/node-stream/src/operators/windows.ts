import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import {
  type Duration,
  day,
  durationMillis,
  formatNaive,
  hour,
  parseNaive,
  second,
} from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import type { Span } from '../verdict.ts';
import { defineOperator } from './chain.ts';
import { inCall, nameOf, namesOf, type Reading, reader } from './fields.ts';
import {
  type AnyGrouping,
  type Grouping,
  GroupKind,
  type GroupRow,
  type Groups,
} from './groups.ts';
import type { Measure } from './measures.ts';
import type { Operator } from './operator.ts';

/** Settings of `tumbling`. */
export interface TumblingOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M> {
  /**
   * Length of a window: `1h`, `7d` or milliseconds; or a `day`, `week` (from Monday) or `month` of
   * the calendar.
   */
  size: Duration | 'day' | 'week' | 'month';
  /** The naive time of an item. Default: `date_added`. */
  time?: Reading<NoInfer<T>>;
}

/**
 * One group of one window. `from` is included, `to` is not; both are naive times as in the records.
 */
export type WindowRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  from: string;
  to: string;
} & GroupRow<K, M>;

/**
 * Divides time into adjacent windows, and gives the groups of each when it closes, the oldest
 * first. Times have no zone: in the night when clocks are set back, one window of an hour holds two
 * hours of calls.
 *
 * @example
 * tumbling({ size: 'day', by: ['channel'], measures: { calls: count() } });
 */
export function tumbling<
  M extends Record<string, Measure<unknown, T>>,
  K extends string = never,
  T = Call,
>(options: TumblingOptions<T, K, M>): Operator<T, WindowRow<K, M>> {
  const { size, time = 'date_added' as Reading<T> } = options;
  const spanOf = spansOf(size);
  const kind = new GroupKind<T, GroupRow<K, M>>(options as AnyGrouping<T>, ['from', 'to']);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'tumbling',
    gives: 'other',
    settings: { size, time: nameOf(time), groups: kind.settings },
    fields: [...namesOf(time), ...kind.fields],
    begin(state) {
      const saved = state as {
        closed: number | null;
        open: [start: number, groups: unknown][];
      } | null;
      const clock = new Clock(reader(time), saved?.closed ?? null);
      const open = new Map<number, Groups<T, GroupRow<K, M>>>(
        saved?.open.map(([start, groups]) => [start, kind.open(groups)]),
      );

      // Items mostly come in order of time: the window of one is that of the next.
      let latest: (Window & { readonly groups: Groups<T, GroupRow<K, M>> }) | null = null;

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
              if (to <= clock.closed) throw late(item);
              const groups = open.get(from) ?? kind.open();
              open.set(from, groups);
              latest = { from, to, groups };
            }
            latest.groups.add(item);
          }
          return clock.pass(passed) ? close() : [];
        },
        end() {
          clock.closed = Number.POSITIVE_INFINITY;
          return close();
        },
        save: () => ({
          closed: clock.saved,
          open: Array.from(open, ([start, groups]) => [start, groups.save()]),
        }),
      };
    },
  });
}

/** How far time has come in one run. */
export class Clock<T> {
  /** Windows that end here or before are closed. */
  closed: number;
  readonly #read: (item: T) => unknown;

  constructor(read: (item: T) => unknown, closed: number | null) {
    this.#read = read;
    this.closed = closed ?? Number.NEGATIVE_INFINITY;
  }

  timeOf(item: T): number {
    const at = parseNaive(this.#read(item));
    if (!Number.isNaN(at)) return at;
    throw new ItemError(
      'unfit_value',
      `the time${inCall(item)} cannot be read; expected YYYY-MM-DD HH:MM:SS`,
    );
  }

  /** A page has come, and with it all items from before its end. Says whether that closes more. */
  pass(range: Span | null): boolean {
    if (range === null || range.to === null) return false;
    // Where clocks change, calls of an hour before come with a later page.
    const at = parseNaive(range.to) - hour;
    if (!(at > this.closed)) return false;
    this.closed = at;
    return true;
  }

  get saved(): number | null {
    return Number.isFinite(this.closed) ? this.closed : null;
  }
}

/** The error for an item whose window has closed: a function before it has moved its time. */
export const late = (item: unknown): ItemError =>
  new ItemError(
    'unfit_value',
    `an item${inCall(item)} arrived after its window had closed; group first, and change times after it`,
  );

type Window = { readonly from: number; readonly to: number };

/** A Monday at midnight, from which windows of a fixed length are counted. */
const monday = Date.UTC(1970, 0, 5);

const inDays: Readonly<Record<string, number>> = { day, week: 7 * day };

/** The window of a time. Naive times have days of 24 hours. */
function spansOf(size: Duration | 'day' | 'week' | 'month'): (time: number) => Window {
  if (size === 'month')
    return (time) => {
      const date = new Date(time);
      const year = date.getUTCFullYear();
      const month = date.getUTCMonth();
      return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
    };

  const length = durationMillis(inDays[size] ?? (size as Duration), 'size');
  if (length < second)
    throw new ConfigurationError('invalid_option', `size is ${length} ms; expected at least 1 s`);
  return (time) => {
    const from = time - ((((time - monday) % length) + length) % length);
    return { from, to: from + length };
  };
}
