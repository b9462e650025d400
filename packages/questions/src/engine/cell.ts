import { Distinct, type MemoryLimit, Percentiles } from '@call-attribution/node-stream/accumulators';
import type { Condition } from '../conditions/condition.ts';
import { compileCondition, type Judge, type Value } from '../conditions/holds.ts';
import { QuestionError } from '../errors.ts';
import type { Facts } from '../fields/facts.ts';
import type { Part, PartValue } from '../question/measures.ts';
import type { Plan } from '../question/plan.ts';

/** The running state of one part in one group. */
export interface PartState {
  add(facts: Facts): void;
  result(): PartValue;
  save(): unknown;
  merge(saved: unknown): void;
}

/** Makes the running state of a part for a group. */
export type PartMaker = () => PartState;

/** What a saved number, or a list, must be. */
function numberIn(saved: unknown): number {
  if (typeof saved === 'number' && Number.isFinite(saved)) return saved;
  throw invalidState();
}

/** A saved answer that cannot be used. */
export const invalidState = (): QuestionError =>
  new QuestionError(
    'invalid_state',
    'The saved answer is damaged, or of another question. Start again without it.',
  );

function counter(counts: (facts: Facts) => boolean): PartMaker {
  return () => {
    let count = 0;
    return {
      add(facts) {
        if (counts(facts)) count += 1;
      },
      result: () => count,
      save: () => count,
      merge(saved) {
        count += numberIn(saved);
      },
    };
  };
}

function extreme(better: (time: number, best: number) => boolean): PartMaker {
  return () => {
    let best: number | null = null;
    const put = (time: number | null) => {
      if (time !== null && (best === null || better(time, best))) best = time;
    };
    return {
      add: ({ time }) => put(time),
      result: () => best,
      save: () => best,
      merge: (saved) => put(saved === null ? null : numberIn(saved)),
    };
  };
}

function ranked(
  read: (facts: Facts) => number | null,
  memory: MemoryLimit,
  part: number,
  of: number,
): PartMaker {
  return () => {
    const values = new Percentiles(memory);
    return {
      add(facts) {
        const value = read(facts);
        if (value !== null) values.add(value);
      },
      result: () => values.at(part, of),
      save: () => values.save(),
      merge: (saved) => values.merge(saved as never),
    };
  };
}

function different(
  read: (facts: Facts) => Value,
  memory: MemoryLimit,
  result: (values: Distinct) => number,
): PartMaker {
  return () => {
    const values = new Distinct(memory);
    return {
      add(facts) {
        const value = read(facts);
        if (value !== null) values.add(value);
      },
      result: () => result(values),
      save: () => values.save(),
      merge: (saved) => values.merge(saved as never),
    };
  };
}

const caller = ({ caller }: Facts): string | null => caller;

/** How each part of a plan is counted. */
export function partMakers(plan: Plan, memory: MemoryLimit): readonly PartMaker[] {
  const judges = new Map<string, Judge<Facts>>();
  const judgeOf = (condition: Condition): Judge<Facts> => {
    const id = JSON.stringify(condition);
    const judge = judges.get(id) ?? compileCondition(condition, plan.fields, readerIn(plan));
    judges.set(id, judge);
    return judge;
  };
  return plan.parts.map((part) => makerOf(part, readerIn(plan), judgeOf, memory));
}

function makerOf(
  part: Part,
  readerOf: (name: string) => (facts: Facts) => Value,
  judgeOf: (condition: Condition) => Judge<Facts>,
  memory: MemoryLimit,
): PartMaker {
  switch (part.kind) {
    case 'calls':
      return counter(() => true);
    case 'extensions':
      return counter(({ isExtension }) => isExtension);
    case 'talked':
      return counter(({ talk }) => talk !== null);
    case 'missed':
      return counter(({ talk }) => talk === 0);
    case 'talk_sum':
      return total(({ talk }) => talk);
    case 'talk_rank':
      return ranked(({ talk }) => talk, memory, part.part, part.of);
    case 'callers':
      return different(caller, memory, (values) => values.result());
    case 'repeat_callers':
      return different(caller, memory, (values) => values.atLeast(2));
    case 'with_caller':
      return counter((facts) => facts.caller !== null);
    case 'first_time':
      return counter(({ sequence }) => sequence?.nth === 1);
    case 'with_lag':
      return counter(({ lag }) => lag !== null);
    case 'lag_median':
      return ranked(({ lag }) => lag, memory, 1, 2);
    case 'first':
      return extreme((time, best) => time < best);
    case 'last':
      return extreme((time, best) => time > best);
    case 'distinct':
      return different(readerOf(part.field), memory, (values) => values.result());
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
    case 'judged': {
      const judge = judgeOf(part.condition);
      return counter((facts) => judge(facts) !== null);
    }
  }
}

function total(read: (facts: Facts) => number | null): PartMaker {
  return () => {
    // Tenths are whole numbers: their sum is exact.
    let sum = 0;
    return {
      add(facts) {
        sum += read(facts) ?? 0;
      },
      result: () => sum,
      save: () => sum,
      merge(saved) {
        sum += numberIn(saved);
      },
    };
  };
}

/** Reads the fields of a plan by their names. */
export const readerIn =
  ({ fields }: Pick<Plan, 'fields'>) =>
  (name: string): ((facts: Facts) => Value) =>
    fields.get(name)?.read ?? (() => null);

/** The parts of one group. */
export class Cell {
  readonly key: readonly Value[];
  readonly states: readonly PartState[];

  constructor(key: readonly Value[], makers: readonly PartMaker[]) {
    this.key = key;
    this.states = makers.map((make) => make());
  }

  add(facts: Facts): void {
    const { states } = this;
    for (let i = 0; i < states.length; i += 1) states[i]?.add(facts);
  }

  results(): PartValue[] {
    return this.states.map((state) => state.result());
  }

  save(): SavedCell {
    return { key: this.key, parts: this.states.map((state) => state.save()) };
  }

  merge({ parts }: Pick<SavedCell, 'parts'>): void {
    if (!Array.isArray(parts) || parts.length !== this.states.length) throw invalidState();
    this.states.forEach((state, i) => {
      state.merge(parts[i]);
    });
  }
}

/** What a group saves. */
export interface SavedCell {
  /** Values of the groups. */
  readonly key: readonly Value[];
  /** What each part had counted. */
  readonly parts: readonly unknown[];
}
