import { type Accumulator, checkSaved } from './accumulator.ts';

/** The number of values. */
export class Count implements Accumulator<unknown, number, number> {
  #count = 0;

  /** Counts one more. */
  add(): void {
    this.#count += 1;
  }

  /** How many values there are. */
  result(): number {
    return this.#count;
  }

  /** The count, which is all that it keeps. */
  save(): number {
    return this.#count;
  }

  /** Takes in what another count has saved. */
  merge(saved: number): void {
    checkSaved(Number.isSafeInteger(saved) && saved >= 0, 'a count');
    this.#count += saved;
  }
}
