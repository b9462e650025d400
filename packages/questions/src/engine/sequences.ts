import { type MemoryLimit, NumberTable } from '@call-attribution/node-stream/accumulators';
import { compareText } from '../conditions/fold.ts';
import { touches } from '../fields/derived.ts';
import { Facts, firstOfAll, type Sequence } from '../fields/facts.ts';
import { type Needs, namedFields } from '../question/plan.ts';
import { invalidState } from './cell.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there: what it needs of each is kept.

/** What is kept of a call: what was read of it, and the fields that the question needs besides. */
export type KeptCall = readonly [
  account: string,
  sid: string,
  sentAt: number | null,
  talk: number | null,
  isExtension: boolean,
  caller: number | string | null,
  fields: Readonly<Record<string, unknown>>,
];

const clickFields = ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'];
const neededFor: Readonly<Record<string, readonly string[]>> = {
  lag_minutes: ['displayed_timestamp'],
  click_id: clickFields,
  click_kind: clickFields,
  activity_type: ['activity_type_id'],
  ...Object.fromEntries([...touches].map(([name, { field }]) => [name, [field]])),
};
/** What follows from what is kept of each call. */
const alwaysKept: ReadonlySet<string> = new Set([
  'date_added',
  'talk_minutes',
  'missed',
  'is_extension',
  'account',
  'caller_type',
  'caller_nth',
  'hours_since_previous_call',
  'hours_until_next_call',
  'day',
  'week',
  'month',
  'weekday',
  'hour',
]);

/** The fields of a record that a question needs. */
function neededFields(plan: Needs): readonly string[] {
  const named = namedFields(plan).filter((name) => !alwaysKept.has(name));
  return [...new Set(named.flatMap((name) => neededFor[name] ?? [name]))];
}

type Fields = Readonly<Record<string, unknown>>;

/** About what a value takes. */
const bytesOf = (value: unknown): number => (typeof value === 'string' ? 32 + value.length : 8);

/** By caller, its place counted from 1. */
interface Callers {
  readonly numbers: NumberTable;
  readonly others: Map<number | string, number>;
}

/** Calls that are kept until all are there: what is needed of each, field by field. */
export class KeptCalls {
  readonly #fields: readonly string[];
  readonly #columns: readonly unknown[][];
  readonly #memory: MemoryLimit;
  readonly #hasTouches: boolean;
  readonly #accounts: string[] = [];
  readonly #sids: string[] = [];
  /** The place of the caller of each call. */
  readonly #callers: number[] = [];
  /** The callers by their places. */
  readonly #keys: (number | string)[] = [];
  readonly #times: number[] = [];
  readonly #talks: number[] = [];
  readonly #extensions: boolean[] = [];
  /** By account, the place of each caller among all. */
  readonly #known = new Map<string, Callers>();
  #last: { readonly account: string; readonly known: Callers } | null = null;
  readonly #restored = new Facts();
  /** So far the calls have come in their order, or in the opposite one. */
  #isRising = true;
  #isFalling = true;

  constructor(plan: Needs, memory: MemoryLimit) {
    this.#fields = neededFields(plan);
    this.#columns = this.#fields.map(() => []);
    this.#memory = memory;
    this.#hasTouches = namedFields(plan).some((name) => touches.has(name));
  }

  /** Keeps what is needed of a call. */
  add(facts: Facts): void {
    this.#keep(facts, String(facts.record.sid));
  }

  /** Keeps a call of another one of the same question. */
  restore(saved: KeptCall): void {
    const [account, sid, sentAt, talk, isExtension, caller, fields] = saved;
    const isWhole =
      [account, sid].every((text) => typeof text === 'string') &&
      [sentAt, talk].every((number) => number === null || Number.isFinite(number)) &&
      (caller === null || typeof caller === 'string' || NumberTable.fits(caller)) &&
      typeof fields === 'object' &&
      fields !== null;
    if (!isWhole) throw invalidState();
    this.#restored.setKnown(fields, account, sentAt, talk, isExtension === true, caller);
    this.#keep(this.#restored, sid);
  }

  #keep({ record, account, caller, sentAt, talk, isExtension }: Facts, sid: string): void {
    let bytes = bytesOfCall + sid.length;
    for (let i = 0; i < this.#fields.length; i += 1) {
      const value = record[this.#fields[i] ?? ''];
      this.#columns[i]?.push(value);
      bytes += bytesOf(value);
    }
    this.#memory.take(bytes);
    this.#accounts.push(account);
    this.#sids.push(sid);
    this.#times.push(sentAt ?? none);
    this.#talks.push(talk ?? none);
    this.#extensions.push(isExtension);
    this.#callers.push(caller === null ? nobody : this.#placeOf(account, caller));
    const last = this.#times.length - 1;
    const step = last === 0 ? 0 : this.#compare(last - 1, last);
    if (step > 0) this.#isRising = false;
    else if (step < 0) this.#isFalling = false;
  }

