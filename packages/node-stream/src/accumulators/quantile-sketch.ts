import { ConfigurationError } from '@call-attribution/core/errors';
import { defineOptions, type Option, type OptionsOf, option } from '@call-attribution/core/options';
import { ItemError } from '../errors.ts';
import { type Accumulator, checkSaved } from './accumulator.ts';

/** The largest relative error of a sketch. */
export const relativeError = (): Option<number> =>
  option.of(
    'a number above 0 and below 1, such as 0.01',
    (value) => typeof value === 'number' && value > 0 && value < 1,
    true,
  );

const sketchOptions = defineOptions({
  /** Largest relative error of a quantile: 0.01 is within 1 % of the true value. Default 0.01. */
  error: relativeError().default(0.01),
  /** Most buckets per sign. Values that need more are refused. Default: as many as values within a factor of 10^17 need. */
  buckets: option.whole(1),
});

/** Settings of a `QuantileSketch`. */
export interface SketchOptions extends OptionsOf<typeof sketchOptions> {}

/** What a sketch saves. */
export interface SavedSketch {
  /** Its largest relative error. */
  readonly error: number;
  /** How many values are 0. */
  readonly zeros: number;
  /** The smallest value; null when nothing was added. */
  readonly min: number | null;
  /** The largest value; null when nothing was added. */
  readonly max: number | null;
  /** Buckets of values above 0, with how many each holds. */
  readonly positive: readonly (readonly [number, number])[];
  /** The same for values below 0, by their magnitude. */
  readonly negative: readonly (readonly [number, number])[];
}

/**
 * Estimates quantiles of any number of values in a few kilobytes. Values fall into buckets that grow by a constant factor,
 * so a quantile is within the given relative error of the value at that rank, whatever the distribution. Sketches of parts
 * merge into the sketch of the whole without further loss. Values whose largest
 * magnitude is more than 10^17 times the smallest are refused.
 *
 * @example
 * const sketch = new QuantileSketch();
 * for (const call of calls) sketch.add(Number(call.talk_minutes));
 * sketch.quantile(0.95);
 */
export class QuantileSketch implements Accumulator<number, number | null, SavedSketch> {
  /** Largest relative error of a quantile. */
  readonly error: number;
  readonly #growth: number;
  readonly #limit: number;
  readonly #positive = new Map<number, number>();
  readonly #negative = new Map<number, number>();
  #zeros = 0;
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  constructor(options: SketchOptions = {}) {
    const { error, buckets } = sketchOptions.read(options);
    this.error = error;
    this.#growth = Math.log((1 + this.error) / (1 - this.error));
    this.#limit = buckets ?? Math.ceil((17 * Math.LN10) / this.#growth) + 1;
  }

  /** Values added so far. */
  get count(): number {
    return this.#count;
  }

  /** Adds a finite number. */
  add(value: number): void {
    if (!Number.isFinite(value)) throw new ItemError('unfit_value', 'a sketch takes only finite numbers');
    this.#count += 1;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (value === 0) this.#zeros += 1;
    else if (value > 0) this.#put(this.#positive, Math.ceil(Math.log(value) / this.#growth), 1);
    else this.#put(this.#negative, Math.ceil(Math.log(-value) / this.#growth), 1);
  }

  /** Adds all values of a sketch that has the same error, as that one saves them. */
  merge(saved: SavedSketch): void {
    const { error, zeros, min, max, positive, negative } = saved;
    checkSaved(Array.isArray(positive) && Array.isArray(negative) && Number.isSafeInteger(zeros), 'a sketch');
    if (error !== this.error) {
      throw new ConfigurationError(
        'invalid_option',
        `sketches with errors ${this.error} and ${error} cannot be merged; create both with the same error`,
      );
    }
    this.#zeros += zeros;
    this.#count += zeros;
    this.#min = Math.min(this.#min, min ?? this.#min);
    this.#max = Math.max(this.#max, max ?? this.#max);
    for (const [buckets, added] of [
      [this.#positive, positive],
      [this.#negative, negative],
    ] as const) {
      for (const [bucket, count] of added) {
        checkSaved(Number.isSafeInteger(bucket) && Number.isSafeInteger(count), 'a sketch');
        this.#count += count;
        this.#put(buckets, bucket, count);
      }
    }
  }

  /** The estimate of the median. Null when nothing was added. */
  result(): number | null {
    return this.quantile(0.5);
  }

  /** What it keeps, as plain JSON. */
  save(): SavedSketch {
    const { error } = this;
    return {
      error,
      zeros: this.#zeros,
      min: this.#count === 0 ? null : this.#min,
      max: this.#count === 0 ? null : this.#max,
      positive: [...this.#positive],
      negative: [...this.#negative],
    };
  }

  /** The value at rank `ceil(q * count)`, within the relative error. Null when nothing was added. */
  quantile(q: number): number | null {
    if (!(q >= 0 && q <= 1)) throw new ConfigurationError('invalid_option', `quantile ${q}; expected 0 to 1`);
    if (this.#count === 0) return null;
    const rank = Math.max(1, Math.ceil(q * this.#count));
    if (rank === 1) return this.#min;
    if (rank === this.#count) return this.#max;
    return Math.min(this.#max, Math.max(this.#min, this.#at(rank)));
  }

  #at(rank: number): number {
    let passed = 0;
    for (const bucket of [...this.#negative.keys()].sort((a, b) => b - a)) {
      passed += this.#negative.get(bucket) ?? 0;
      if (passed >= rank) return -this.#middle(bucket);
    }
    passed += this.#zeros;
    if (passed >= rank) return 0;
    for (const bucket of [...this.#positive.keys()].sort((a, b) => a - b)) {
      passed += this.#positive.get(bucket) ?? 0;
      if (passed >= rank) return this.#middle(bucket);
    }
    return this.#max;
  }

  /** The value whose relative distance to both ends of a bucket is the same. */
  #middle(bucket: number): number {
    return Math.exp(bucket * this.#growth) * (1 - this.error);
  }

  #put(buckets: Map<number, number>, bucket: number, count: number): void {
    const before = buckets.get(bucket);
    if (before === undefined && buckets.size >= this.#limit) throw tooFine(this.error, this.#limit);
    buckets.set(bucket, (before ?? 0) + count);
  }
}

const tooFine = (error: number, buckets: number): ItemError =>
  new ItemError(
    'unfit_value',
    `the values are spread so widely that ${buckets} buckets do not keep an error of ${error}; allow a larger error, or take an exact percentile`,
  );
