import type { MemoryLimit } from '@call-attribution/node-stream/accumulators';
import type { Value } from '../conditions/holds.ts';
import type { Facts } from '../fields/facts.ts';
import type { PartValue } from '../question/measures.ts';
import { type Axis, PairAxis, TimeAxis, ValueAxis } from './axis.ts';
import { invalidState, numberIn, type PartCounter, type PartState, type SavedCell } from './cell.ts';

const bytesOfCell = 120;
const bytesOfSum = 8;
const bytesOfState = 80;

/** How a group of a question is told from others. */
export interface GroupKey {
  readonly read: (facts: Facts) => Value;
  /** Its values are whole numbers that lie close together. */
  readonly isTime: boolean;
}

/** The counted parts of one group. */
interface CountedCell {
  readonly key: readonly Value[];
  readonly parts: PartValue[];
}

/** The groups of one period. Only those that a call is in are kept. */
export class CellTable {
  readonly #groups: readonly GroupKey[];
  readonly #counters: readonly PartCounter[];
  readonly #memory: MemoryLimit;
  readonly #axes: readonly Axis[];
  readonly #pairs: readonly PairAxis[];
  readonly #sums: readonly ((facts: Facts) => number)[];
  readonly #plain: readonly number[];
  readonly #makers: readonly (() => PartState)[];
  readonly #keys: (readonly Value[])[] = [];
  readonly #states: PartState[][] = [];
  /** The sums of one cell after those of another. */
  #counts: Float64Array;

  constructor(groups: readonly GroupKey[], counters: readonly PartCounter[], memory: MemoryLimit) {
    this.#groups = groups;
    this.#counters = counters;
    this.#memory = memory;
    this.#axes = groups.map(({ isTime }) => (isTime ? new TimeAxis() : new ValueAxis()));
    this.#pairs = groups.slice(1).map(() => new PairAxis());
    this.#sums = counters.flatMap((counter) => (counter.kind === 'sum' ? [counter.of] : []));
    this.#plain = counters.flatMap((counter) => (counter.kind === 'sum' ? [counter.plain] : []));
    this.#makers = counters.flatMap((counter) => (counter.kind === 'state' ? [counter.make] : []));
    this.#counts = new Float64Array(this.#sums.length * 4);
  }

  /** Counts a call in its group. */
  add(facts: Facts): void {
    const groups = this.#groups;
    let cell = 0;
    for (let i = 0; i < groups.length; i += 1) cell = this.#next(cell, i, groups[i]?.read(facts) ?? null);
    if (cell === this.#keys.length) this.#create(groups.map(({ read }) => read(facts)));
    const plain = this.#plain;
    const counts = this.#counts;
    const base = cell * plain.length;
    for (let i = 0; i < plain.length; i += 1) {
      const at = plain[i] ?? -1;
      const more = at >= 0 ? facts.sums[at] : this.#sums[i]?.(facts);
      counts[base + i] = (counts[base + i] ?? 0) + (more ?? 0);
    }
    if (this.#makers.length === 0) return;
    for (const state of this.#states[cell] ?? []) state.add(facts);
  }

  /** What was counted of each group. */
  cells(): CountedCell[] {
    return this.#keys.map((key, cell) => ({ key, parts: this.#partsOf(cell, (state) => state.result()) }));
  }

  save(): SavedCell[] {
    return this.#keys.map((key, cell) => ({ key, parts: this.#partsOf(cell, (state) => state.save()) }));
  }

  merge(saved: readonly SavedCell[]): void {
    if (!Array.isArray(saved)) throw invalidState();
    for (const { key, parts } of saved) {
      if (!Array.isArray(key) || key.length !== this.#groups.length) throw invalidState();
      if (!Array.isArray(parts) || parts.length !== this.#counters.length) throw invalidState();
      const cell = this.#at(key);
      let [sum, state] = [cell * this.#sums.length, 0];
      for (const [i, { kind }] of this.#counters.entries()) {
        if (kind === 'sum') {
          this.#counts[sum] = (this.#counts[sum] ?? 0) + numberIn(parts[i]);
          sum += 1;
        } else {
          this.#states[cell]?.[state]?.merge(parts[i]);
          state += 1;
        }
      }
    }
  }

  /** The parts over all groups. */
  whole(): PartValue[] {
    const width = this.#sums.length;
    const counts = new Float64Array(width);
    for (let at = 0; at < this.#keys.length * width; at += 1)
      counts[at % width] = (counts[at % width] ?? 0) + (this.#counts[at] ?? 0);
    const states = this.#makers.map((make) => make());
    for (const own of this.#states) for (const [i, state] of own.entries()) states[i]?.absorb(state);
    let [sum, state] = [0, 0];
    return this.#counters.map(({ kind }) =>
      kind === 'sum' ? (counts[sum++] ?? 0) : (states[state++]?.result() ?? null),
    );
  }

  #partsOf<T>(cell: number, read: (state: PartState) => T): (number | T)[] {
    let [sum, state] = [cell * this.#sums.length, 0];
    const states = this.#states[cell] ?? [];
    const parts: (number | T)[] = [];
    for (const { kind } of this.#counters) {
      if (kind === 'sum') parts.push(this.#counts[sum++] ?? 0);
      else {
        const own = states[state++];
        if (own !== undefined) parts.push(read(own));
      }
    }
    return parts;
  }

  #at(key: readonly Value[]): number {
    let cell = 0;
    for (const [i, value] of key.entries()) cell = this.#next(cell, i, value);
    if (cell === this.#keys.length) this.#create(key);
    return cell;
  }

  /** The cell of a value of group `i`, among those of a cell of the groups before it. */
  #next(cell: number, i: number, value: Value): number {
    const place = this.#axes[i]?.at(value) ?? 0;
    return i === 0 ? place : (this.#pairs[i - 1]?.at(cell, place) ?? 0);
  }

  #create(key: readonly Value[]): void {
    const width = this.#sums.length;
    this.#memory.take(
      bytesOfCell +
        bytesOfSum * width +
        bytesOfState * this.#makers.length +
        key.reduce((sum: number, value) => sum + (typeof value === 'string' ? 24 + value.length : 8), 0),
    );
    this.#keys.push(key);
    if (this.#makers.length > 0) this.#states.push(this.#makers.map((make) => make()));
    if (this.#keys.length * width <= this.#counts.length) return;
    const counts = new Float64Array(this.#counts.length * 2);
    counts.set(this.#counts);
    this.#counts = counts;
  }
}
