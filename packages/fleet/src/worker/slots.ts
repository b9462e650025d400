import { slept } from '../turn/gate.ts';

/** The slots of a worker. A turn that has to wait gives its slot away meanwhile. */
export class Slots {
  readonly all: number;
  readonly #onFree: () => void;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(all: number, onFree: () => void) {
    this.all = all;
    this.#onFree = onFree;
  }

  /** Slots in use. */
  get busy(): number {
    return this.#busy;
  }

  /** Slots that nobody has and nobody waits for. */
  get free(): number {
    return Math.max(0, this.all - this.#busy - this.#waiting.length);
  }

  take(): void {
    this.#busy += 1;
  }

  leave(): void {
    this.#busy -= 1;
    const next = this.#busy < this.all ? this.#waiting.shift() : undefined;
    if (next === undefined) this.#onFree();
    else next();
  }

  /** Waits without a slot, then for one. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    this.leave();
    try {
      await slept(ms, signal);
    } finally {
      if (this.#busy < this.all || signal.aborted) this.take();
      else
        await new Promise<void>((resolve) => {
          this.#waiting.push(() => {
            this.take();
            resolve();
          });
        });
    }
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
