import type { Call } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { day, formatNaive, parseNaive, startOfWeek } from '@call-attribution/core/time';
import type { Operator } from './forms.ts';
import { type Grouping, type GroupRow, type GroupTable, groupingOptions, groupTables } from './groups.ts';
import type { Measure } from './measures.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';
import { type ClockState, type TimeOptions, timeOptions, WindowClock } from './window-clock.ts';

const tumblingOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    ...groupingOptions<T, K, M>().entries,
    ...timeOptions<T>().entries,
    /** Length of a window: `1h`, `7d` or milliseconds; or a `day`, `week` (from Monday) or `month` of the calendar. */
    size: option.oneOf('day', 'week', 'month').or(option.duration()).required(),
    /** A naive time at which a window of a fixed length begins. Default `1970-01-05 00:00:00`, a Monday at midnight. */
    origin: option.string().default('1970-01-05 00:00:00'),
  });

/** Settings of `tumbling`. */
export interface TumblingOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M>,
    TimeOptions<T>,
    OptionsOf<typeof tumblingOptions<T, K, M>> {}

/** One group of one window. `from` is included, `to` is not; both are naive times as in the records. */
export type WindowRow<K extends string, M extends Record<string, Measure<unknown, never>>> = {
  from: string;
  to: string;
} & GroupRow<K, M>;

interface TumblingState {
  readonly clock: ClockState;
  readonly open: readonly (readonly [start: number, groups: unknown])[];
}

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
  const read = tumblingOptions<T, K, M>().read(options);
  const { size, origin } = read;
  const spanOf = typeof size === 'number' ? fixed(size, origin) : calendar[size];
  const tables = groupTables<T, K, M>(read, ['from', 'to']);
  const time = new WindowClock<T>(read);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'tumbling',
    settings: { ...time.settings, size, origin, groups: tables.settings },
    unsaved: tables.unsaved,
    begin(state, context) {
      const saved = state as TumblingState | null;
      const clock = time.begin(saved?.clock ?? null, context);
      const open = new Map<number, GroupTable<T, GroupRow<K, M>>>(
        saved?.open.map(([start, groups]) => [start, tables.open(groups)]),
      );
      let first = Math.min(...open.keys());
      // Items mostly come in order of time: the window of one is that of the next.
      let latest: (Span & { readonly groups: GroupTable<T, GroupRow<K, M>> }) | null = null;
      const close = (out: WindowRow<K, M>[]): void => {
        const { closed } = clock;
        if (!(first < closed) || spanOf(first).to > closed) return;
        latest = null;
        for (const start of [...open.keys()].sort((a, b) => a - b)) {
          const { to } = spanOf(start);
          if (to > closed) break;
          const span = { from: formatNaive(start), to: formatNaive(to) };
          for (const row of open.get(start)?.rows() ?? []) out.push({ ...span, ...row });
          open.delete(start);
        }
        first = Math.min(...open.keys());
      };
      return {
        take: each((item, out) => {
          const at = clock.timeOf(item);
          if (at === null) return;
          if (latest === null || at < latest.from || at >= latest.to) {
            const { from, to } = spanOf(at);
            if (to <= clock.closed) return clock.late(item);
            let groups = open.get(from);
            if (groups === undefined) {
              groups = tables.open();
              open.set(from, groups);
              first = Math.min(first, from);
            }
            latest = { from, to, groups };
          }
          latest.groups.add(item);
          if (clock.seen(at)) close(out);
        }),
        passed(before) {
          clock.passed(before);
          const out: WindowRow<K, M>[] = [];
          close(out);
          return { out, before: formatNaive(spanOf(clock.closed).from) };
        },
        end() {
          clock.end();
          const out: WindowRow<K, M>[] = [];
          close(out);
          return out;
        },
        save() {
          const groups = [...open].map(([start, table]) => [start, table.save()] as const);
          if (groups.some(([, table]) => table === undefined)) return undefined;
          return { clock: clock.save(), open: groups } satisfies TumblingState;
        },
      };
    },
  });
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Windows of one length. */
function fixed(size: number, origin: string): (time: number) => Span {
  if (!(size >= 1000))
    throw new ConfigurationError('invalid_option', `size is ${size} ms; expected at least 1s`);
  const begin = parseNaive(origin);
  if (Number.isNaN(begin))
    throw new ConfigurationError('invalid_option', 'origin is not a time; expected YYYY-MM-DD HH:MM:SS');
  return (time) => {
    const from = time - mod(time - begin, size);
    return { from, to: from + size };
  };
}

/** Windows of the calendar. Naive times have days of 24 hours. */
const calendar: Readonly<Record<'day' | 'week' | 'month', (time: number) => Span>> = {
  day(time) {
    const from = time - mod(time, day);
    return { from, to: from + day };
  },
  week(time) {
    const from = startOfWeek(time);
    return { from, to: from + 7 * day };
  },
  month(time) {
    const date = new Date(time);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
  },
};

/** The remainder that is never negative. */
function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
