import { hour } from '@call-attribution/core/time';
import type { Condition, Value } from '../conditions/condition.ts';
import { compileCondition, type Judge } from '../conditions/holds.ts';
import { type Batch, nobody } from '../fields/batch.ts';
import { Numbering } from '../fields/numbering.ts';
import type { Part, PartValue } from '../question/measures.ts';
import type { ReadQuestion } from '../question/plan.ts';
import type { Memory } from './memory.ts';

type Read<T> = (call: Batch) => T;

/** Calls of a batch by their places in it, and the group of each. */
interface Chosen {
  readonly calls: Batch;
  readonly size: number;
  readonly rows: Int32Array;
  readonly groups: Int32Array;
}

/** The values of a part in each group, and over all of them. */
interface Results {
  readonly groups: readonly PartValue[];
  readonly whole: PartValue;
}

/** Counts something in each group; groups are numbered from 0. */
interface Counter {
  /** Begins the next group. */
  open(): void;
  count(chosen: Chosen): void;
  /** Counts in what another one has. Its groups and its callers have these numbers here. */
  merge(other: Counter, groupOf: readonly number[], callerOf: ArrayLike<number>): void;
}

const bytesOfGroup = 200;
const bytesOfPair = 32;
const bytesOfNumber = 8;

/** A number for each group, which those of its calls are laid on. */
class Folds implements Counter {
  readonly #start: number | null;
  readonly #read: Read<number | null>;
  readonly #fold: (a: number, b: number) => number;
  readonly #numbers: (number | null)[] = [];

  constructor(start: number | null, read: Read<number | null>, fold: (a: number, b: number) => number) {
    this.#start = start;
    this.#read = read;
    this.#fold = fold;
  }

  open(): void {
    this.#numbers.push(this.#start);
  }

