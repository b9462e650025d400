/** Samples older than this no longer count: clocks drift, and one that was set forward must not be believed for ever. */
const windowMs = 60_000;
/** A break in writes of this length is a break in contact: workers write every 5 seconds. */
const silenceMs = 15_000;

/**
 * The clock of a board's server, as seen from here, and since when this process has been in contact with it.
 *
 * An entry arrives after it was written, so the largest difference between a server's time stamp and the time of arrival comes
 * closest to the real one.
 */
export class BoardClock {
  readonly #ticks: () => number;
  #largest: number | null = null;
  #before: number | null = null;
  #windowEnds = 0;
  #since: number | null = null;
  #lastSuccess = Number.NEGATIVE_INFINITY;

  /** @param ticks a clock that is never set, in milliseconds. */
  constructor(ticks: () => number = () => performance.now()) {
    this.#ticks = ticks;
  }

  /** A time stamp of the server has just arrived. */
  sample(at: number): void {
    const ticks = this.#ticks();
    if (ticks >= this.#windowEnds) {
      this.#before = this.#largest;
      this.#largest = null;
      this.#windowEnds = ticks + windowMs;
    }
    this.#largest = Math.max(this.#largest ?? Number.NEGATIVE_INFINITY, at - ticks);
  }

  /** Board time. Before the first sample that of this machine. */
  now(): number {
    const difference = Math.max(
      this.#largest ?? Number.NEGATIVE_INFINITY,
      this.#before ?? Number.NEGATIVE_INFINITY,
    );
    return Math.round(Number.isFinite(difference) ? this.#ticks() + difference : Date.now());
  }

  /** The server has answered a write, whichever way. */
  succeeded(): void {
    if (this.contactSince === null) this.#since = this.now();
    this.#lastSuccess = this.#ticks();
  }

  /** A write got no answer. */
  failed(): void {
    this.#since = null;
  }

  /** Board time since when writes have gone through without a break; null while they do not, or when there were none for a while. */
  get contactSince(): number | null {
    return this.#ticks() - this.#lastSuccess > silenceMs ? null : this.#since;
  }
}
