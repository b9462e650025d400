/** The slots of a worker. */
export class Slots {
  readonly all: number;
  readonly #onFree: () => void;
  #busy = 0;

  constructor(all: number, onFree: () => void) {
    this.all = all;
    this.#onFree = onFree;
  }

  /** Slots in use. */
  get busy(): number {
    return this.#busy;
  }

  get free(): number {
    return this.all - this.#busy;
  }

  take(): void {
    this.#busy += 1;
  }

  leave(): void {
    this.#busy -= 1;
    this.#onFree();
  }
}

interface Done {
  readonly at: number;
  readonly calls: number;
  readonly requests: number;
}

/** Rates are those of the last ten seconds. */
const recentMs = 10_000;

/** What was done in the last seconds. */
export class Pace {
  readonly #recent: Done[] = [];

  add(done: Done): void {
    this.#recent.push(done);
  }

  perSecond(now: number): { readonly callsPerSecond: number; readonly requestsPerSecond: number } {
    while ((this.#recent[0]?.at ?? now) < now - recentMs) this.#recent.shift();
    const of = (what: 'calls' | 'requests') =>
      Math.round((this.#recent.reduce((sum, each) => sum + each[what], 0) * 10_000) / recentMs) / 10;
    return { callsPerSecond: of('calls'), requestsPerSecond: of('requests') };
  }
}
