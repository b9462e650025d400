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