  /** What was kept, as plain JSON. */
  save(): KeptCall[] {
    const saved: KeptCall[] = [];
    const facts = new Facts();
    for (let at = 0; at < this.#times.length; at += 1) {
      this.#set(facts, this.#recordAt(at), at);
      const { account, sentAt, talk, isExtension, caller, record } = facts;
      saved.push([account, this.#sids[at] ?? '', sentAt, talk, isExtension, caller, record]);
    }
    return saved;
  }

  /** Sets facts to what was kept of a call. */
  #set(facts: Facts, record: Fields, at: number): void {
    // Not as one list: this runs for each call.
    const time = this.#times[at] ?? none;
    const talk = this.#talks[at] ?? none;
    const caller = this.#callers[at] ?? nobody;
    facts.setKnown(
      record,
      this.#accounts[at] ?? '',
      time === none ? null : time,
      talk === none ? null : talk,
      this.#extensions[at] ?? false,
      caller === nobody ? null : (this.#keys[caller] ?? null),
    );
  }

  /** The fields that were kept of a call. */
  #recordAt(at: number): Fields {
    const record: Record<string, unknown> = {};
    for (const [i, name] of this.#fields.entries()) {
      const value = this.#columns[i]?.[at];
      if (value !== undefined) record[name] = value;
    }
    return record;
  }

  /** Sets `facts` to one call after the other, with the place of each among those of its caller in its account. */
  each(facts: Facts, take: (facts: Facts, sid: string) => void): void {
    const { nth, before, after, first, last } = this.#places();
    const [firsts, lasts] = [first, last].map((ends) => this.#records(ends));
    const times = this.#times;
    const apart = (from: number, to: number): number | null => {
      if (from === nobody || to === nobody) return null;
      const start = times[from] ?? none;
      const end = times[to] ?? none;
      return start === none || end === none ? null : end - start;
    };
    // One object for all calls, and one for their places: only the values of their fields change.
    const record: Record<string, unknown> = {};
    const sequence: { -readonly [K in keyof Sequence]: Sequence[K] } = { ...firstOfAll };
    const fields = this.#fields;
    for (let at = 0; at < times.length; at += 1) {
      for (let i = 0; i < fields.length; i += 1) record[fields[i] ?? ''] = this.#columns[i]?.[at];
      this.#set(facts, record, at);
      const caller = this.#callers[at] ?? nobody;
      sequence.nth = nth[at] ?? 0;
      sequence.sincePrevious = apart(before[at] ?? nobody, at);
      sequence.untilNext = apart(at, after[at] ?? nobody);
      if (this.#hasTouches) {
        sequence.first = firsts?.[caller] ?? null;
        sequence.last = lasts?.[caller] ?? null;
      }
      facts.sequence = caller === nobody ? null : sequence;
      take(facts, this.#sids[at] ?? '');
    }
  }

  /** The records of some calls, in questions that ask for fields of the first or the last call. */
  #records(calls: Int32Array): readonly Fields[] {
    return this.#hasTouches ? Array.from(calls, (at) => this.#recordAt(at)) : [];
  }

  #placeOf(account: string, caller: number | string): number {
    if (this.#last?.account !== account) {
      const known = this.#known.get(account) ?? { numbers: new NumberTable(), others: new Map() };
      this.#known.set(account, known);
      this.#last = { account, known };
    }
    const { numbers, others } = this.#last.known;
    const isNumber = NumberTable.fits(caller);
    const found = isNumber ? numbers.get(caller) : (others.get(caller) ?? 0);
    if (found > 0) return found - 1;
    this.#memory.take(bytesOfCaller);
    const met = this.#keys.push(caller);
    if (isNumber) numbers.put(caller, met);
    else others.set(caller, met);
    return met - 1;
  }

  /** By call: which call of its caller it is, from 1, and which ones are before and after it. By caller: the first and the last one. */
  #places() {
    const size = this.#times.length;
    const nth = new Int32Array(size);
    const before = new Int32Array(size).fill(nobody);
    const after = new Int32Array(size).fill(nobody);
    const first = new Int32Array(this.#keys.length).fill(nobody);
    const last = new Int32Array(this.#keys.length).fill(nobody);
    for (const at of this.#inOrder()) {
      const caller = this.#callers[at] ?? nobody;
      if (caller === nobody) continue;
      const previous = last[caller] ?? nobody;
      nth[at] = previous === nobody ? 1 : (nth[previous] ?? 0) + 1;
      before[at] = previous;
      if (previous === nobody) first[caller] = at;
      else after[previous] = at;
      last[caller] = at;
    }
    return { nth, before, after, first, last };
  }

  /** The calls by time and id, those without a time last. They mostly come in this order, or in the opposite one. */
  #inOrder(): Uint32Array {
    const order = new Uint32Array(this.#times.length);
    for (let at = 0; at < order.length; at += 1) order[at] = at;
    if (this.#isRising) return order;
    return this.#isFalling ? order.reverse() : order.sort((a, b) => this.#compare(a, b));
  }

  #compare(a: number, b: number): number {
    const apart = (this.#times[a] ?? none) - (this.#times[b] ?? none);
    return apart === 0 ? compareText(this.#sids[a] ?? '', this.#sids[b] ?? '') : apart;
  }
}

/** Stands for no time, after all others, and for no talk time. */
const none = Number.MAX_VALUE;
/** Stands for no caller, and for no call. */
const nobody = -1;
const bytesOfCall = 80;
const bytesOfCaller = 72;
