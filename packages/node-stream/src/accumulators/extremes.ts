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

/** A value and where it stands: a time in milliseconds, or any number. */
export interface Placed {
  /** What is kept. */
  readonly value: string;
  /** Where it stands. */
  readonly at: number;
}

/** The value that stands first. Of two at one place it is the smaller string. */
export class First implements Accumulator<Placed, string | null, Placed | null> {
  #best: Placed | null = null;

  /** Takes a value in, with where it stands. */
  add(placed: Placed): void {
    const best = this.#best;
    if (best === null || placed.at < best.at || (placed.at === best.at && placed.value < best.value))
      this.#best = placed;
  }

  /** The value that stands first so far; null when there is none. */
  result(): string | null {
    return this.#best?.value ?? null;
  }

  /** The first value and where it stands; null when there is none. */
  save(): Placed | null {
    return this.#best;
  }

  /** Takes in what another one has saved. */
  merge(saved: Placed | null): void {
    if (saved === null) return;
    checkSaved(isPlaced(saved), 'a first value');
    this.add(saved);
  }
}

/** The value that stands last. Of two at one place it is the larger string. */
export class Last implements Accumulator<Placed, string | null, Placed | null> {
  #best: Placed | null = null;

  /** Takes a value in, with where it stands. */
  add(placed: Placed): void {
    const best = this.#best;
    if (best === null || placed.at > best.at || (placed.at === best.at && placed.value > best.value))
      this.#best = placed;
  }

  /** The value that stands last so far; null when there is none. */
  result(): string | null {
    return this.#best?.value ?? null;
  }

  /** The last value and where it stands; null when there is none. */
  save(): Placed | null {
    return this.#best;
  }

  /** Takes in what another one has saved. */
  merge(saved: Placed | null): void {
    if (saved === null) return;
    checkSaved(isPlaced(saved), 'a last value');
    this.add(saved);
  }
}

const isPlaced = ({ value, at }: Placed): boolean => typeof value === 'string' && Number.isFinite(at);
