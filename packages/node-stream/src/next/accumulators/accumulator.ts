import { ItemError } from '../../errors.ts';

/**
 * The running state of one measure over one group. What it keeps can be saved as JSON, and one accumulator takes in what another
 * has saved: the result is then the one of all values together, in whatever parts and order they came.
 */
export interface Accumulator<V, R, S> {
  /** Takes a value in. */
  add(value: V): void;
  /** The measure of all values so far. */
  result(): R;
  /** What it keeps, as plain JSON. */
  save(): S;
  /** Takes in what an accumulator of the same kind has saved. To go on later, merge it into a new one. */
  merge(saved: S): void;
}

/** Counts memory that grows with what the items hold, and refuses to go on past a limit. Any number of accumulators may share one. */
export class MemoryLimit {
  /** Bytes that may be taken. */
  readonly bytes: number;
  readonly #refuse: (bytes: number) => Error;
  #taken = 0;

  /** `refuse` makes the error of a limit that is passed. */
  constructor(bytes: number, refuse: (bytes: number) => Error = tooMuch) {
    this.bytes = bytes;
    this.#refuse = refuse;
  }

  /** About how many bytes are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes about so many bytes. Throws past the limit. */
  take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.bytes) throw this.#refuse(this.bytes);
  }
}

const tooMuch = (bytes: number): Error =>
  new ItemError(
    'too_many_groups',
    `the exact result needs more than ${Math.round(bytes / 1e6)} MB; group by something coarser, read less at once, or use a sketch`,
  );

/** A limit that is never reached. */
export const noMemoryLimit = new MemoryLimit(Number.POSITIVE_INFINITY);

/** About what an entry of a set or map with such a key takes. */
export const bytesOfKey = (key: string | number | boolean): number =>
  typeof key === 'string' ? 56 + 2 * key.length : 40;

/** Refuses a saved state of another form. */
export function checkSaved(holds: boolean, kind: string): void {
  if (!holds) throw new ItemError('unfit_value', `the saved state is not that of ${kind}; start without it`);
}
