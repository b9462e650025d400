import { type Accumulator, bytesOfKey, checkSaved, type MemoryLimit, noMemoryLimit } from './accumulator.ts';
import { NumberTable } from './number-table.ts';

/** A value that can be told apart from others by what it is. */
export type Plain = string | number | boolean;

/** From so many values on, numbers are kept in a table of numbers. */
const worthTable = 64;
const bytesOfNumber = 28;

/** The exact number of different values, and how often each occurs. Memory grows with the result. */
export class Distinct implements Accumulator<Plain, number, readonly (readonly [Plain, number])[]> {
  readonly #times = new Map<Plain, number>();
  readonly #memory: MemoryLimit;
  /** Many numbers: a map would take several times as long and as much memory. */
  #numbers: NumberTable | null = null;

  constructor(memory: MemoryLimit = noMemoryLimit) {
    this.#memory = memory;
  }

  /** Takes a value in. Throws when it is a new one and the memory limit is passed. */
  add(value: Plain): void {
    this.#put(value, 1);
  }

  /** How many different values there are. */
  result(): number {
    return this.#times.size + (this.#numbers?.size ?? 0);
  }

  /** How many values occur at least so often. */
  atLeast(times: number): number {
    let found = this.#numbers?.atLeast(times) ?? 0;
    for (const each of this.#times.values()) if (each >= times) found += 1;
    return found;
  }

  /** Each value and how often it occurs. */
  *entries(): IterableIterator<[Plain, number]> {
    yield* this.#times;
    if (this.#numbers !== null) yield* this.#numbers.entries();
  }

  /** Each value and how often it occurs, as plain JSON. */
  save(): readonly (readonly [Plain, number])[] {
    return [...this.entries()];
  }

  /** Takes in what another one has saved, or another one as it is. Throws past the memory limit. */
  merge(saved: readonly (readonly [Plain, number])[] | Distinct): void {
    if (saved instanceof Distinct) {
      for (const [value, times] of saved.#times) this.#put(value, times);
      saved.#numbers?.each((value, times) => this.#put(value, times));
      return;
    }
    checkSaved(Array.isArray(saved), 'different values');
    for (const [value, times] of saved) {
      checkSaved(
        ['string', 'number', 'boolean'].includes(typeof value) && Number.isSafeInteger(times),
        'different values',
      );
      this.#put(value, times);
    }
  }

  #put(value: Plain, times: number): void {
    if (this.#numbers !== null && NumberTable.fits(value)) {
      if (this.#numbers.put(value, times)) this.#memory.take(bytesOfNumber);
      return;
    }
    const before = this.#times.get(value);
    if (before === undefined) this.#memory.take(bytesOfKey(value));
    this.#times.set(value, (before ?? 0) + times);
    if (before === undefined && this.#times.size === worthTable && this.#numbers === null) this.#move();
  }

  /** Moves the numbers into a table of their own. */
  #move(): void {
    const numbers = new NumberTable();
    for (const [value, times] of this.#times) {
      if (!NumberTable.fits(value)) continue;
      numbers.put(value, times);
      this.#times.delete(value);
    }
    this.#numbers = numbers;
  }
}
