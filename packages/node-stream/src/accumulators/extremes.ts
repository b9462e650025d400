import { type Accumulator, checkSaved } from './accumulator.ts';

/** The smallest number. Null when there is none. */
export class Smallest implements Accumulator<number, number | null, number | null> {
  #best: number | null = null;

  add(value: number): void {
    if (this.#best === null || value < this.#best) this.#best = value;
  }

  result(): number | null {
    return this.#best;
  }

  save(): number | null {
    return this.#best;
  }

  merge(saved: number | null): void {
    checkSaved(saved === null || Number.isFinite(saved), 'a smallest value');
    if (saved !== null) this.add(saved);
  }
}

/** The largest number. Null when there is none. */
export class Largest implements Accumulator<number, number | null, number | null> {
  #best: number | null = null;

  add(value: number): void {
    if (this.#best === null || value > this.#best) this.#best = value;
  }

  result(): number | null {
    return this.#best;
  }

  save(): number | null {
    return this.#best;
  }

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

  add(placed: Placed): void {
    const best = this.#best;
    if (best === null || placed.at < best.at || (placed.at === best.at && placed.value < best.value))
      this.#best = placed;
  }

  result(): string | null {
    return this.#best?.value ?? null;
  }

  save(): Placed | null {
    return this.#best;
  }

  merge(saved: Placed | null): void {
    if (saved === null) return;
    checkSaved(isPlaced(saved), 'a first value');
    this.add(saved);
  }
}

/** The value that stands last. Of two at one place it is the larger string. */
export class Last implements Accumulator<Placed, string | null, Placed | null> {
  #best: Placed | null = null;

  add(placed: Placed): void {
    const best = this.#best;
    if (best === null || placed.at > best.at || (placed.at === best.at && placed.value > best.value))
      this.#best = placed;
  }

  result(): string | null {
    return this.#best?.value ?? null;
  }

  save(): Placed | null {
    return this.#best;
  }

  merge(saved: Placed | null): void {
    if (saved === null) return;
    checkSaved(isPlaced(saved), 'a last value');
    this.add(saved);
  }
}

const isPlaced = ({ value, at }: Placed): boolean => typeof value === 'string' && Number.isFinite(at);
