import type { Call } from '@call-attribution/core';
import { type Duration, durationMillis, formatNaive } from '@call-attribution/core/time';
import { defineOperator } from './chain.ts';
import { nameOf, namesOf, type Reading, reader } from './fields.ts';
import {
  type AnyGrouping,
  type Grouping,
  GroupKind,
  type GroupRow,
  type Groups,
} from './groups.ts';
import type { Measure } from './measures.ts';
import type { Operator } from './operator.ts';
import { Clock, late, type WindowRow } from './windows.ts';

/** Settings of `sessions`. */
export interface SessionOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M> {
  /** A session ends where no item of its key comes for this long. */
  gap: Duration;
  /** The naive time of an item. Default: `date_added`. */
  time?: Reading<NoInfer<T>>;
}

interface Session<T, Row> {
  from: number;
  last: number;
  readonly groups: Groups<T, Row>;
}

interface SavedSessions {
  readonly closed: number | null;
  readonly open: readonly (readonly [key: string, from: number, last: number, groups: unknown])[];
}

/**
 * Items of one key that follow each other without a long pause, as one row: `from` is the time of
 * the first item, and `to` that of the last one. Rows come in the order in which the sessions end,
 * page by page.
 *
 * @example
 * sessions({ gap: '30m', by: ['ani'], measures: { calls: count() } });
 */
export function sessions<
  M extends Record<string, Measure<unknown, T>>,
  K extends string = never,
  T = Call,
>(options: SessionOptions<T, K, M>): Operator<T, WindowRow<K, M>> {
  type Row = GroupRow<K, M>;
  const { time = 'date_added' as Reading<T> } = options;
  const gap = durationMillis(options.gap, 'gap');
  const kind = new GroupKind<T, Row>(options as AnyGrouping<T>, ['from', 'to']);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'sessions',
    gives: 'other',
    settings: { gap, time: nameOf(time), groups: kind.settings },
    fields: [...namesOf(time), ...kind.fields],
    begin(state) {
      const saved = state as SavedSessions | null;
      const clock = new Clock(reader(time), saved?.closed ?? null);
      const byKey = new Map<string, Session<T, Row>[]>();
      for (const [key, from, last, groups] of saved?.open ?? [])
        byKey.set(key, [...(byKey.get(key) ?? []), { from, last, groups: kind.open(groups) }]);

      /** Items that came since all sessions were looked at. */
      let taken = 0;

      const take = (item: T): void => {
        const at = clock.timeOf(item);
        const key = JSON.stringify(kind.keyOf(item));
        const same = byKey.get(key) ?? [];
        const isTouched = ({ from, last }: Session<T, Row>): boolean =>
          at > from - gap && at < last + gap && last + gap > clock.closed;
        const [first, ...others] = same.filter(isTouched);
        if (first === undefined && at + gap <= clock.closed) throw late(item);
        const session = first ?? { from: at, last: at, groups: kind.open() };
        session.groups.add(item);
        session.from = Math.min(session.from, at);
        session.last = Math.max(session.last, at);

        // The item closes the pause between sessions that were apart.
        for (const other of others) {
          session.from = Math.min(session.from, other.from);
          session.last = Math.max(session.last, other.last);
          session.groups.merge(other.groups.save());
        }

        if (first === undefined) byKey.set(key, [...same, session]);
        else if (others.length > 0)
          byKey.set(
            key,
            same.filter((each) => !others.includes(each)),
          );
      };

      const close = (): WindowRow<K, M>[] => {
        taken = 0;
        const ended: (Session<T, Row> & { readonly key: string })[] = [];
        for (const [key, sessions] of byKey) {
          const rest: Session<T, Row>[] = [];
          for (const session of sessions)
            if (session.last + gap > clock.closed) rest.push(session);
            else ended.push({ ...session, key });
          if (rest.length === 0) byKey.delete(key);
          else if (rest.length < sessions.length) byKey.set(key, rest);
        }

        ended.sort((a, b) => a.last - b.last || a.from - b.from || (a.key < b.key ? -1 : 1));
        return ended.flatMap(({ from, last, groups }) =>
          groups.rows().map((row) => ({ from: formatNaive(from), to: formatNaive(last), ...row })),
        );
      };

      return {
        page(items, passed) {
          for (const item of items) take(item);
          clock.pass(passed);
          taken += items.length;
          // All of them are looked at, and so only after as many items: that stays linear.
          return taken >= byKey.size ? close() : [];
        },
        end() {
          clock.closed = Number.POSITIVE_INFINITY;
          return close();
        },
        save: (): SavedSessions => ({
          closed: clock.saved,
          open: [...byKey].flatMap(([key, sessions]) =>
            sessions.map(({ from, last, groups }) => [key, from, last, groups.save()] as const),
          ),
        }),
      };
    },
  });
}
