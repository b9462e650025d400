import { type Accumulator, checkSaved } from './accumulator.ts';

/** The number that comes first by an order. Null when there is none. */
export class Extreme implements Accumulator<number, number | null, number | null> {
  readonly #isBetter: (a: number, b: number) => boolean;
  #best: number | null = null;

  protected constructor(isBetter: (a: number, b: number) => boolean) {
    this.#isBetter = isBetter;
  }

  /** Takes a number in. */
  add(value: number): void {
    if (this.#best === null || this.#isBetter(value, this.#best)) this.#best = value;
  }

  /** The best number so far; null when there is none. */
  result(): number | null {
    return this.#best;
  }

  /** The best number, which is all that it keeps. */
  save(): number | null {
    return this.#best;
  }

  /** Takes in what another one has saved. */
  merge(saved: number | null): void {
    checkSaved(saved === null || Number.isFinite(saved), 'a smallest or largest value');
    if (saved !== null) this.add(saved);
  }
}

/** The smallest number. Null when there is none. */
export class Smallest extends Extreme {
  constructor() {
    super((a, b) => a < b);
  }
}

/** The largest number. Null when there is none. */
export class Largest extends Extreme {
  constructor() {
    super((a, b) => a > b);
  }
}
