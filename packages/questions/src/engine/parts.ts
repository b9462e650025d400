import { hour } from '@call-attribution/core/time';
import type { Condition } from '../conditions/condition.ts';
import { compileCondition, type Judge, type Value } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import type { Facts } from '../fields/facts.ts';
import type { Part, PartValue } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';

/** Memory that the exact state of a question may take, by default. */
export const usualMemory = 512e6;

/** About how much memory a question takes. */
export class Memory {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.#most)
      throw new QuestionError(
        'too_much',
        `The exact answer needs more than the ${Math.round(this.#most / 1e6)} MB that it may use. Choose a shorter period or fewer groups, or raise \`memory\`.`,
      );
  }
}

/** What is counted of each group: a sum, how often each value occurs, all values, or the least or largest one. */
type State = number | null | Map<Value, number> | number[];

/** How a state is counted. Parts of one `id` share it: the median and the callers of a group are each kept once. */
interface Counter {
  readonly id: string;
  make(): State;
  /** Counts a call, and returns the state. */
  add(state: State, facts: Facts): State;
  /** Counts in the state of another group. */
  merge(state: State, other: State): State;
}

/** How a part is counted, and made of what was counted. */
interface PartCounter {
  readonly counter: Counter;
  readonly result: (state: State) => PartValue;
}

type Read<T> = (facts: Facts) => T;

const bytesOfGroup = 200;
const bytesOfValue = 64;
const bytesOfNumber = 8;

const sum = (id: string, of: Read<number>): PartCounter => ({
  counter: {
    id,
    make: () => 0,
    add: (state, facts) => (state as number) + of(facts),
    merge: (state, other) => (state as number) + (other as number),
  },
  result: (state) => state as number,
});

const counted = (id: string, counts: Read<boolean>): PartCounter =>
  sum(id, (facts) => (counts(facts) ? 1 : 0));

/** How many different values occur, or occur at least so often. */
function different(id: string, read: Read<Value>, memory: Memory, least = 1): PartCounter {
  return {
    counter: {
      id,
      make: () => new Map(),
      add(state, facts) {
        const value = read(facts);
        if (value === null) return state;
        const values = state as Map<Value, number>;
        const before = values.get(value);
        if (before === undefined) memory.take(bytesOfValue);
        values.set(value, (before ?? 0) + 1);
        return state;
      },
      merge(state, other) {
        const values = state as Map<Value, number>;
        for (const [value, times] of other as Map<Value, number>)
          values.set(value, (values.get(value) ?? 0) + times);
        return state;
      },
    },
    result(state) {
      const values = state as Map<Value, number>;
      if (least === 1) return values.size;
      let found = 0;
      for (const times of values.values()) if (times >= least) found += 1;
      return found;
    },
  };
}

/** The value at rank `ceil(part / of * n)`. */
const ranked = (
  id: string,
  read: Read<number | null>,
  memory: Memory,
  part: number,
  of: number,
): PartCounter => ({
  counter: {
    id,
    make: () => [],
    add(state, facts) {
      const value = read(facts);
      if (value === null) return state;
      memory.take(bytesOfNumber);
      (state as number[]).push(value);
      return state;
    },
    merge(state, other) {
      for (const value of other as number[]) (state as number[]).push(value);
      return state;
    },
  },
  result(state) {
    const values = Float64Array.from(state as number[]).sort();
    return values[Math.ceil((part * values.length) / of) - 1] ?? null;
  },
});

const extreme = (id: string, choose: (a: number, b: number) => number): PartCounter => {
  const merge = (state: State, other: State): State =>
    state === null || other === null ? (state ?? other) : choose(state as number, other as number);
  return {
    counter: { id, make: () => null, add: (state, { time }) => merge(state, time), merge },
    result: (state) => state as PartValue,
  };
};

/** Reads the fields of a plan by their names. */
export const readerIn =
  ({ fields }: Pick<Plan, 'fields'>) =>
  (name: string): Read<Value> =>
    fields.get(name)?.read ?? (() => null);

