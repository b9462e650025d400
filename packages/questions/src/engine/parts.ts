import { type Condition, judgedField, type Value } from '../conditions/condition.ts';
import { compileCondition, type ReaderOf } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import { type Batch, nobody } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import { allFields } from '../fields/vocabulary.ts';
import { textOf } from '../fields/wire-values.ts';
import { type Alignment, keyReader } from '../question/buckets.ts';
import type { Part, PartValue } from '../question/measures.ts';
import type { ReadPlan } from '../question/plan.ts';

/** Memory that the exact state of questions may take, by default. */
export const usualMemory = 512e6;

/** Takes so many bytes, or refuses to. */
export type TakeMemory = (bytes: number) => void;

/** About how much memory a question takes. */
export function memoryOf(most: number): TakeMemory {
  let taken = 0;
  return (bytes) => {
    taken += bytes;
    if (taken > most)
      throw new QuestionError(
        'too_much',
        `The exact answer needs more than the ${Math.round(most / 1e6)} MB that it may use. Choose a shorter period or fewer groups, or raise \`memory\`.`,
      );
  };
}

type Read = (call: Batch) => Value;

/** The values of a part in each group, and over all of them. */
interface Results {
  readonly groups: readonly PartValue[];
  readonly whole: PartValue;
}

/** Counts something in each group; groups are numbered from 0. */
interface Counter {
  /** Begins the next group. */
  open(): void;
  add(group: number, value: Value): void;
  /** Counts in what another one has. Its groups and its callers have these numbers here. */
  merge(other: Counter, groupOf: readonly number[], callerOf: ArrayLike<number>): void;
  results(result: Part['result']): Results;
}

const bytesOfGroup = 200;
const bytesOfPair = 32;
const bytesOfNumber = 8;

const folds = { sum: (a: number, b: number): number => a + b, least: Math.min, greatest: Math.max };

/** A number for each group, which those of its calls are laid on. */
class Folds implements Counter {
  readonly #start: number | null;
  readonly #fold: (a: number, b: number) => number;
  readonly #numbers: (number | null)[] = [];

  constructor(result: keyof typeof folds) {
    this.#start = result === 'sum' ? 0 : null;
    this.#fold = folds[result];
  }

  open(): void {
    this.#numbers.push(this.#start);
  }

  add(group: number, value: number | null): void {
    this.#numbers[group] = this.#both(this.#numbers[group] as number | null, value);
  }

  merge(other: Folds, groupOf: readonly number[]): void {
    for (const [i, group] of groupOf.entries()) this.add(group, other.#numbers[i] ?? null);
  }

  #both(a: number | null, b: number | null): number | null {
    return a === null || b === null ? (a ?? b) : this.#fold(a, b);
  }

  results(): Results {
    const whole = this.#numbers.reduce((a, b) => this.#both(a, b), this.#start);
    return { groups: this.#numbers, whole };
  }
}

/** All values of a number. */
class Numbers implements Counter {
  readonly #take: TakeMemory;
  readonly #lists: number[][] = [];

  constructor(take: TakeMemory) {
    this.#take = take;
  }

  open(): void {
    this.#lists.push([]);
  }

  add(group: number, value: number | null): void {
    if (value === null) return;
    this.#take(bytesOfNumber);
    (this.#lists[group] as number[]).push(value);
  }

  merge(other: Numbers, groupOf: readonly number[]): void {
    for (const [i, list] of other.#lists.entries())
      for (const value of list) this.add(groupOf[i] as number, value);
  }

  results(result: Part['result']): Results {
    const [part, of] = typeof result === 'object' && 'rank' in result ? result.rank : [1, 1];
    const ranked = [...this.#lists, this.#lists.flat()].map((list) => {
      const at = Math.ceil((part * list.length) / of) - 1;
      return new Float64Array(list).sort()[at] ?? null;
    });
    return { groups: ranked.slice(0, -1), whole: ranked.at(-1) ?? null };
  }
}

/** How often each value occurs. Values are numbered: callers are already, others are here. */
class Occurrences implements Counter {
  readonly #isOfCallers: boolean;
  readonly #take: TakeMemory;
  readonly #values = new Map<Value, number>();
  /** Pairs of a group and a value, and how often each occurs. */
  readonly #pairs = new Numbering();
  readonly #times: number[] = [];
  #size = 0;

  constructor(isOfCallers: boolean, take: TakeMemory) {
    this.#isOfCallers = isOfCallers;
    this.#take = take;
  }

  open(): void {
    this.#size += 1;
  }

  add(group: number, value: Value): void {
    const number = this.#isOfCallers ? (value as number) : this.#numberOf(value);
    if (number !== nobody) this.#put(group, number, 1);
  }

  /** The number of a value; an empty one is none. */
  #numberOf(value: Value): number {
    if (value === null || value === '') return nobody;
    let number = this.#values.get(value);
    if (number === undefined) {
      number = this.#values.size;
      this.#values.set(value, number);
      this.#take(bytesOfPair * 2);
    }

    return number;
  }

  #put(group: number, value: number, times: number): void {
    const at = this.#pairs.of(group * 2 ** 32 + value);
    if (at === this.#times.length) this.#take(bytesOfPair);
    this.#times[at] = (this.#times[at] ?? 0) + times;
  }

