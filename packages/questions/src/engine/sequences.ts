import type { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import { compareText } from '../conditions/fold.ts';
import { touches } from '../fields/derived.ts';
import { Facts, type Sequence } from '../fields/facts.ts';
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
  'answered',
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

/** An account and, by caller, its place among the callers of all accounts, counted from 1. */
interface Account {
  readonly name: string;
  readonly place: number;
  readonly callers: Map<number | string, number>;
}

/** Calls that are kept until all are there: what is needed of each, field by field. */
export class KeptCalls {
  readonly #fields: readonly string[];
  readonly #columns: readonly unknown[][];
  readonly #memory: MemoryLimit;
  readonly #hasTouches: boolean;
  readonly #sids: string[] = [];
  /** The numbers that are kept of each call, one call after the other. Lists that grow would be copied again and again. */
  readonly #chunks: Float64Array[] = [];
  /** The callers by their places. */
  readonly #keys: (number | string)[] = [];
  readonly #accounts = new Map<string, Account>();
  /** The names of the accounts by their places. */
  readonly #names: string[] = [];
  #last: Account | null = null;
  readonly #restored = new Facts();
  /** So far the calls have come in the order of their times, or in the opposite one. */
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
      (caller === null || typeof caller === 'string' || Number.isSafeInteger(caller)) &&
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
    const own = this.#accountOf(account);
    const placeOfCaller = caller === null ? nobody : this.#placeOf(own, caller);
    const time = sentAt ?? none;
    const at = this.#sids.length;
    const before = at === 0 ? time : this.#number(at - 1, timeAt);
    if (time < before) this.#isRising = false;
    else if (time > before) this.#isFalling = false;
    const start = (at % callsOfChunk) * width;
    if (start === 0) this.#chunks.push(new Float64Array(callsOfChunk * width));
    const chunk = this.#chunks[this.#chunks.length - 1] ?? new Float64Array(width);
    chunk[start + timeAt] = time;
    chunk[start + talkAt] = talk ?? none;
    chunk[start + extensionAt] = isExtension ? 1 : 0;
    chunk[start + accountAt] = own.place;
    chunk[start + callerAt] = placeOfCaller;
    this.#sids.push(sid);
  }

  #number(at: number, column: number): number {
    return this.#chunks[Math.floor(at / callsOfChunk)]?.[(at % callsOfChunk) * width + column] ?? none;
  }

  /** What was kept, as plain JSON. */
  save(): KeptCall[] {
    const saved: KeptCall[] = [];
    const facts = new Facts();
    for (let at = 0; at < this.#sids.length; at += 1) {
      this.#set(facts, this.#recordAt(at), at);
      const { account, sentAt, talk, isExtension, caller, record } = facts;
      saved.push([account, this.#sids[at] ?? '', sentAt, talk, isExtension, caller, record]);
    }
    return saved;
  }

  /** Sets facts to what was kept of a call. */
  #set(facts: Facts, record: Fields, at: number): void {
    // Not as one list: this runs for each call.
    const time = this.#number(at, timeAt);
    const talk = this.#number(at, talkAt);
    const caller = this.#number(at, callerAt);
    facts.setKnown(
      record,
      this.#names[this.#number(at, accountAt)] ?? '',
      time === none ? null : time,
      talk === none ? null : talk,
      this.#number(at, extensionAt) === 1,
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
  each(
    facts: Facts,
    take: (facts: Facts, sid: string) => void,
    ends: ReadonlyMap<string, number> = new Map(),
  ): void {
    const { nth, before, after, answered, first, last } = this.#places();
    const [firsts, lasts] = [first, last].map((calls) => this.#records(calls));
    const apart = (from: number, to: number): number | null => {
      if (from === nobody || to === nobody) return null;
      const start = this.#number(from, timeAt);
      const end = this.#number(to, timeAt);
      return start === none || end === none ? null : end - start;
    };
    let [at, caller] = [0, nobody];
    // One object for all calls: what it says of one is worked out when a question asks for it.
    const sequence: Sequence = {
      get nth() {
        return nth[at] ?? 0;
      },
      get sincePrevious() {
        return apart(before[at] ?? nobody, at);
      },
      get untilNext() {
        return apart(at, after[at] ?? nobody);
      },
      get untilAnswered() {
        return apart(at, answered[at] ?? nobody);
      },
      get untilEnd() {
        const end = ends.get(facts.account);
        return end === undefined || facts.sentAt === null ? null : end - facts.sentAt;
      },
      get first() {
        return firsts?.[caller] ?? null;
      },
      get last() {
        return lasts?.[caller] ?? null;
      },
    };
    const record: Record<string, unknown> = {};
    const fields = this.#fields;
    for (at = 0; at < this.#sids.length; at += 1) {
      for (let i = 0; i < fields.length; i += 1) record[fields[i] ?? ''] = this.#columns[i]?.[at];
      this.#set(facts, record, at);
      caller = this.#number(at, callerAt);
      facts.sequence = caller === nobody ? null : sequence;
      take(facts, this.#sids[at] ?? '');
    }
  }

  /** The records of some calls, in questions that ask for fields of the first or the last call. */
  #records(calls: Int32Array): readonly Fields[] {
    return this.#hasTouches ? Array.from(calls, (at) => this.#recordAt(at)) : [];
  }

  #accountOf(name: string): Account {
    if (this.#last?.name === name) return this.#last;
    let own = this.#accounts.get(name);
    if (own === undefined) {
      own = { name, place: this.#names.push(name) - 1, callers: new Map() };
      this.#accounts.set(name, own);
    }
    this.#last = own;
    return own;
  }

  #placeOf({ callers }: Account, caller: number | string): number {
    const found = callers.get(caller);
    if (found !== undefined) return found;
    this.#memory.take(bytesOfCaller);
    const place = this.#keys.push(caller) - 1;
    callers.set(caller, place);
    return place;
  }

  /** By call: which call of its caller it is, from 1, which ones are before and after it, and the next one that was answered. By caller: the first and the last one. */
  #places() {
    const size = this.#sids.length;
    const nth = new Int32Array(size);
    const before = new Int32Array(size).fill(nobody);
    const after = new Int32Array(size).fill(nobody);
    const first = new Int32Array(this.#keys.length).fill(nobody);
    const last = new Int32Array(this.#keys.length).fill(nobody);
    const answered = new Int32Array(size).fill(nobody);
    const order = this.#inOrder();
    for (const at of order) {
      const caller = this.#number(at, callerAt);
      if (caller === nobody) continue;
      const previous = last[caller] ?? nobody;
      nth[at] = previous === nobody ? 1 : (nth[previous] ?? 0) + 1;
      before[at] = previous;
      if (previous === nobody) first[caller] = at;
      else after[previous] = at;
      last[caller] = at;
    }
    const nextAnswered = new Int32Array(this.#keys.length).fill(nobody);
    for (const at of order.reverse()) {
      const caller = this.#number(at, callerAt);
      if (caller === nobody) continue;
      answered[at] = nextAnswered[caller] ?? nobody;
      const talk = this.#number(at, talkAt);
      if (talk !== none && talk > 0) nextAnswered[caller] = at;
    }
    return { nth, before, after, answered, first, last };
  }

  /** The calls by time and id, those without a time last. They mostly come in the order of their times, or in the opposite one. */
  #inOrder(): Uint32Array {
    const timeOf = (at: number): number => this.#number(at, timeAt);
    const order = new Uint32Array(this.#sids.length);
    for (let at = 0; at < order.length; at += 1) order[at] = at;
    if (this.#isFalling) order.reverse();
    else if (!this.#isRising) order.sort((a, b) => timeOf(a) - timeOf(b));
    // Then those of one time by their ids.
    const idOf = (at: number): string => this.#sids[at] ?? '';
    for (let start = 0, end = 1; start < order.length; start = end, end += 1) {
      const time = timeOf(order[start] ?? 0);
      while (end < order.length && timeOf(order[end] ?? 0) === time) end += 1;
      if (end > start + 1) order.subarray(start, end).sort((a, b) => compareText(idOf(a), idOf(b)));
    }
    return order;
  }
}

/** The places of the numbers of a call. */
const [timeAt, talkAt, extensionAt, accountAt, callerAt, width] = [0, 1, 2, 3, 4, 5];
const callsOfChunk = 4096;
/** Stands for no time, after all others, and for no talk time. */
const none = Number.MAX_VALUE;
/** Stands for no caller, and for no call. */
const nobody = -1;
const bytesOfCall = 80;
const bytesOfCaller = 72;
