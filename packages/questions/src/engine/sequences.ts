import { compareText } from '../conditions/fold.ts';
import { touches } from '../fields/derived.ts';
import { Facts, type Sequence } from '../fields/facts.ts';
import { type Needs, namedFields } from '../question/plan.ts';
import type { CallRecord } from './calls.ts';
import type { Memory } from './parts.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there: what it needs of each is kept.

const clickFields = ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'];
const callerFields = ['caller_type', 'caller_nth', 'hours_since_previous_call', 'hours_until_next_call'];
const timeFields = ['day', 'week', 'month', 'weekday', 'hour'];
/** The fields of a record that others follow from. */
const neededFor: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['account', 'is_extension', ...timeFields, ...callerFields].map((name) => [name, []]),
  ),
  ...{ missed: ['talk_minutes'], answered: ['talk_minutes'] },
  lag_minutes: ['displayed_timestamp'],
  ...{ click_id: clickFields, click_kind: clickFields },
  activity_type: ['activity_type_id'],
  ...Object.fromEntries([...touches].map(([name, { field }]) => [name, [field]])),
};
const callerParts = [
  'callers',
  'repeat_callers',
  'with_caller',
  'first_time',
  'followed',
  'called_again',
  'reached',
];

const namedInRecord = (plan: Needs): readonly string[] => [
  ...new Set(namedFields(plan).flatMap((name) => neededFor[name] ?? [name])),
];

/** The fields of a record that a question needs. */
export function neededFields(plan: Needs): readonly string[] {
  const hasCallers =
    plan.parts.some(({ kind }) => callerParts.includes(kind)) ||
    namedFields(plan).some((name) => callerFields.includes(name) || touches.has(name));
  const always = ['date_added', 'channel', ...(hasCallers ? ['ani'] : [])];
  return [...new Set([...always, ...namedInRecord(plan)])];
}

const nobody = -1;
const bytesOfCall = 72;

/** Calls that are kept until all are there: what is needed of each, field by field. */
export class KeptCalls {
  readonly #fields: readonly string[];
  readonly #columns: readonly unknown[][];
  readonly #memory: Memory;
  readonly #hasTouches: boolean;
  readonly #sids: string[] = [];
  /** Infinity without a time: such calls come last. */
  readonly #times: number[] = [];
  readonly #talks: (number | null)[] = [];
  readonly #extensions: boolean[] = [];
  readonly #accounts: string[] = [];
  /** The number of the caller among those of all accounts; `nobody` without one. */
  readonly #callers: number[] = [];
  readonly #keys: (number | string)[] = [];
  readonly #numbers = new Map<string, Map<number | string, number>>();
  readonly #texts = new Map<string, string>();
  /** So far the calls have come in order. */
  #isOrdered = true;

  constructor(plan: Needs, memory: Memory) {
    this.#fields = namedInRecord(plan).filter((name) => name !== 'date_added' && name !== 'talk_minutes');
    this.#columns = this.#fields.map(() => []);
    this.#memory = memory;
    this.#hasTouches = namedFields(plan).some((name) => touches.has(name));
  }

