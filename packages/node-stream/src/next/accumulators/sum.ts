import { type Accumulator, checkSaved } from './accumulator.ts';

/** What a sum saves. */
export interface SavedSum {
  /** How many values it has. */
  readonly count: number;
  /** Numbers whose exact sum is the sum. */
  readonly parts: readonly number[];
  /** The most digits after the point of a value; -1 when they are not known. */
  readonly digits: number;
}

/**
 * The exact sum of numbers, rounded once, at the end: the order of the values does not matter, and neither do the parts in which they
 * were counted. Decimals that come as strings add up as on paper: 0.1 + 0.2 is 0.3.
 */
export class Sum implements Accumulator<number, number, SavedSum> {
  #count = 0;
  #parts: number[] = [];
  #digits = 0;

  /** `raw` is the value as it was sent. */
  add(value: number, raw: unknown = value): void {
    this.#count += 1;
    this.#put(value);
    if (this.#digits < 0) return;
    if (typeof raw === 'string') {
      // Most values have as many digits as those before.
      if (raw.charCodeAt(raw.length - this.#digits - 1) === 0x2e) return;
      const point = raw.indexOf('.');
      if (point >= 0) this.#digits = Math.max(this.#digits, raw.length - point - 1);
    } else if (!Number.isInteger(value)) this.#digits = -1;
  }

  /** How many values there are. */
  get count(): number {
    return this.#count;
  }

  /** The sum of all values so far; 0 when there are none. */
  result(): number {
    const exact = total(this.#parts);
    return this.#digits < 0 || this.#digits > 15 ? exact : Number(exact.toFixed(this.#digits));
  }

  /** The mean of the values; null when there are none. */
  mean(): number | null {
    return this.#count === 0 ? null : this.result() / this.#count;
  }

  /** What it keeps, as plain JSON. */
  save(): SavedSum {
    return { count: this.#count, parts: [...this.#parts], digits: this.#digits };
  }

  /** Takes in what another sum has saved. */
  merge(saved: SavedSum): void {
    const { count, parts, digits } = saved;
    checkSaved(
      Number.isSafeInteger(count) &&
        Array.isArray(parts) &&
        parts.every(Number.isFinite) &&
        Number.isInteger(digits),
      'a sum',
    );
    this.#count += count;
    for (const part of parts) this.#put(part);
    this.#digits = this.#digits < 0 || digits < 0 ? -1 : Math.max(this.#digits, digits);
  }

  // Shewchuk's expansion: numbers of growing size that do not overlap, so that no digit of the sum is lost.
  #put(value: number): void {
    const parts = this.#parts;
    let high = value;
    let kept = 0;
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] ?? 0;
      const next = high + part;
      const back = next - high;
      const low = high - (next - back) + (part - back);
      high = next;
      if (low !== 0 && Number.isFinite(low)) parts[kept++] = low;
    }
    if (high !== 0) parts[kept++] = high;
    if (parts.length > kept) parts.length = kept;
  }
}

/** The double nearest to the exact sum of parts that do not overlap. */
function total(parts: readonly number[]): number {
  let at = parts.length - 1;
  let high = parts[at] ?? 0;
  let low = 0;
  while (at > 0 && low === 0) {
    at -= 1;
    const part = parts[at] ?? 0;
    const next = high + part;
    low = part - (next - high);
    high = next;
  }
  // Half way between two doubles the next smaller part decides.
  const below = parts[at - 1] ?? 0;
  if (at > 0 && low !== 0 && low > 0 === below > 0) {
    const twice = low * 2;
    const next = high + twice;
    if (twice === next - high) return next;
  }
  return high;
}
