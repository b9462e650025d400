import { channel } from 'node:diagnostics_channel';
import { hostname } from 'node:os';
import { sleep, systemClock } from '@call-attribution/core';
import { safeCaller } from '@call-attribution/core/tracing';
import type { Engine } from '../engine/engine.ts';
import type { WorkerCard } from '../engine/ticket.ts';
import { FleetError } from '../errors.ts';
import { digestOf } from '../job.ts';

import { version } from '../version.ts';
import type { WorkerEvent } from './events.ts';
import { joinJob } from './join-job.ts';
import { restWait } from './trouble.ts';
import { Turns } from './turns.ts';
import type { WorkerOptions } from './worker-options.ts';

/** How a worker ended. */
export interface WorkerEnd {
  /** `done`: nothing is left to do, but for what is set aside. */
  readonly reason: 'done' | 'left';
}

/** Reads and writes until the job is done. */
export interface Worker {
  /** Works until the job is done or `leave` is called. Rejects when the job cannot be worked on. */
  run(): Promise<WorkerEnd>;
  /** Takes nothing new. Turns have `graceMs` to end, then they are dropped: what was committed stays. */
  leave(graceMs: number): void;
  /** How it is. */
  readonly card: WorkerCard;
  /** What keeps it from working; null when nothing does. */
  readonly trouble: string | null;
}

/** Milliseconds between two looks for tickets, and between two signs of life. */
const every = { look: 250, keep: 2_000 } as const;

/**
 * Makes a worker. Any number may work on a job: each takes a ticket, reads a part of its account into the target, and puts the ticket
 * back.
 *
 * @example
 * const worker = createWorker({ job, engine: memoryEngine(), target, credentials, name: 'w1' });
 * const { reason } = await worker.run();
 */
export function createWorker(options: WorkerOptions): Worker {
  return new FleetWorker(options);
}

class FleetWorker implements Worker {
  readonly #options: WorkerOptions;
  readonly #engine: Engine;
  readonly #now: () => number;
  readonly #turns: Turns;
  readonly #startedAt: number;
  readonly #leaving = new AbortController();
  readonly #digest: string;
  #keptAt = 0;
  #restUntil = 0;
  #rests = 0;
  #why: string | null = null;
  #engineWhy: string | null = null;

  constructor(given: WorkerOptions) {
    const options = { ...given, onEvent: publisherOf(given) };
    const { engine, clock = systemClock } = options;
    this.#options = options;
    this.#engine = engine;
    this.#now = () => clock.now();
    this.#startedAt = this.#now();
    this.#digest = digestOf(options.job);
    this.#turns = new Turns(options, {
      now: this.#now,
      onTargetTrouble: (why) => this.#rest(why),
      onTargetWell: () => {
        this.#rests = 0;
      },
    });
  }

  get card(): WorkerCard {
    return {
      ...this.#turns.figures(),
      name: this.#options.name,
      version,
      digest: this.#digest,
      state: this.#state(),
      why: this.#why,
      since: this.#startedAt,
      at: this.#now(),
    };
  }

  #state(): WorkerCard['state'] {
    if (this.#leaving.signal.aborted) return 'leaving';
    if (this.#restUntil > this.#now()) return 'resting';
    return this.#why === null ? 'working' : 'waiting';
  }

  get trouble(): string | null {
    return this.#engineWhy ?? (this.#restUntil > this.#now() ? this.#why : null);
  }

  leave(graceMs: number): void {
    if (!this.#leaving.signal.aborted) this.#leaving.abort(new Error('the worker leaves'));
    this.#turns.leave(graceMs);
  }

  async run(): Promise<WorkerEnd> {
    const { target, engine } = this.#options;
    const release = await target.prepare(!engine.isShared);
    try {
      const reason = await this.#work();
      await this.#turns.end();
      await engine.gone(this.#options.name).catch((error: unknown) => {
        if (!(error instanceof FleetError)) throw error;
      });
      return { reason };
    } finally {
      this.#turns.drop();
      await this.#turns.end();
      await this.#turns.close();
      await release();
    }
  }

  async #work(): Promise<WorkerEnd['reason']> {
    for (;;) {
      if (this.#leaving.signal.aborted) {
        await this.#whileOpen();
        return 'left';
      }
      if (await this.#round()) return 'done';
      await this.#turns.changed(every.look, this.#leaving.signal);
    }
  }

  /** Turns that end need signs of life until they have. */
  async #whileOpen(): Promise<void> {
    while (this.#turns.size > 0) {
      await this.#answered(() => this.#keep());
      await this.#turns.changed(every.look, new AbortController().signal);
    }
  }

  /** Takes what is due. True once nothing is left to do. */
  async #round(): Promise<boolean> {
    const isDone = await this.#answered(async () => {
      await this.#keep();
      if (this.#restUntil > this.#now()) return false;
      const most = this.#turns.room;
      const taken = most > 0 ? await this.#engine.take(most) : [];
      for (const turn of taken) this.#turns.begin(turn);
      return taken.length === 0 && this.#turns.size === 0 && (await this.#isDone());
    });
    return isDone ?? false;
  }

  async #isDone(): Promise<boolean> {
    if (this.#options.job.every !== null) return false;
    const { tickets } = await this.#engine.look();
    return tickets.every(({ note }) => note.state !== 'open');
  }

  async #keep(): Promise<void> {
    const now = this.#now();
    if (now - this.#keptAt < every.keep) return;
    await this.#turns.keep();
    // Others see which file this worker goes by before it is compared with theirs.
    await this.#engine.beat(this.card);
    const card = await this.#engine.card();
    if (card?.digest !== this.#digest)
      await joinJob(this.#engine, this.#options.job, this.#options.name, now);
    this.#keptAt = now;
  }

  #rest(why: string): void {
    if (this.#restUntil > this.#now()) return;
    this.#rests += 1;
    this.#restUntil = this.#now() + restWait(this.#rests);
    this.#say(why, 'resting');
  }

  #say(why: string | null, state: 'waiting' | 'resting' = 'waiting'): void {
    if (why === this.#why) return;
    this.#why = why;
    this.#emit({ kind: 'worker', state: why === null ? 'working' : state, why });
  }

  #emit(event: WorkerEvent): void {
    this.#options.onEvent?.(event);
  }

  /** Does something with the engine. While that does not answer, turns under way go on as long as they may. */
  async #answered<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      const result = await work();
      if (this.#engineWhy !== null) {
        this.#engineWhy = null;
        this.#say(null);
      }
      if (this.#restUntil !== 0 && this.#restUntil <= this.#now()) {
        this.#restUntil = 0;
        this.#say(null);
      }
      return result;
    } catch (error) {
      if (!(error instanceof FleetError) || error.code !== 'engine_unavailable') throw error;
      this.#engineWhy = error.summary;
      this.#say(error.summary);
      this.#turns.engineIsAway();
      await sleep(systemClock, 1_000, this.#leaving.signal).catch(() => {});
      return null;
    }
  }
}

/** Tells subscribers and the worker's owner what happens. */
function publisherOf({ name, onEvent }: WorkerOptions): (event: WorkerEvent) => void {
  const call = safeCaller('onEvent');
  return (event) => {
    const about = channel(`call-attribution:fleet:${event.kind}`);
    if (about.hasSubscribers) about.publish({ worker: name, ...event });
    if (onEvent !== undefined) call(() => onEvent(event));
  };
}

/** A name for a worker, made of the host. */
export const workerName = (nonce: string): string => `w-${hostname().split('.')[0] ?? 'host'}-${nonce}`;
