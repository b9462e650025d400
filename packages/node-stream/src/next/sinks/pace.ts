/** Says when a position is worth saving: at once while that costs little; else so that saving takes a twentieth of the time. */
export class SavePace {
  #last = Number.NEGATIVE_INFINITY;
  #cost = 0;

  /** Whether enough has happened since the last time. */
  get isDue(): boolean {
    return performance.now() - this.#last >= 20 * this.#cost;
  }

  /** Saves, and remembers how long it took. */
  async save(work: () => Promise<void> | void): Promise<void> {
    const begun = performance.now();
    await work();
    this.#last = performance.now();
    this.#cost = this.#last - begun;
  }
}
