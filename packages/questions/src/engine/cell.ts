import { hour } from '@call-attribution/core/time';
import {
  type Accumulator,
  Distinct,
  Largest,
  type MemoryLimit,
  Percentiles,
  Smallest,
} from '@call-attribution/node-stream/accumulators';
import type { Condition } from '../conditions/condition.ts';
import { compileCondition, type Judge, type Value } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import { type Facts, plainSums } from '../fields/facts.ts';
import type { Part, PartValue } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';

/** The running state of one part in one group that is more than a sum. */
export interface PartState {
  add(facts: Facts): void;
  result(): PartValue;
  save(): unknown;
  merge(saved: unknown): void;
  /** Takes in what another one of the same part has counted. */
  absorb(other: PartState): void;
}

/** How a part is counted: as a sum over the calls of a group, or with a state of its own in each group. */
export type PartCounter =
  | {
      readonly kind: 'sum';
      readonly of: (facts: Facts) => number;
      /** Where the facts of a call have it worked out already; -1 where they do not. */
      readonly plain: number;
    }
  | { readonly kind: 'state'; readonly make: () => PartState };

/** What a saved number, or a list, must be. */
export function numberIn(saved: unknown): number {
  if (typeof saved === 'number' && Number.isFinite(saved)) return saved;
  throw invalidState();
}

/** A saved answer that cannot be used. */
export const invalidState = (): QuestionError =>
  new QuestionError(
    'invalid_state',
    'The saved answer is damaged, or of another question. Start again without it.',
  );

const counter = (counts: (facts: Facts) => boolean): PartCounter => ({
  kind: 'sum',
  of: (facts) => (counts(facts) ? 1 : 0),
  plain: -1,
});

/** What an accumulator makes of something that is read of each call. */
class Accumulated<V> implements PartState {
  readonly #read: (facts: Facts) => V | null;
  readonly #values: Accumulator<V, unknown, unknown>;
  readonly #result: () => PartValue;

  constructor(
    read: (facts: Facts) => V | null,
    values: Accumulator<V, unknown, unknown>,
    result: () => PartValue,
  ) {
    this.#read = read;
    this.#values = values;
    this.#result = result;
  }

  add(facts: Facts): void {
    const value = this.#read(facts);
    if (value !== null) this.#values.add(value);
  }

  result(): PartValue {
    return this.#result();
  }

  save(): unknown {
    return this.#values.save();
  }

  merge(saved: unknown): void {
    // Accumulators check what they are given.
    this.#values.merge(saved);
  }

