import { compareValues } from '../conditions/condition.ts';
import {
  type Batch,
  type CallLists,
  nobody,
  nothingSold,
  type Sequence,
  type Sold,
} from '../fields/batch.ts';
import { recordFields } from '../question/needs.ts';
import type { ReadPlan } from '../question/plan.ts';
import type { TakeMemory } from './parts.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there:
// what it needs of each is kept.

const bytesOfCall = 48;

/** Calls that are kept until all are there: what is needed of each, field by field. */
export class KeptCalls {
  readonly #fields: ReadonlySet<string>;
  readonly #take: TakeMemory;
  readonly #kept: CallLists[] = [];
  /** One copy of each text, since most come again and again. */
  readonly #texts = new Map<string, string>();

  constructor(plans: readonly ReadPlan[], take: TakeMemory) {
    const known = new Set(['date_added', 'talk_minutes']);
    const named = plans.flatMap(({ groups, conditions, parts, exclude }) => {
      const tested = exclude === null ? conditions : [...conditions, exclude.condition];
      return recordFields({ groups, conditions: tested, parts });
    });
    this.#fields = new Set(['sid', ...named].filter((name) => !known.has(name)));
    this.#take = take;
  }

  #keep(calls: CallLists): void {
    this.#take(calls.length * (bytesOfCall + 8 * Object.keys(calls.columns).length));
    this.#kept.push(calls);
  }

  /**
   * Keeps what is needed of calls. Those of one time are in the order of their ids, if they have
   * any, otherwise as they come.
   */
  add(calls: CallLists): void {
    const own = Object.entries(calls.columns)
      .filter(([name]) => this.#fields.has(name))
      .map(([name, values]) => {
        return [name, name === 'sid' ? values : values.map((value) => this.#once(value))];
      });
    this.#keep({ ...calls, columns: Object.fromEntries(own) });
  }

  #once(value: unknown): unknown {
    if (typeof value !== 'string') return value;
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    this.#take(48 + value.length);
    this.#texts.set(value, value);
    return value;
  }

  /** Keeps the calls of another one of the same question. */
  merge(other: KeptCalls, callerOf: Int32Array): void {
    for (const calls of other.#kept)
      this.#keep({ ...calls, callers: calls.callers.map((caller) => callerOf[caller] ?? nobody) });
  }

  /** The calls of one account after the other. */
  *accounts(): Generator<KeptAccount> {
    for (const account of new Set(this.#kept.map((calls) => calls.account))) {
      const lists = this.#kept.filter((calls) => calls.account === account);
      const length = lists.reduce((sum, calls) => sum + calls.length, 0);
      const names = [...this.#fields].filter((name) =>
        lists.some(({ columns }) => name in columns),
      );
      const none = (calls: CallLists) => Array.from({ length: calls.length }, () => null);
      const column = (name: string) => [
        name,
        lists.flatMap((calls) => calls.columns[name] ?? none(calls)),
      ];
      const joined = <T extends Float64Array | Int32Array | Uint8Array>(
        all: T,
        listOf: (of: CallLists) => T,
      ) => {
        let at = 0;
        for (const calls of lists) {
          all.set(listOf(calls), at);
          at += calls.length;
        }
        return all;
      };
      const calls: CallLists = {
        account,
        length,
        columns: Object.fromEntries(names.map(column)),
        sentTimes: joined(new Float64Array(length), ({ sentTimes }) => sentTimes),
        talks: joined(new Float64Array(length), ({ talks }) => talks),
        extensions: joined(new Uint8Array(length), ({ extensions }) => extensions),
        callers: joined(new Int32Array(length), ({ callers }) => callers),
      };
      yield { calls, sequenceOf: sequencesOf(calls) };
    }
  }
}

/** All calls of an account. */
export interface KeptAccount {
  readonly calls: CallLists;
  /**
   * What follows from them for the call that a batch of them is at. They are known until `end`;
   * `sold` says what became of each, by its place.
   */
  sequenceOf(calls: Batch, end: number | null, sold?: ReadonlyMap<number, Sold>): Sequence;
}

function sequencesOf(all: CallLists): KeptAccount['sequenceOf'] {
  const { length, callers, sentTimes, columns } = all;
  const order = orderOf(sentTimes, columns.sid ?? []);
  const nth = new Int32Array(length);
  const known = new Int32Array(callers.reduce((most, caller) => Math.max(most, caller + 1), 0));
  for (const at of order) {
    const caller = callers[at] as number;
    if (caller === nobody) continue;
    known[caller] = (known[caller] as number) + 1;
    nth[at] = known[caller] as number;
  }

  let found: Links | null = null;
  const links = (): Links => (found ??= linksOf(all, order, known.length));

  const apart = (from = nobody, to = nobody): number | null => {
    const millis = (sentTimes[to] ?? Number.NaN) - (sentTimes[from] ?? Number.NaN);
    return Number.isNaN(millis) ? null : millis;
  };

  return (calls, end, sold) => ({
    get sold() {
      return sold?.get(calls.at) ?? nothingSold;
    },
    get nth() {
      return nth[calls.at] as number;
    },
    get sincePrevious() {
      return apart(links().before[calls.at], calls.at);
    },
    get untilNext() {
      return apart(calls.at, links().after[calls.at]);
    },
    get untilAnswered() {
      return apart(calls.at, links().answered[calls.at]);
    },
    get untilEnd() {
      return end === null || calls.sentAt === null ? null : end - calls.sentAt;
    },
    fieldOf: (which, field) => columns[field]?.[links()[which][calls.caller] ?? nobody],
  });
}

/**
 * Places of calls: of each the one before and after it of its caller, and the next one that was
 * answered; of each caller the first and the last.
 */
type Links = Readonly<Record<'before' | 'after' | 'answered' | 'first' | 'last', Int32Array>>;

function linksOf({ length, callers, talks }: CallLists, order: Uint32Array, size: number): Links {
  const list = (size: number): Int32Array => new Int32Array(size).fill(nobody);
  const before = list(length);
  const after = list(length);
  const answered = list(length);
  const first = list(size);
  const last = list(size);
  const next = list(size);
  for (const at of order) {
    const caller = callers[at] as number;
    if (caller === nobody) continue;
    const previous = last[caller] as number;
    before[at] = previous;
    if (previous === nobody) first[caller] = at;
    else after[previous] = at;
    last[caller] = at;
  }

  for (let i = length - 1; i >= 0; i -= 1) {
    const at = order[i] as number;
    const caller = callers[at] as number;
    if (caller === nobody) continue;
    answered[at] = next[caller] as number;
    if ((talks[at] as number) > 0) next[caller] = at;
  }

  return { before, after, answered, first, last };
}

/** The calls by time and id, those without a time last. */
function orderOf(times: Float64Array, sids: readonly unknown[]): Uint32Array {
  const keys = times.map((time) => (Number.isNaN(time) ? Number.POSITIVE_INFINITY : time));
  const sidAt = (at: number): string => String(sids[at] ?? '');

  const compare = (a: number, b: number): number => {
    const x = keys[a] as number;
    const y = keys[b] as number;
    return x === y ? compareValues(sidAt(a), sidAt(b)) || a - b : x - y;
  };

  const order = new Uint32Array(times.length).map((_, at) => at);
  for (let at = 1; at < order.length; at += 1)
    if (compare(at - 1, at) > 0) return order.sort(compare);
  return order;
}
