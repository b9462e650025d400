import { type Accumulator, checkSaved } from './accumulator.ts';

/** The smallest number. Null when there is none. */
export class Smallest implements Accumulator<number, number | null, number | null> {
  #best: number | null = null;

  /** Takes a number in. */
  add(value: number): void {
    if (this.#best === null || value < this.#best) this.#best = value;
  }

  /** The smallest number so far; null when there is none. */
  result(): number | null {
    return this.#best;
  }

  /** The smallest number, which is all that it keeps. */
  save(): number | null {
    return this.#best;
  }

  /** Takes in what another one has saved. */
  merge(saved: number | null): void {
    checkSaved(saved === null || Number.isFinite(saved), 'a smallest value');
    if (saved !== null) this.add(saved);
  }
}

/** The largest number. Null when there is none. */
export class Largest implements Accumulator<number, number | null, number | null> {
  #best: number | null = null;

  /** Takes a number in. */
  add(value: number): void {
    if (this.#best === null || value > this.#best) this.#best = value;
  }

  /** The largest number so far; null when there is none. */
  result(): number | null {
    return this.#best;
  }

  /** The largest number, which is all that it keeps. */
  save(): number | null {
    return this.#best;
  }

  /** Takes in what another one has saved. */
  merge(saved: number | null): void {
    checkSaved(saved === null || Number.isFinite(saved), 'a largest value');
    if (saved !== null) this.add(saved);
  }
}