/** A number field in steps of which `scale` make 1. */
const numberOf =
  (read: Read<Value>, scale: number): Read<number | null> =>
  (facts) => {
    const value = read(facts);
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

function counterOf(
  part: Part,
  plan: Plan,
  judgeOf: (condition: Condition) => Judge<Facts>,
  memory: Memory,
): PartCounter {
  const id = JSON.stringify(part);
  const readerOf = readerIn(plan);
  switch (part.kind) {
    case 'calls':
      return sum(id, () => 1);
    case 'extensions':
      return counted(id, ({ isExtension }) => isExtension);
    case 'missed':
      return counted(id, ({ talk }) => talk === 0);
    case 'answered':
      return counted(id, ({ talk }) => talk !== null && talk > 0);
    case 'judged':
      return counted(id, ({ talk }) => talk !== null && talk >= 0);
    case 'with_caller':
      return counted(id, ({ caller }) => caller !== null);
    case 'callers':
      return different('callers', ({ caller }) => caller, memory);
    case 'repeat_callers':
      return different('callers', ({ caller }) => caller, memory, 2);
    case 'first_time':
      return counted(id, ({ sequence }) => sequence?.nth === 1);
    case 'first':
      return extreme(id, Math.min);
    case 'last':
      return extreme(id, Math.max);
    case 'sum': {
      const read = numberOf(readerOf(part.field), part.scale);
      return sum(id, (facts) => read(facts) ?? 0);
    }
    case 'known': {
      const read = numberOf(readerOf(part.field), part.scale);
      return counted(id, (facts) => read(facts) !== null);
    }
    case 'rank':
      return ranked(
        `rank ${part.field}`,
        numberOf(readerOf(part.field), part.scale),
        memory,
        part.part,
        part.of,
      );
    case 'distinct': {
      const read = readerOf(part.field);
      return different(
        id,
        (facts) => {
          const value = read(facts);
          return value === '' ? null : value;
        },
        memory,
      );
    }
    case 'without': {
      const read = readerOf(part.field);
      return counted(id, (facts) => {
        const value = read(facts);
        return value === null || value === '';
      });
    }
    case 'holds': {
      const judge = judgeOf(part.condition);
      return counted(id, (facts) => judge(facts) === true);
    }
    case 'followed':
    case 'called_again':
    case 'reached':
      return counted(id, follows(part.kind, part.hours));
  }
}

/** What was counted of a group: its key, and the states of the parts. */
interface Cell {
  readonly key: readonly Value[];
  readonly states: State[];
}

/** The groups of one period, in a tree of maps: a level for each group of the question. Only those that a call is in are kept. */
export class GroupTable {
  readonly #reads: readonly Read<Value>[];
  readonly #parts: readonly (PartCounter & { readonly at: number })[];
  readonly #counters: readonly Counter[];
  readonly #memory: Memory;
  readonly #tree: Map<Value, unknown> = new Map();
  readonly #cells: Cell[] = [];

  /** `reads` reads the groups of a call. */
  constructor(plan: Plan, reads: readonly Read<Value>[], memory: Memory) {
    this.#reads = reads;
    this.#memory = memory;
    const judges = new Map<string, Judge<Facts>>();
    const judgeOf = (condition: Condition): Judge<Facts> => {
      const id = JSON.stringify(condition);
      const judge = judges.get(id) ?? compileCondition(condition, plan.fields, readerIn(plan));
      judges.set(id, judge);
      return judge;
    };
    const counters = new Map<string, Counter>();
    this.#parts = plan.parts.map((part) => {
      const own = counterOf(part, plan, judgeOf, memory);
      const { id } = own.counter;
      if (!counters.has(id)) counters.set(id, own.counter);
      return { ...own, at: [...counters.keys()].indexOf(id) };
    });
    this.#counters = [...counters.values()];
  }

  /** Counts a call in its group. */
  add(facts: Facts): void {
    const reads = this.#reads;
    const key: Value[] = [];
    for (let i = 0; i < reads.length; i += 1) key.push(reads[i]?.(facts) ?? null);
    const { states } = this.#cellOf(key);
    const counters = this.#counters;
    for (let i = 0; i < counters.length; i += 1)
      states[i] = (counters[i] as Counter).add(states[i] as State, facts);
  }

  /** Counts in what another table of the same question has. */
  merge(other: GroupTable): void {
    for (const { key, states } of other.#cells) {
      const own = this.#cellOf(key).states;
      for (const [i, counter] of this.#counters.entries())
        own[i] = counter.merge(own[i] as State, states[i] as State);
    }
  }

  #cellOf(key: readonly Value[]): Cell {
    let node = this.#tree;
    const last = key.length - 1;
    for (let i = 0; i < last; i += 1) {
      const value = key[i] ?? null;
      let next = node.get(value) as Map<Value, unknown> | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(value, next);
      }
      node = next;
    }
    let cell = node.get(key[last] ?? null) as Cell | undefined;
    if (cell === undefined) {
      cell = this.#create(key);
      node.set(key[last] ?? null, cell);
    }
    return cell;
  }

  #create(key: readonly Value[]): Cell {
    const texts = key.reduce(
      (bytes: number, value) => bytes + (typeof value === 'string' ? value.length : 0),
      0,
    );
    this.#memory.take(bytesOfGroup + texts + bytesOfNumber * this.#counters.length);
    const cell = { key, states: this.#counters.map((counter) => counter.make()) };
    this.#cells.push(cell);
    return cell;
  }

  #results(states: readonly State[]): PartValue[] {
    return this.#parts.map(({ at, result }) => result(states[at] as State));
  }

  /** What was counted of each group. */
  cells(): { readonly key: readonly Value[]; readonly parts: PartValue[] }[] {
    return this.#cells.map(({ key, states }) => ({ key, parts: this.#results(states) }));
  }

  /** The parts over all groups. */
  whole(): PartValue[] {
    const [only] = this.#cells;
    if (only !== undefined && this.#cells.length === 1) return this.#results(only.states);
    const all = this.#counters.map((counter) => counter.make());
    for (const { states } of this.#cells)
      for (const [i, counter] of this.#counters.entries())
        all[i] = counter.merge(all[i] as State, states[i] as State);
    return this.#results(all);
  }
}
