/**
 * How many records a slice may hold: the rows asked for, or the fewer that the server gives. A short page seen once may
 * be a whim, so the figure grows back until the same length is seen again.
 */
export class Capacity {
  readonly #asked: number;
  readonly #pages: number;
  #rows: number;
  #clamp: number | null = null;
  #isSure = false;
  #aimAt = 0.8;

  constructor(asked: number, pages: number) {
    this.#asked = asked;
    this.#pages = pages;
    this.#rows = asked;
  }

  /** Records one slice may hold. */
  get records(): number {
    return Math.max(1, Math.floor(this.#rows)) * this.#pages;
  }

  /** The part of capacity a slice is aimed at: it creeps up where the flow is even, and falls back when a slice overflows. */
  get aimAt(): number {
    return this.#aimAt;
  }

  /** A page held `count` records and was not the last. */
  overflowed(count: number): void {
    this.#aimAt = Math.max(0.7, this.#aimAt - 0.05);
    if (count >= this.#asked) {
      this.#rows = this.#asked;
      return;
    }
    this.#isSure = this.#clamp === count;
    this.#clamp = count;
    this.#rows = count;
  }

  /** A page held all there was. */
  fitted(count: number): void {
    if (count > this.records / 2) this.#aimAt = Math.min(0.94, this.#aimAt + 0.005);
    if (this.#clamp === null) return;
    if (count > this.#clamp) this.#isSure = false;
    if (!this.#isSure) this.#rows = Math.min(this.#asked, Math.max(this.#rows * 1.25, count));
  }
}