  /** Keeps what is needed of a call. Calls of one time are in the order of their ids; those that come so have none. */
  add({ record, account, caller, sentAt, talk, isExtension }: Facts, sid: string): void {
    let bytes = bytesOfCall;
    for (const [i, name] of this.#fields.entries()) {
      const value = record[name];
      this.#columns[i]?.push(typeof value === 'string' ? this.#once(value) : value);
      bytes += 8;
    }
    const time = sentAt ?? Number.POSITIVE_INFINITY;
    const before = this.#times.at(-1) ?? time;
    if (before > time || (before === time && compareText(this.#sids.at(-1) ?? sid, sid) > 0))
      this.#isOrdered = false;
    this.#memory.take(bytes + sid.length);
    this.#sids.push(sid);
    this.#times.push(time);
    this.#talks.push(talk);
    this.#extensions.push(isExtension);
    this.#accounts.push(account);
    this.#callers.push(caller === null ? nobody : this.#numberOf(account, caller));
  }

  /** Keeps the calls of another one of the same question. */
  merge(other: KeptCalls): void {
    const facts = new Facts();
    other.each(facts, (sid) => this.add(facts, sid));
  }

  /** One copy of a text that comes again and again. */
  #once(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#memory.take(48 + text.length);
    this.#texts.set(text, text);
    return text;
  }

  #numberOf(account: string, caller: number | string): number {
    let numbers = this.#numbers.get(account);
    if (numbers === undefined) {
      numbers = new Map();
      this.#numbers.set(account, numbers);
    }
    let number = numbers.get(caller);
    if (number === undefined) {
      this.#memory.take(72);
      number = this.#keys.push(caller) - 1;
      numbers.set(caller, number);
    }
    return number;
  }

  /** The fields that were kept of a call. */
  #recordAt(at: number): CallRecord {
    return Object.fromEntries(this.#fields.map((name, i) => [name, this.#columns[i]?.[at]]));
  }

  /**
   * Sets `facts` to one call after the other, with the place of each among those of its caller in its account. `ends` says until when the
   * calls of an account are known.
   */
  each(facts: Facts, take: (sid: string) => void, ends: ReadonlyMap<string, number> = new Map()): void {
    const times = this.#times;
    const places = this.#places();
    const record = (at: number | undefined) =>
      this.#hasTouches && at !== undefined && at !== nobody ? this.#recordAt(at) : null;
    const firsts = Array.from(this.#hasTouches ? places.first : [], record);
    const lasts = Array.from(this.#hasTouches ? places.last : [], record);
    const apart = (from: number | undefined, to: number | undefined): number | null => {
      const start = times[from ?? nobody] ?? Number.POSITIVE_INFINITY;
      const end = times[to ?? nobody] ?? Number.POSITIVE_INFINITY;
      return Number.isFinite(start) && Number.isFinite(end) ? end - start : null;
    };
    let [at, caller] = [0, nobody];
    // One object for all calls: what it says of one is worked out when a question asks for it.
    const sequence: Sequence = {
      get nth() {
        return places.nth[at] ?? 0;
      },
      get sincePrevious() {
        return apart(places.before[at], at);
      },
      get untilNext() {
        return apart(at, places.after[at]);
      },
      get untilAnswered() {
        return apart(at, places.answered[at]);
      },
      get untilEnd() {
        const end = ends.get(facts.account);
        return end === undefined || facts.sentAt === null ? null : end - facts.sentAt;
      },
      get first() {
        return firsts[caller] ?? null;
      },
      get last() {
        return lasts[caller] ?? null;
      },
    };
    const kept: Record<string, unknown> = {};
    const fields = this.#fields;
    for (at = 0; at < times.length; at += 1) {
      for (let i = 0; i < fields.length; i += 1) kept[fields[i] ?? ''] = this.#columns[i]?.[at];
      caller = this.#callers[at] ?? nobody;
      const time = times[at] ?? 0;
      facts.setKnown(kept, this.#accounts[at] ?? '', {
        sentAt: time === Number.POSITIVE_INFINITY ? null : time,
        talk: this.#talks[at] ?? null,
        isExtension: this.#extensions[at] === true,
        caller: this.#keys[caller] ?? null,
      });
      facts.sequence = caller === nobody ? null : sequence;
      take(this.#sids[at] ?? '');
    }
    facts.sequence = null;
  }

  /**
   * By call: which call of its caller it is, from 1, which ones are before and after it, and the next one that was answered. By caller:
   * the first and the last one.
   */
  #places() {
    const [size, callers] = [this.#times.length, this.#keys.length];
    const list = (length: number): Int32Array => new Int32Array(length).fill(nobody);
    const nth = new Int32Array(size);
    const [before, after, answered] = [list(size), list(size), list(size)];
    const [first, last, next] = [list(callers), list(callers), list(callers)];
    const order = this.#order();
    for (const at of order) {
      const caller = this.#callers[at] ?? nobody;
      if (caller === nobody) continue;
      const previous = last[caller] ?? nobody;
      nth[at] = (nth[previous] ?? 0) + 1;
      before[at] = previous;
      if (previous === nobody) first[caller] = at;
      else after[previous] = at;
      last[caller] = at;
    }
    for (const at of order.reverse()) {
      const caller = this.#callers[at] ?? nobody;
      if (caller === nobody) continue;
      answered[at] = next[caller] ?? nobody;
      if ((this.#talks[at] ?? 0) > 0) next[caller] = at;
    }
    return { nth, before, after, answered, first, last };
  }

  /** The calls by time and id, those without a time last. */
  #order(): Uint32Array {
    const order = Uint32Array.from(this.#times, (_, at) => at);
    if (this.#isOrdered) return order;
    const [times, sids] = [this.#times, this.#sids];
    return order.sort((a, b) => {
      const [x, y] = [times[a] ?? 0, times[b] ?? 0];
      return x === y ? compareText(sids[a] ?? '', sids[b] ?? '') || a - b : x - y;
    });
  }
}
