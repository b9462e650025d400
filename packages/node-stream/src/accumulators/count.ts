import { type Accumulator, checkSaved } from './accumulator.ts';

/** The number of values. */
export class Count implements Accumulator<unknown, number, number> {
  #count = 0;

  add(): void {
    this.#count += 1;
  }

  result(): number {
    return this.#count;
  }

  save(): number {
    return this.#count;
  }

  merge(saved: number): void {
    checkSaved(Number.isSafeInteger(saved) && saved >= 0, 'a count');
    this.#count += saved;
  }
}
