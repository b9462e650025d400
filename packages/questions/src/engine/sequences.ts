import { type MemoryLimit, NumberTable } from '@call-attribution/node-stream/accumulators';
import { fieldsOf } from '../conditions/condition.ts';
import { compareText } from '../conditions/fold.ts';
import { touches } from '../fields/derived.ts';
import type { Facts, Sequence } from '../fields/facts.ts';
import type { Plan } from '../question/plan.ts';

// A question about the sequence of a caller's calls can only be answered when all calls are there: what it needs of each is kept.

/** What is kept of a call: its account, and the fields that the question needs. */
export type KeptCall = readonly [account: string, record: Readonly<Record<string, unknown>>];

const neededFor: Readonly<Record<string, readonly string[]>> = {
  missed: ['talk_minutes'],
  lag_minutes: ['displayed_timestamp'],
  click_id: ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'],
  click_kind: ['ppc_gclid', 'first_touch', 'last_touch', 'url_tag', 'landing_page', 'conversion_page'],
  activity_type: ['activity_type_id'],
  ...Object.fromEntries([...touches].map(([name, { field }]) => [name, [field]])),
};
const always = ['sid', 'date_added', 'channel', 'ani'];

/** What decides which fields are needed. */
type Needs = Pick<Plan, 'groups' | 'conditions' | 'parts' | 'fields'>;

/** The fields that a question names, those that follow from others included. */
export function namedFields({ groups, conditions, parts, fields }: Needs): readonly string[] {
  const names = [
    ...groups.map(({ name }) => name),
    ...conditions.flatMap(({ condition }) => [...fieldsOf(condition)]),
    ...parts.flatMap((part) => {
      if ('condition' in part) return [...fieldsOf(part.condition)];
      if ('field' in part) return [part.field];
      if (part.kind === 'lag_median' || part.kind === 'with_lag') return ['lag_minutes'];
      return ['talked', 'missed', 'talk_sum', 'talk_rank'].includes(part.kind) ? ['talk_minutes'] : [];
    }),
  ];
  return names.map((name) => fields.get(name)?.name ?? name);
}

/** The fields of a record that a question needs. */
function neededFields(plan: Needs): readonly string[] {
  return [...new Set([...always, ...namedFields(plan).flatMap((name) => neededFor[name] ?? [name])])];
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
  readonly #callers: number[] = [];
  readonly #times: number[] = [];
  /** By account, the place of each caller among all. */
  readonly #known = new Map<string, Callers>();
  #last: { readonly account: string; readonly known: Callers } | null = null;
  #met = 0;

  constructor(plan: Needs, memory: MemoryLimit) {
    this.#fields = neededFields(plan);
    this.#columns = this.#fields.map(() => []);
    this.#memory = memory;
    this.#hasTouches = namedFields(plan).some((name) => touches.has(name));
  }

  /** Keeps what is needed of a call. */
  add({ record, account, caller, sentAt }: Pick<Facts, 'record' | 'account' | 'caller' | 'sentAt'>): void {
    let bytes = 24;
    for (let i = 0; i < this.#fields.length; i += 1) {
      const value = record[this.#fields[i] ?? ''];
      this.#columns[i]?.push(value);
      bytes += bytesOf(value);
    }
    this.#memory.take(bytes);
    this.#accounts.push(account);
    this.#times.push(sentAt ?? noTime);
    this.#callers.push(caller === null ? nobody : this.#numberOf(account, caller));
  }

  /** What was kept, as plain JSON. */
  save(): KeptCall[] {
    return this.#accounts.map((account, at) => [account, this.#recordAt(at)]);
  }

  #recordAt(at: number): Fields {
    const record: Record<string, unknown> = {};
    for (const [i, name] of this.#fields.entries()) {
      const value = this.#columns[i]?.[at];
      if (value !== undefined) record[name] = value;
    }
    return record;
  }

  /** Goes through the calls with the place of each among those of its caller in its account; null without a caller number. */
  each(take: (record: Fields, account: string, sequence: Sequence | null) => void): void {
    const { nth, before, after, first, last } = this.#places();
    const [firsts, lasts] = [first, last].map((ends) => this.#records(ends));
    const times = this.#times;
    const apart = (from: number | undefined, to: number | undefined): number | null => {
      if (from === undefined || to === undefined || from < 0 || to < 0) return null;
      const [start = noTime, end = noTime] = [times[from], times[to]];
      return start === noTime || end === noTime ? null : end - start;
    };
    // One object for all calls: only the values of its fields change.
    const record: Record<string, unknown> = {};
    const fields = this.#fields;
    for (let at = 0; at < this.#accounts.length; at += 1) {
      for (let i = 0; i < fields.length; i += 1) record[fields[i] ?? ''] = this.#columns[i]?.[at];
      const place = nth[at] ?? 0;
      const sequence =
        place === 0
          ? null
          : {
              nth: place,
              sincePrevious: apart(before[at], at),
              untilNext: apart(at, after[at]),
              first: firsts?.[this.#callers[at] ?? nobody] ?? null,
              last: lasts?.[this.#callers[at] ?? nobody] ?? null,
            };
      take(record, this.#accounts[at] ?? '', sequence);
    }
  }

  /** The records of some calls, in questions that ask for fields of the first or the last call. */
  #records(calls: Int32Array): readonly Fields[] {
    return this.#hasTouches ? Array.from(calls, (at) => this.#recordAt(at)) : [];
  }

  #numberOf(account: string, caller: number | string): number {
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
    this.#met += 1;
    if (isNumber) numbers.put(caller, this.#met);
    else others.set(caller, this.#met);
    return this.#met - 1;
  }

  /** By call: which call of its caller it is, from 1, and which ones are before and after it. By caller: the first and the last one. */
  #places() {
    const size = this.#accounts.length;
    const nth = new Int32Array(size);
    const before = new Int32Array(size).fill(nobody);
    const after = new Int32Array(size).fill(nobody);
    const first = new Int32Array(this.#met).fill(nobody);
    const last = new Int32Array(this.#met).fill(nobody);
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
    const order = Uint32Array.from(this.#accounts, (_, at) => at);
    const sids = this.#columns[this.#fields.indexOf('sid')] ?? [];
    const times = this.#times;
    const compare = (a: number, b: number): number =>
      (times[a] ?? noTime) - (times[b] ?? noTime) || compareText(String(sids[a]), String(sids[b]));
    const [first, end] = [times[0] ?? noTime, times.at(-1) ?? noTime];
    if (end < first) order.reverse();
    for (let i = 1; i < order.length; i += 1)
      if (compare(order[i - 1] ?? 0, order[i] ?? 0) > 0) return order.sort(compare);
    return order;
  }
}

/** The time of a call without one, after all others. */
const noTime = Number.MAX_VALUE;
/** Stands for no caller, and for no call. */
const nobody = -1;
const bytesOfCaller = 48;