  merge(other: Occurrences, groupOf: readonly number[], callerOf: ArrayLike<number>): void {
    const numberOf = this.#isOfCallers
      ? callerOf
      : Array.from(other.#values.keys(), (value) => this.#numberOf(value));
    other.#each((group, value, times) =>
      this.#put(groupOf[group] as number, numberOf[value] as number, times),
    );
  }

  #each(take: (group: number, value: number, times: number) => void): void {
    for (const [i, pair] of this.#pairs.keys.entries())
      take(Math.floor(pair / 2 ** 32), pair % 2 ** 32, this.#times[i] as number);
  }

  results(result: Part['result']): Results {
    const least = typeof result === 'object' && 'times' in result ? result.times : 1;
    const groups = new Array<number>(this.#size).fill(0);
    const all: number[] = [];
    this.#each((group, value, times) => {
      if (times >= least) groups[group] = (groups[group] as number) + 1;
      all[value] = (all[value] ?? 0) + times;
    });
    return { groups, whole: all.filter((times) => times >= least).length };
  }
}

function counterOf({ result, needs }: Part, take: TakeMemory): Counter {
  if (typeof result === 'string') return new Folds(result);
  return 'rank' in result ? new Numbers(take) : new Occurrences(needs === 'caller', take);
}

/**
 * The groups of one period, in a tree of maps: a level for each group of the question. Only those
 * that a call is in are kept.
 */
export class GroupTable {
  readonly #plan: ReadPlan;
  readonly #reads: readonly Read[];
  readonly #take: TakeMemory;
  readonly #tree: Map<Value, unknown> = new Map();
  readonly #keys: (readonly Value[])[] = [];
  /** What is counted, by the id of its parts. */
  readonly #counted = new Map<string, { readonly counter: Counter; readonly read: Read }>();

  /** Times are `moved`. */
  constructor(plan: ReadPlan, moved: Alignment, take: TakeMemory, namesOf: AccountNames) {
    this.#plan = plan;
    this.#reads = plan.groups.map((group) => keyReader(group, moved));
    this.#take = take;
    for (const part of plan.parts) {
      const { id, about, of } = part;
      const value = about === null ? () => null : partReader(about, namesOf);
      const read: Read = (call) => of(value(call), call);
      if (!this.#counted.has(id)) this.#counted.set(id, { counter: counterOf(part, take), read });
    }
  }

  /** Counts the calls at these places of a batch. */
  count(calls: Batch, rows: Int32Array): void {
    const valueAt = (level: number): Value => this.#reads[level]?.(calls) ?? null;
    const counted = [...this.#counted.values()];
    for (const at of rows) {
      calls.at = at;
      const group = this.#groupOf(valueAt);
      for (const { counter, read } of counted) counter.add(group, read(calls));
    }
  }

  /** Counts in what another table of the same question has. Its callers have these numbers here. */
  merge(other: GroupTable, callerOf: ArrayLike<number>): void {
    const groupOf = other.#keys.map((key) => this.#groupOf((level) => key[level] ?? null));
    for (const [id, { counter }] of other.#counted)
      this.#counted.get(id)?.counter.merge(counter, groupOf, callerOf);
  }

  /** The number of the group with these values. */
  #groupOf(valueAt: (level: number) => Value): number {
    const last = this.#reads.length - 1;
    let node = this.#tree;
    for (let level = 0; level < last; level += 1) {
      const value = valueAt(level);
      let next = node.get(value) as Map<Value, unknown> | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(value, next);
      }
      node = next;
    }

    const value = valueAt(last);
    const group = node.get(value) as number | undefined;
    if (group !== undefined) return group;
    node.set(value, this.#keys.length);
    const key = this.#reads.map((_, level) => valueAt(level));
    const texts = key.reduce(
      (sum: number, each) => sum + (typeof each === 'string' ? each.length : 0),
      0,
    );
    this.#take(bytesOfGroup + texts + bytesOfNumber * this.#counted.size);
    for (const { counter } of this.#counted.values()) counter.open();
    return this.#keys.push(key) - 1;
  }

  /** The parts of each group, and over all groups. */
  results(): {
    readonly groups: readonly { key: readonly Value[]; parts: PartValue[] }[];
    readonly whole: PartValue[];
  } {
    const parts = this.#plan.parts.map(
      ({ id, result }) =>
        this.#counted.get(id)?.counter.results(result) ?? { groups: [], whole: null },
    );
    return {
      groups: this.#keys.map((key, i) => ({
        key,
        parts: parts.map(({ groups }) => groups[i] ?? null),
      })),
      whole: parts.map(({ whole }) => whole),
    };
  }
}

/** Reads what a part is about: a field, or whether a condition holds. */
const partReader = (about: string | Condition, namesOf: AccountNames): Read =>
  typeof about === 'string'
    ? readerOf(about)
    : compileCondition<Batch>(about, allFields, testedBy(namesOf));

/** Reads a field by its name. */
const readerOf = (field: string): Read => allFields.get(field)?.read ?? (() => null);

/** What else an account is called. */
export type AccountNames = (account: string) => readonly string[];

/** How conditions read fields: of the account of a call, all that it is called. */
export const testedBy = (namesOf: AccountNames): ReaderOf<Batch> => {
  const names = (call: Batch): readonly string[] => {
    const { account } = call.lists;
    const all = [account, ...namesOf(account), textOf(call.value('acct_id')) ?? ''];
    return [...new Set(all)].filter((name) => name !== '');
  };

  return (field) => {
    if (field === 'account') return names;
    return field === judgedField ? (call) => textOf(call.value(field)) : readerOf(field);
  };
};