  count({ calls, size, rows, groups }: Chosen): void {
    const [numbers, read] = [this.#numbers, this.#read];
    for (let i = 0; i < size; i += 1) {
      calls.at = rows[i] as number;
      const group = groups[i] as number;
      numbers[group] = this.#both(numbers[group] as number | null, read(calls));
    }
  }

  merge(other: Folds, groupOf: readonly number[]): void {
    for (const [i, group] of groupOf.entries())
      this.#numbers[group] = this.#both(this.#numbers[group] ?? null, other.#numbers[i] ?? null);
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
  readonly #read: Read<number | null>;
  readonly #memory: Memory;
  readonly #lists: number[][] = [];
  /** The same in order, and all together at the end; empty as long as nobody asks. */
  #sorted: Float64Array[] = [];

  constructor(read: Read<number | null>, memory: Memory) {
    this.#read = read;
    this.#memory = memory;
  }

  open(): void {
    this.#lists.push([]);
  }

  count({ calls, size, rows, groups }: Chosen): void {
    const [lists, read] = [this.#lists, this.#read];
    this.#sorted = [];
    for (let i = 0; i < size; i += 1) {
      calls.at = rows[i] as number;
      const value = read(calls);
      if (value !== null) (lists[groups[i] as number] as number[]).push(value);
    }
    this.#memory.take(bytesOfNumber * size);
  }

  merge(other: Numbers, groupOf: readonly number[]): void {
    this.#sorted = [];
    for (const [i, list] of other.#lists.entries()) {
      const own = this.#lists[groupOf[i] as number] as number[];
      for (const value of list) own.push(value);
    }
  }

  /** The values at rank `ceil(part / of * n)`. */
  results(part: number, of: number): Results {
    if (this.#sorted.length === 0)
      this.#sorted = [...this.#lists, this.#lists.flat()].map((list) => new Float64Array(list).sort());
    const ranked = this.#sorted.map((values) => values[Math.ceil((part * values.length) / of) - 1] ?? null);
    return { groups: ranked.slice(0, -1), whole: ranked.at(-1) ?? null };
  }
}

/** How often each value occurs. Values are numbered: those of callers are, others are here. */
class Occurrences implements Counter {
  readonly #read: Read<Value> | null;
  readonly #memory: Memory;
  readonly #values = new Map<Value, number>();
  /** Pairs of a group and a value, and how often each occurs. */
  readonly #pairs = new Numbering();
  readonly #times: number[] = [];
  #size = 0;

  /** Counts the callers, or the values of a field. */
  constructor(read: Read<Value> | null, memory: Memory) {
    this.#read = read;
    this.#memory = memory;
  }

  open(): void {
    this.#size += 1;
  }

  count({ calls, size, rows, groups }: Chosen): void {
    const read = this.#read;
    for (let i = 0; i < size; i += 1) {
      calls.at = rows[i] as number;
      const value = read === null ? calls.caller : this.#numberOf(read(calls));
      if (value !== nobody) this.#add(groups[i] as number, value, 1);
    }
  }

  /** The number of a value; an empty one is none. */
  #numberOf(value: Value): number {
    if (value === null || value === '') return nobody;
    let number = this.#values.get(value);
    if (number === undefined) {
      number = this.#values.size;
      this.#values.set(value, number);
      this.#memory.take(bytesOfPair * 2);
    }
    return number;
  }

  #add(group: number, value: number, times: number): void {
    const at = this.#pairs.of(group * 2 ** 32 + value);
    if (at < this.#times.length) this.#times[at] = (this.#times[at] as number) + times;
    else {
      this.#memory.take(bytesOfPair);
      this.#times.push(times);
    }
  }

  merge(other: Occurrences, groupOf: readonly number[], callerOf: ArrayLike<number>): void {
    const numberOf =
      this.#read === null ? callerOf : Array.from(other.#values.keys(), (value) => this.#numberOf(value));
    other.#each((group, value, times) =>
      this.#add(groupOf[group] as number, numberOf[value] as number, times),
    );
  }

  #each(take: (group: number, value: number, times: number) => void): void {
    for (const [i, pair] of this.#pairs.keys.entries())
      take(Math.floor(pair / 2 ** 32), pair % 2 ** 32, this.#times[i] as number);
  }

  /** How many values occur at least so often. */
  results(least: number): Results {
    const groups = new Array<number>(this.#size).fill(0);
    const all: number[] = [];
    this.#each((group, value, times) => {
      if (times >= least) groups[group] = (groups[group] as number) + 1;
      all[value] = (all[value] ?? 0) + times;
    });
    return { groups, whole: all.reduce((found, times) => found + Number(times >= least), 0) };
  }
}

/** A number field in steps of which `scale` make 1. */
const numberOf =
  (read: Read<Value>, scale: number): Read<number | null> =>
  (call) => {
    const value = read(call);
    return typeof value === 'number' ? Math.round(value * scale) : null;
  };

/** Whether a missed call was followed by another one of the caller in time, of those of which that is known. */
function follows(kind: 'followed' | 'called_again' | 'reached', hours: number): Read<boolean> {
  const within = hours * hour;
  return ({ talk, sequence }) => {
    const untilEnd = sequence?.untilEnd ?? null;
    if (talk !== 0 || sequence === null || untilEnd === null || untilEnd < within) return false;
    if (kind === 'followed') return true;
    const until = kind === 'reached' ? sequence.untilAnswered : sequence.untilNext;
    return until !== null && until <= within;
  };
}

/** What the counters of a table are made with. */
interface Making {
  readonly memory: Memory;
  readonly read: (field: string) => Read<Value>;
  readonly judge: (condition: Condition) => Judge<Batch>;
  /** Parts of one id share a counter: the median and the callers of a group are each kept once. */
  readonly share: <C extends Counter>(id: string, make: () => C) => C;
}

/** Begins to count a part. The function gives what was counted. */
function counterOf(part: Part, { memory, read, judge, share }: Making): () => Results {
  const id = JSON.stringify(part);
  const folded = (...how: ConstructorParameters<typeof Folds>) => {
    const counter = share(id, () => new Folds(...how));
    return () => counter.results();
  };
  const sum = (of: Read<number | null>) => folded(0, of, (a, b) => a + b);
  const counted = (counts: Read<boolean>) => sum((call) => (counts(call) ? 1 : 0));
  switch (part.kind) {
    case 'calls':
      return sum(() => 1);
    case 'extensions':
      return counted(({ isExtension }) => isExtension);
    case 'missed':
      return counted(({ talk }) => talk === 0);
    case 'answered':
      return counted(({ talk }) => talk !== null && talk > 0);
    case 'judged':
      return counted(({ talk }) => talk !== null && talk >= 0);
    case 'with_caller':
      return counted(({ caller }) => caller !== nobody);
    case 'first_time':
      return counted(({ sequence }) => sequence?.nth === 1);
    case 'callers':
    case 'repeat_callers': {
      const counter = share('callers', () => new Occurrences(null, memory));
      return () => counter.results(part.kind === 'callers' ? 1 : 2);
    }
    case 'first':
      return folded(null, ({ time }) => time, Math.min);
    case 'last':
      return folded(null, ({ time }) => time, Math.max);
    case 'sum':
      return sum(numberOf(read(part.field), part.scale));
    case 'known': {
      const number = numberOf(read(part.field), part.scale);
      return counted((call) => number(call) !== null);
    }
    case 'rank': {
      const number = numberOf(read(part.field), part.scale);
      const counter = share(`rank ${part.field}`, () => new Numbers(number, memory));
      return () => counter.results(part.part, part.of);
    }
    case 'distinct': {
      const counter = share(id, () => new Occurrences(read(part.field), memory));
      return () => counter.results(1);
    }
    case 'without': {
      const value = read(part.field);
      return counted((call) => value(call) === null || value(call) === '');
    }
    case 'holds': {
      const holds = judge(part.condition);
      return counted((call) => holds(call) === true);
    }
    case 'followed':
    case 'called_again':
    case 'reached':
      return counted(follows(part.kind, part.hours));
  }
}

/** The groups of one period, in a tree of maps: a level for each group of the question. Only those that a call is in are kept. */
export class GroupTable {
  readonly #reads: readonly Read<Value>[];
  readonly #memory: Memory;
  readonly #tree: Map<Value, unknown> = new Map();
  readonly #keys: (readonly Value[])[] = [];
  readonly #counters = new Map<string, Counter>();
  readonly #parts: readonly (() => Results)[];
  #groups = new Int32Array(0);

  /** `reads` reads the groups of a call. */
  constructor(plan: ReadQuestion, reads: readonly Read<Value>[], memory: Memory) {
    this.#reads = reads;
    this.#memory = memory;
    const read = readerIn(plan);
    const judges = new Map<string, Judge<Batch>>();
    const making: Making = {
      memory,
      read,
      judge(condition) {
        const id = JSON.stringify(condition);
        const judge = judges.get(id) ?? compileCondition(condition, plan.fields, read);
        judges.set(id, judge);
        return judge;
      },
      share: (id, make) => {
        const counter = (this.#counters.get(id) as ReturnType<typeof make> | undefined) ?? make();
        this.#counters.set(id, counter);
        return counter;
      },
    };
    this.#parts = plan.parts.map((part) => counterOf(part, making));
  }

  /** Counts the first `size` calls of those whose places `rows` has. */
  count(calls: Batch, rows: Int32Array, size: number): void {
    if (size === 0) return;
    if (this.#groups.length < size) this.#groups = new Int32Array(rows.length);
    const [reads, groups] = [this.#reads, this.#groups];
    const valueAt = (level: number): Value => reads[level]?.(calls) ?? null;
    for (let i = 0; i < size; i += 1) {
      calls.at = rows[i] as number;
      groups[i] = this.#groupOf(valueAt);
    }
    for (const counter of this.#counters.values()) counter.count({ calls, size, rows, groups });
  }

  /** Counts in what another table of the same question has. Its callers have these numbers here. */
  merge(other: GroupTable, callerOf: ArrayLike<number>): void {
    const groupOf = other.#keys.map((key) => this.#groupOf((level) => key[level] ?? null));
    const counters = [...other.#counters.values()];
    for (const [i, counter] of [...this.#counters.values()].entries())
      counter.merge(counters[i] as Counter, groupOf, callerOf);
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
    return this.#open(this.#reads.map((_, level) => valueAt(level)));
  }

  #open(key: readonly Value[]): number {
    const texts = key.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
    this.#memory.take(bytesOfGroup + texts + bytesOfNumber * this.#counters.size);
    for (const counter of this.#counters.values()) counter.open();
    return this.#keys.push(key) - 1;
  }

  /** The parts of each group, and over all groups. */
  results(): {
    readonly groups: readonly { key: readonly Value[]; parts: PartValue[] }[];
    readonly whole: PartValue[];
  } {
    const parts = this.#parts.map((results) => results());
    return {
      groups: this.#keys.map((key, i) => ({ key, parts: parts.map(({ groups }) => groups[i] ?? null) })),
      whole: parts.map(({ whole }) => whole),
    };
  }
}

/** Reads the fields of a plan by their names. */
export const readerIn =
  ({ fields }: Pick<ReadQuestion, 'fields'>) =>
  (name: string): Read<Value> =>
    fields.get(name)?.read ?? (() => null);
