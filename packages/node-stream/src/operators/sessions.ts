import type { Call } from '@call-attribution/core';
import { type Duration, formatNaive } from '@call-attribution/core/time';
import { defineOperator } from './chain.ts';
import { type AnyGrouping, type Grouping, GroupKind, type GroupRow, type Groups } from './groups.ts';
import { Heap } from './heap.ts';
import type { Measure } from './measures.ts';
import type { Operator } from './operator.ts';
import { Clock, millisOf, type TimeOptions, timeOf, type WindowRow } from './windows.ts';

/** Settings of `sessions`. */
export interface SessionOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M>,
    TimeOptions<T> {
  /** A session ends where no item of its key comes for this long. */
  gap: Duration;
}

interface Session<T, Row> {
  readonly key: string;
  from: number;
  last: number;
  readonly groups: Groups<T, Row>;
  /** The time at which it may end: when it has grown since, it is looked at again. */
  due: number;
  isOpen: boolean;
}

interface SavedSessions {
  readonly closed: number | null;
  readonly open: readonly (readonly [key: string, from: number, last: number, groups: unknown])[];
}

/**
 * Items of one key that follow each other without a long pause, as one row: `from` is the time of the first item, and `to` that of the
 * last one. Rows come in the order in which the sessions end, page by page.
 *
 * @example
 * sessions({ gap: '30m', by: ['ani'], measures: { calls: count() } });
 */
export function sessions<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  options: SessionOptions<T, K, M>,
): Operator<T, WindowRow<K, M>> {
  type Row = GroupRow<K, M>;
  const gap = millisOf('gap', options.gap, 0);
  const kind = new GroupKind<T, Row>(options as AnyGrouping<T>, ['from', 'to']);
  const { settings, fields, unsaved } = kind.shape;
  const time = timeOf(options as TimeOptions<T>);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'sessions',
    settings: { gap, ...time.settings, groups: settings },
    fields: [...time.fields, ...fields],
    unsaved,
    begin(state, { hasTime }) {
      const saved = state as SavedSessions | null;
      const clock = new Clock(time, hasTime, saved?.closed ?? null);
      const byKey = new Map<string, Session<T, Row>[]>();
      const dues = new Heap<Session<T, Row>>((a, b) => a.due < b.due);
      const open = (key: string, from: number, last: number, groups: Groups<T, Row>): Session<T, Row> => {
        const session = { key, from, last, groups, due: last + gap, isOpen: true };
        const same = byKey.get(key);
        if (same === undefined) byKey.set(key, [session]);
        else same.push(session);
        dues.push(session);
        return session;
      };
      const remove = (session: Session<T, Row>): void => {
        session.isOpen = false;
        const rest = (byKey.get(session.key) ?? []).filter(({ isOpen }) => isOpen);
        if (rest.length === 0) byKey.delete(session.key);
        else byKey.set(session.key, rest);
      };
      for (const [key, from, last, groups] of saved?.open ?? []) open(key, from, last, kind.open(groups));

      const take = (item: T): void => {
        const at = clock.timeOf(item);
        const key = JSON.stringify(kind.keyOf(item));
        const touched = (byKey.get(key) ?? []).filter(({ from, last }) => at > from - gap && at < last + gap);
        if (touched.length === 0 && at + gap <= clock.closed) return void clock.late(item);
        const [session = open(key, at, at, kind.open()), ...others] = touched;
        session.groups.add(item);
        session.from = Math.min(session.from, at);
        session.last = Math.max(session.last, at);
        // The item closes the pause between sessions that were apart.
        for (const other of others) {
          session.from = Math.min(session.from, other.from);
          session.last = Math.max(session.last, other.last);
          session.groups.merge(other.groups.save());
          remove(other);
        }
        clock.seen(at);
      };
      /** Ends the sessions whose pause has passed. */
      const close = (): WindowRow<K, M>[] => {
        const ended: Session<T, Row>[] = [];
        for (let first = dues.top; first !== undefined && first.due <= clock.closed; first = dues.top) {
          dues.pop();
          if (!first.isOpen) continue;
          first.due = first.last + gap;
          if (first.due > clock.closed) dues.push(first);
          else {
            ended.push(first);
            remove(first);
          }
        }
        ended.sort((a, b) => a.last - b.last || a.from - b.from || (a.key < b.key ? -1 : 1));
        return ended.flatMap(({ from, last, groups }) =>
          groups.rows().map((row) => ({ from: formatNaive(from), to: formatNaive(last), ...row })),
        );
      };
      return {
        page(items, passed) {
          for (const item of items) take(item);
          return clock.pass(passed) ? close() : [];
        },
        end() {
          clock.closed = Number.POSITIVE_INFINITY;
          return close();
        },
        save(): SavedSessions {
          const all = [...byKey.values()].flat();
          return {
            ...clock.save(),
            open: all.map(({ key, from, last, groups }) => [key, from, last, groups.save()] as const),
          };
        },
      };
    },
  });
}
