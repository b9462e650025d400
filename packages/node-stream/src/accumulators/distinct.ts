import { type Accumulator, bytesOfKey, checkSaved, type MemoryLimit, noMemoryLimit } from './accumulator.ts';

/** A value that can be told apart from others by what it is. */
export type Plain = string | number | boolean;

/** The exact number of different values, and how often each occurs. Memory grows with the result. */
export class Distinct implements Accumulator<Plain, number, readonly (readonly [Plain, number])[]> {
  readonly #times = new Map<Plain, number>();
  readonly #memory: MemoryLimit;

  constructor(memory: MemoryLimit = noMemoryLimit) {
    this.#memory = memory;
  }

  /** Takes a value in. Throws when it is a new one and the memory limit is passed. */
  add(value: Plain): void {
    this.#put(value, 1);
  }

  /** How many different values there are. */
  result(): number {
    return this.#times.size;
  }

  /** How many values occur at least so often. */
  atLeast(times: number): number {
    let found = 0;
    for (const each of this.#times.values()) if (each >= times) found += 1;
    return found;
  }

  /** Each value and how often it occurs. */
  entries(): IterableIterator<[Plain, number]> {
    return this.#times.entries();
  }

  /** Each value and how often it occurs, as plain JSON. */
  save(): readonly (readonly [Plain, number])[] {
    return [...this.#times];
  }

  /** Takes in what another one has saved, or another one as it is. Throws past the memory limit. */
  merge(saved: readonly (readonly [Plain, number])[] | Distinct): void {
    const entries = saved instanceof Distinct ? saved.#times : saved;
    checkSaved(Symbol.iterator in Object(entries), 'different values');
    for (const [value, times] of entries) {
      checkSaved(
        ['string', 'number', 'boolean'].includes(typeof value) && Number.isSafeInteger(times),
        'different values',
      );
      this.#put(value, times);
    }
  }

  #put(value: Plain, times: number): void {
    const before = this.#times.get(value);
    if (before === undefined) this.#memory.take(bytesOfKey(value));
    this.#times.set(value, (before ?? 0) + times);
  }
}
