import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { WorkerEvent } from './events.ts';
import { memoryLimit, nextSlots } from './slots.ts';
import { restWait, type Trouble } from './trouble.ts';

/** Time between two changes of the number of slots. */
const lookMs = 1000;

/** How much a worker does at a time, and when it rests. */
export class Pace {
  readonly isAuto: boolean;
  /** Event loop utilization of late, from 0 to 1. */
  load = 0;
  readonly #emit: (event: WorkerEvent) => void;
  readonly #memory = memoryLimit(totalmem(), process.constrainedMemory());
  #slots: number;
  #lookedAt = performance.now();
  #elu = performance.eventLoopUtilization();
  #failures = 0;
  #restUntil = 0;
  #why: string | null = null;

  constructor(slots: number | 'auto', emit: (event: WorkerEvent) => void) {
    this.isAuto = slots === 'auto';
    this.#slots = slots === 'auto' ? 1 : slots;
    this.#emit = emit;
  }

  get slots(): number {
    return this.#slots;
  }

  /** The most turns at a time: after trouble with the target one finds out whether it is over. */
  get most(): number {
    return this.#failures > 0 ? 1 : this.#slots;
  }

  /** Milliseconds that are left of a rest; 0 when the worker does not rest. */
  get restMs(): number {
    return Math.max(0, this.#restUntil - performance.now());
  }

  /** Why it rests; null when it does not. */
  get why(): string | null {
    return this.restMs > 0 ? this.#why : null;
  }

  /** Looks how busy the process is. */
  look(busy: number): void {
    const now = performance.now();
    if (now - this.#lookedAt < lookMs) return;
    const elu = performance.eventLoopUtilization();
    this.load = performance.eventLoopUtilization(elu, this.#elu).utilization;
    this.#elu = elu;
    this.#lookedAt = now;
    if (!this.isAuto) return;
    const rss = process.memoryUsage.rss();
    this.#slots = nextSlots({ slots: this.#slots, busy, elu: this.load, rss, memory: this.#memory });
  }

  /** A turn has ended: with trouble that is neither the parcel's nor the account's, or without. */
  turnEnded(trouble: Trouble | null): void {
    if (trouble === null) {
      if (this.restMs === 0) this.#failures = 0;
      return;
    }
    // Turns that were under way at the same time fail for the same reason.
    if (this.restMs > 0) return;
    this.#failures += 1;
    const wait = restWait(this.#failures);
    this.#restUntil = performance.now() + wait;
    this.#why = trouble.message;
    this.#emit({ kind: 'wait', for: 'target', seconds: wait / 1000 });
  }
}
