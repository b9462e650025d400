import type { Call } from '@call-attribution/core';
import { defineOptions, type OptionsOf, option } from '@call-attribution/core/options';
import { formatNaive } from '@call-attribution/core/time';
import type { Operator } from './forms.ts';
import { type Grouping, type GroupTable, type GroupTables, groupingOptions, groupTables } from './groups.ts';
import type { Measure } from './measures.ts';
import { defineOperator } from './operator.ts';
import { each } from './step.ts';
import { type ClockState, type TimeOptions, timeOptions, WindowClock } from './window-clock.ts';
import type { WindowRow } from './windows.ts';

const sessionOptions = <T, K extends string, M extends Record<string, Measure<unknown, T>>>() =>
  defineOptions({
    ...groupingOptions<T, K, M>().entries,
    ...timeOptions<T>().entries,
    /** A session ends where no item of its key comes for this long. */
    gap: option.duration().required(),
  });

/** Settings of `sessions`. */
export interface SessionOptions<T, K extends string, M extends Record<string, Measure<unknown, T>>>
  extends Grouping<T, K, M>,
    TimeOptions<T>,
    OptionsOf<typeof sessionOptions<T, K, M>> {}

interface Session<T, Row> {
  readonly key: string;
  from: number;
  last: number;
  table: GroupTable<T, Row>;
}

interface SessionState {
  readonly clock: ClockState;
  readonly open: readonly (readonly [key: string, from: number, last: number, groups: unknown])[];
}

/**
 * Items of one key that follow each other without a long pause, as one row: `from` is the time of the first item, and `to` that of the
 * last one. Rows come in the order in which the sessions end.
 *
 * @example
 * sessions({ gap: '30m', by: ['ani'], measures: { calls: count() } });
 */
export function sessions<M extends Record<string, Measure<unknown, T>>, K extends string = never, T = Call>(
  options: SessionOptions<T, K, M>,
): Operator<T, WindowRow<K, M>> {
  const read = sessionOptions<T, K, M>().read(options);
  const { gap } = read;
  const tables = groupTables<T, K, M>(read, ['from', 'to']);
  const time = new WindowClock<T>(read);
  return defineOperator<T, WindowRow<K, M>>({
    name: 'sessions',
    settings: { ...time.settings, gap, groups: tables.settings },
    unsaved: tables.unsaved,
    begin(state, context) {
      const saved = state as SessionState | null;
      const clock = time.begin(saved?.clock ?? null, context);
      const open = new OpenSessions(tables, gap, saved?.open ?? []);
      return {
        take: each((item, out) => {
          const at = clock.timeOf(item);
          if (at === null) return;
          const key = JSON.stringify(tables.keyOf(item));
          if (!open.touches(key, at) && at + gap <= clock.closed) return clock.late(item);
          open.add(item, key, at);
          if (clock.seen(at)) out.push(...open.close(clock.closed));
        }),
        passed(before) {
          clock.passed(before);
          const out = open.close(clock.closed);
          return { out, before: formatNaive(Math.min(clock.closed, open.earliest)) };
        },
        end() {
          clock.end();
          return open.close(clock.closed);
        },
        save() {
          const sessions = open.save();
          return sessions === null
            ? undefined
            : ({ clock: clock.save(), open: sessions } satisfies SessionState);
        },
      };
    },
  });
}

/** The sessions that have not ended, by key. */
class OpenSessions<T, Row> {
  readonly #tables: GroupTables<T, Row>;
  readonly #gap: number;
  readonly #open = new Map<string, Session<T, Row>[]>();
  #firstEnd = Number.POSITIVE_INFINITY;

  constructor(tables: GroupTables<T, Row>, gap: number, saved: SessionState['open']) {
    this.#tables = tables;
    this.#gap = gap;
    for (const [key, from, last, groups] of saved) this.#put({ key, from, last, table: tables.open(groups) });
  }

  /** The time of the first item of all. */
  get earliest(): number {
    return Math.min(...this.#all().map(({ from }) => from));
  }

  touches(key: string, at: number): boolean {
    return this.#touched(key, at).length > 0;
  }

  add(item: T, key: string, at: number): void {
    const touched = this.#touched(key, at);
    const [session = { key, from: at, last: at, table: this.#tables.open() }, ...others] = touched;
    session.table.add(item);
    session.from = Math.min(session.from, at);
    session.last = Math.max(session.last, at);
    // The item closes the pause between sessions that were apart.
    for (const other of others) {
      session.from = Math.min(session.from, other.from);
      session.last = Math.max(session.last, other.last);
      session.table.merge(other.table.save());
      this.#remove(other);
    }
    if (touched.length === 0) this.#put(session);
  }

  /** Ends the sessions whose pause has passed: their rows, in the order in which they end. */
  close(upTo: number): (Row & { from: string; to: string })[] {
    if (this.#firstEnd > upTo) return [];
    const ended = this.#all().filter(({ last }) => last + this.#gap <= upTo);
    ended.sort((a, b) => a.last - b.last || a.from - b.from || (a.key < b.key ? -1 : 1));
    for (const session of ended) this.#remove(session);
    this.#firstEnd = Math.min(...this.#all().map(({ last }) => last + this.#gap));
    return ended.flatMap(({ from, last, table }) =>
      table.rows().map((row) => ({ from: formatNaive(from), to: formatNaive(last), ...row })),
    );
  }

  /** What is kept; null when an item could not be measured. */
  save(): SessionState['open'] | null {
    const saved = this.#all().map(({ key, from, last, table }) => [key, from, last, table.save()] as const);
    return saved.some(([, , , groups]) => groups === undefined) ? null : saved;
  }

  #all(): Session<T, Row>[] {
    return [...this.#open.values()].flat();
  }

  #touched(key: string, at: number): Session<T, Row>[] {
    const of = this.#open.get(key) ?? [];
    return of.filter(({ from, last }) => at > from - this.#gap && at < last + this.#gap);
  }

  #put(session: Session<T, Row>): void {
    const of = this.#open.get(session.key);
    if (of === undefined) this.#open.set(session.key, [session]);
    else of.push(session);
    this.#firstEnd = Math.min(this.#firstEnd, session.last + this.#gap);
  }

  #remove(session: Session<T, Row>): void {
    const rest = (this.#open.get(session.key) ?? []).filter((each) => each !== session);
    if (rest.length === 0) this.#open.delete(session.key);
    else this.#open.set(session.key, rest);
  }
}