  absorb(other: PartState): void {
    const isDistinct = other instanceof Accumulated && other.#values instanceof Distinct;
    // Different values are many: they are not copied.
    this.merge(isDistinct ? other.#values : other.save());
  }
}

/** How many different values occur, or occur at least so often. */
const different = (read: (facts: Facts) => Value, memory: MemoryLimit, least = 1): PartCounter => ({
  kind: 'state',
  make: () => {
    const values = new Distinct(memory);
    return new Accumulated(read, values, () => (least === 1 ? values.result() : values.atLeast(least)));
  },
});

/** A value by its rank. */
const ranked = (
  read: (facts: Facts) => number | null,
  memory: MemoryLimit,
  part: number,
  of: number,
): PartCounter => ({
  kind: 'state',
  make: () => {
    const values = new Percentiles(memory);
    return new Accumulated(read, values, () => values.at(part, of));
  },
});

/** The first time, or the last one. */
const extreme = (make: () => Smallest | Largest): PartCounter => ({
  kind: 'state',
  make: () => {
    const values = make();
    return new Accumulated(
      ({ time }) => time,
      values,
      () => values.result(),
    );
  },
});

const caller = ({ caller }: Facts): Value => caller;

/** How each part of a plan is counted. */
export function partCounters(plan: Plan, memory: MemoryLimit): readonly PartCounter[] {
  const judges = new Map<string, Judge<Facts>>();
  const judgeOf = (condition: Condition): Judge<Facts> => {
    const id = JSON.stringify(condition);
    const judge = judges.get(id) ?? compileCondition(condition, plan.fields, readerIn(plan));
    judges.set(id, judge);
    return judge;
  };
  return plan.parts.map((part) => counterOf(part, readerIn(plan), judgeOf, memory));
}

function counterOf(
  part: Part,
  readerOf: (name: string) => (facts: Facts) => Value,
  judgeOf: (condition: Condition) => Judge<Facts>,
  memory: MemoryLimit,
): PartCounter {
  switch (part.kind) {
    case 'calls':
    case 'extensions':
    case 'talked':
    case 'missed':
    case 'talk_sum': {
      const at = plainSums.indexOf(part.kind);
      return { kind: 'sum', plain: at, of: ({ sums }) => sums[at] ?? 0 };
    }
    case 'talk_rank':
      return ranked(({ talk }) => talk, memory, part.part, part.of);
    case 'callers':
      return different(caller, memory);
    case 'repeat_callers':
      return different(caller, memory, 2);
    case 'answered':
      return counter(({ talk }) => talk !== null && talk > 0);
    case 'judged':
      return counter(({ talk }) => talk !== null && talk >= 0);
    case 'sum':
    case 'known': {
      const read = numberOf(readerOf(part.field), part.scale);
      const isSum = part.kind === 'sum';
      return {
        kind: 'sum',
        plain: -1,
        of: (facts) => {
          const value = read(facts);
          return isSum ? (value ?? 0) : Number(value !== null);
        },
      };
    }
    case 'rank':
      return ranked(numberOf(readerOf(part.field), part.scale), memory, part.part, part.of);
    case 'followed':
    case 'called_again':
    case 'reached': {
      const within = part.hours * hour;
      return counter((facts) => isFollowed(facts, within) && comesWithin(part.kind, facts, within));
    }
    case 'with_caller':
      return counter((facts) => facts.caller !== null);
    case 'first_time':
      return counter(({ sequence }) => sequence?.nth === 1);
    case 'with_lag':
      return counter(({ lag }) => lag !== null);
    case 'lag_median':
      return ranked(({ lag }) => lag, memory, 1, 2);
    case 'first':
      return extreme(() => new Smallest());
    case 'last':
      return extreme(() => new Largest());
    case 'distinct': {
      const read = readerOf(part.field);
      return different((facts) => orNone(read(facts)), memory);
    }
    case 'without': {
      const read = readerOf(part.field);
      return counter((facts) => {
        const value = read(facts);
        return value === null || value === '';
      });
    }
    case 'holds': {
      const judge = judgeOf(part.condition);
      return counter((facts) => judge(facts) === true);
    }
  }
}

/** A number field in steps of which `scale` make 1. */
const numberOf =
  (read: (facts: Facts) => Value, scale: number) =>
  (facts: Facts): number | null => {
    const value = read(facts);
    return typeof value === 'number' ? Math.round(value * scale) : null;
  };

/** Is it a missed call of a caller, of which it is known what came within so many milliseconds? */
const isFollowed = ({ talk, sequence }: Facts, within: number): boolean =>
  talk === 0 && sequence !== null && sequence.untilEnd !== null && sequence.untilEnd >= within;

function comesWithin(
  kind: 'followed' | 'called_again' | 'reached',
  { sequence }: Facts,
  within: number,
): boolean {
  if (kind === 'followed') return true;
  const until = kind === 'reached' ? sequence?.untilAnswered : sequence?.untilNext;
  return typeof until === 'number' && until <= within;
}

/** An empty value is none, as in `without`. */
const orNone = (value: Value): Value => (value === '' ? null : value);

/** Reads the fields of a plan by their names. */
export const readerIn =
  ({ fields }: Pick<Plan, 'fields'>) =>
  (name: string): ((facts: Facts) => Value) =>
    fields.get(name)?.read ?? (() => null);

/** What a group saves. */
export interface SavedCell {
  /** Values of the groups. */
  readonly key: readonly Value[];
  /** What each part had counted. */
  readonly parts: readonly unknown[];
}
