import { type Accumulator, checkSaved, type MemoryLimit, noMemoryLimit } from './accumulator.ts';

const bytesOfValue = 40;

/**
 * Numbers by how often each occurs, for exact percentiles: each is one of the values. Memory grows with the number of different
 * values, so that talk times of a million calls take a few kilobytes.
 */
export class Percentiles
  implements Accumulator<number, number | null, readonly (readonly [number, number])[]>
{
  readonly #times = new Map<number, number>();
  readonly #memory: MemoryLimit;
  #count = 0;

  constructor(memory: MemoryLimit = noMemoryLimit) {
    this.#memory = memory;
  }

  /** Takes a number in. Throws when it is a new one and the memory limit is passed. */
  add(value: number): void {
    this.#put(value, 1);
  }

  /** How many values there are. */
  get count(): number {
    return this.#count;
  }

  /** The median; of two in the middle the smaller one. Null when there are no values. */
  result(): number | null {
    return this.at(1, 2);
  }

  /** The value at rank `ceil(part / of * n)`, at least the first. Two whole numbers keep the rank free of rounding: 9 of 10. */
  at(part: number, of = 1): number | null {
    const rank = Math.max(1, Math.ceil((part * this.#count) / of));
    let passed = 0;
    for (const [value, times] of [...this.#times].sort(([a], [b]) => a - b)) {
      passed += times;
      if (passed >= rank) return value;
    }
    return null;
  }

  /** Each number and how often it occurs, as plain JSON. */
  save(): readonly (readonly [number, number])[] {
    return [...this.#times];
  }

  /** Takes in what another one has saved. Throws past the memory limit. */
  merge(saved: readonly (readonly [number, number])[]): void {
    checkSaved(Array.isArray(saved), 'percentiles');
    for (const [value, times] of saved) {
      checkSaved(Number.isFinite(value) && Number.isSafeInteger(times), 'percentiles');
      this.#put(value, times);
    }
  }

  #put(value: number, times: number): void {
    const before = this.#times.get(value);
    if (before === undefined) this.#memory.take(bytesOfValue);
    this.#times.set(value, (before ?? 0) + times);
    this.#count += times;
  }
}
