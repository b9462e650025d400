import { compareValues } from '../conditions/condition.ts';
import { Batch, nobody, type Sequence } from '../fields/batch.ts';
import { allFields } from '../fields/vocabulary.ts';
import { type Needs, namedFields, needsSequence } from '../question/plan.ts';
import type { TakeMemory } from './parts.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there: what it needs of each is kept.

const namedInRecord = (plan: Needs): readonly string[] => [
  ...new Set(namedFields(plan).flatMap((name) => allFields.get(name)?.needs ?? [])),
];

/** The fields of a record that a question needs. */
export function neededFields(plan: Needs): readonly string[] {
  const hasCallers = needsSequence(plan) || plan.parts.some(({ needs }) => needs === 'caller');
  const always = ['date_added', 'is_extension', ...(hasCallers ? ['ani'] : [])];
  return [...new Set([...always, ...namedInRecord(plan)])];
}

const [bytesOfCall, bytesOfId] = [48, 24];

/** What is kept of the calls of an account. */
interface Kept {
  /** Empty texts for calls that came in order. */
  sids: string[];
  times: number[];
  talks: number[];
  extensions: number[];
  callers: number[];
  readonly columns: Record<string, unknown[]>;
}

/** Calls that are kept until all are there: what is needed of each, field by field. */
export class KeptCalls {
  readonly #fields: readonly string[];
  readonly #take: TakeMemory;
  readonly #accounts = new Map<string, Kept>();
  /** One copy of each text, since most come again and again. */
  readonly #texts = new Map<string, string>();

  constructor(plan: Needs, take: TakeMemory) {
    this.#fields = namedInRecord(plan).filter((name) => name !== 'date_added' && name !== 'talk_minutes');
    this.#take = take;
  }

  #keptOf(account: string): Kept {
    const columns = Object.fromEntries(this.#fields.map((name) => [name, []]));
    const none = { sids: [], times: [], talks: [], extensions: [], callers: [], columns };
    const kept = this.#accounts.get(account) ?? none;
    this.#accounts.set(account, kept);
    return kept;
  }

  /** Keeps what is needed of calls. Those of one time are in the order of their ids, if they have any, otherwise as they come. */
  add(
    { length, account, sentTimes, talks, extensions, callers, columns }: Batch,
    sids: readonly string[],
  ): void {
    this.#take(length * (bytesOfCall + 8 * this.#fields.length) + bytesOfId * sids.length);
    const kept = this.#keptOf(account);
    for (let at = 0; at < length; at += 1) {
      kept.sids.push(sids[at] ?? '');
      kept.times.push(sentTimes[at] as number);
      kept.talks.push(talks[at] as number);
      kept.extensions.push(extensions[at] as number);
      kept.callers.push(callers[at] as number);
    }
    for (const [name, own] of Object.entries(kept.columns))
      for (let at = 0; at < length; at += 1) own.push(this.#once(columns[name]?.[at]));
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
    for (const [account, theirs] of other.#accounts) {
      const kept = this.#keptOf(account);
      this.#take(theirs.sids.length * (bytesOfCall + 8 * this.#fields.length));
      kept.sids = kept.sids.concat(theirs.sids);
      kept.times = kept.times.concat(theirs.times);
      kept.talks = kept.talks.concat(theirs.talks);
      kept.extensions = kept.extensions.concat(theirs.extensions);
      kept.callers = kept.callers.concat(theirs.callers.map((caller) => callerOf[caller] ?? nobody));
      for (const [name, own] of Object.entries(theirs.columns))
        kept.columns[name] = (kept.columns[name] ?? []).concat(own);
    }
  }

  /**
   * The calls of one account after the other, with the place of each among those of its caller. `ends` says until when the calls of an
   * account are known.
   */
  *accounts(
    shift: Batch['shift'],
    ends: ReadonlyMap<string, number> = new Map(),
  ): Generator<{ readonly calls: Batch; readonly sids: readonly string[] }> {
    for (const [account, { sids, ...kept }] of this.#accounts) {
      const calls = new Batch(shift);
      calls.account = account;
      calls.length = sids.length;
      calls.columns = kept.columns;
      calls.sentTimes = new Float64Array(kept.times);
      calls.talks = new Float64Array(kept.talks);
      calls.extensions = new Uint8Array(kept.extensions);
      calls.callers = new Int32Array(kept.callers);
      calls.sequences = sequencesOf(calls, sids, ends.get(account) ?? null);
      calls.move();
      yield { calls, sids };
    }
  }
}

/** What follows from the other calls of the caller of the call that a batch is at. The batch has all calls of an account. */
function sequencesOf(calls: Batch, sids: readonly string[], end: number | null): Sequence {
  const { length, callers, sentTimes, talks, columns } = calls;
  const size = callers.reduce((most, caller) => Math.max(most, caller + 1), 0);
  const list = (size: number): Int32Array => new Int32Array(size).fill(nobody);
  const nth = new Int32Array(length);
  const [before, after, answered] = [list(length), list(length), list(length)];
  const [first, last, next] = [list(size), list(size), list(size)];
  const order = orderOf(sentTimes, sids);
  for (const at of order) {
    const caller = callers[at] as number;
    if (caller === nobody) continue;
    const previous = last[caller] as number;
    nth[at] = (nth[previous] ?? 0) + 1;
    before[at] = previous;
    if (previous === nobody) first[caller] = at;
    else after[previous] = at;
    last[caller] = at;
  }
  for (const at of order.reverse()) {
    const caller = callers[at] as number;
    if (caller === nobody) continue;
    answered[at] = next[caller] as number;
    if ((talks[at] as number) > 0) next[caller] = at;
  }
  const apart = (from = nobody, to = nobody): number | null => {
    const millis = (sentTimes[to] ?? Number.NaN) - (sentTimes[from] ?? Number.NaN);
    return Number.isNaN(millis) ? null : millis;
  };
  return {
    get nth() {
      return nth[calls.at] as number;
    },
    get sincePrevious() {
      return apart(before[calls.at], calls.at);
    },
    get untilNext() {
      return apart(calls.at, after[calls.at]);
    },
    get untilAnswered() {
      return apart(calls.at, answered[calls.at]);
    },
    get untilEnd() {
      return end === null || calls.sentAt === null ? null : end - calls.sentAt;
    },
    fieldOf: (which, field) => columns[field]?.[(which === 'first' ? first : last)[calls.caller] ?? nobody],
  };
}

/** The calls by time and id, those without a time last. */
function orderOf(times: Float64Array, sids: readonly string[]): Uint32Array {
  const order = Uint32Array.from(times, (_, at) => at);
  const timeAt = (at: number): number => {
    const time = times[at] as number;
    return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
  };
  const compare = (a: number, b: number): number => {
    const [x, y] = [timeAt(a), timeAt(b)];
    return x === y ? compareValues(sids[a] ?? '', sids[b] ?? '') || a - b : x - y;
  };
  for (let at = 1; at < order.length; at += 1) if (compare(at - 1, at) > 0) return order.sort(compare);
  return order;
}
