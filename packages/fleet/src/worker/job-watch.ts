import { CallsError } from '@call-attribution/core/errors';
import type { Engine } from '../engine/engine.ts';
import { FleetError } from '../errors.ts';
import { copyOf, type PlannedJob } from '../job.ts';
import { agree, differs } from './agree.ts';
import type { WorkerEvent } from './events.ts';

/** What a watch is made of. */
export interface JobWatchOptions {
  readonly job: PlannedJob;
  readonly engine: Engine;
  readonly name: string;
  readonly reread?: () => Promise<PlannedJob | null>;
  readonly onEvent?: (event: WorkerEvent) => void;
}

/** What it asks its worker. */
export interface JobWatchOwner {
  readonly now: () => number;
  /** Gives a sign of life, which says which file the worker goes by. */
  readonly beat: () => Promise<void>;
  /** Says why the worker waits; null when it does not. */
  readonly say: (why: string | null) => void;
  readonly hasTurns: () => boolean;
}

/** What a worker is to do: `drop` is a wait that also ends what is under way. */
export type Order = 'work' | 'wait' | 'drop' | 'cancelled';

/** Milliseconds between two looks: for orders, while others have another file, and at the job file. */
const every = { orders: 3_000, differing: 500, file: 5_000 } as const;
/** How long a worker whose file differs waits for the others. */
const patience = 45_000;

/** Follows the orders for a job, and its file. */
export class JobWatch {
  readonly #options: JobWatchOptions;
  readonly #owner: JobWatchOwner;
  readonly #at = { orders: 0, file: 0 };
  #job: PlannedJob;
  #digest: string;
  #order: Order = 'wait';
  #isAgreed = false;
  #isBegun = false;
  #differsSince: number | null = null;

  constructor(options: JobWatchOptions, owner: JobWatchOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#job = options.job;
    this.#digest = copyOf(options.job).digest;
  }

  /** The job as the worker's file has it. */
  get job(): PlannedJob {
    return this.#job;
  }

  get digest(): string {
    return this.#digest;
  }

  /** Looks at the file and for orders, where it is time. */
  async look(): Promise<Order> {
    const now = this.#owner.now();
    if (now - this.#at.file >= every.file) {
      this.#at.file = now;
      await this.#readFile();
    }
    if (now - this.#at.orders < (this.#isAgreed ? every.orders : every.differing)) return this.#order;
    this.#at.orders = now;
    const card = await this.#options.engine.card();
    if (card === null || card.copy.digest !== this.#digest || !this.#isAgreed) await this.#agree();
    else this.#take(card);
    return this.#order;
  }

  async #agree(): Promise<void> {
    this.#isAgreed = false;
    this.#order = 'wait';
    await this.#owner.beat();
    const agreement = await agree(this.#options.engine, this.#job, this.#options.name, this.#owner.now());
    if (agreement.kind === 'agreed') {
      this.#isAgreed = true;
      this.#isBegun = true;
      this.#differsSince = null;
      this.#take(agreement.card);
    } else if (agreement.kind === 'cancelled') {
      if (!this.#isBegun)
        throw new FleetError('job_cancelled', `The job ${this.#job.name} was cancelled, and stays so.`);
      this.#order = 'cancelled';
    } else {
      this.#differsSince ??= this.#owner.now();
      const error = differs(this.#job, agreement.settings);
      if (this.#owner.now() - this.#differsSince >= patience) throw error;
      this.#owner.say(error.summary);
    }
  }

  #take({ state, now }: { readonly state: 'running' | 'paused' | 'cancelled'; readonly now: boolean }): void {
    const order = { running: 'work', paused: now ? 'drop' : 'wait', cancelled: 'cancelled' } as const;
    if (order[state] === this.#order) return;
    this.#order = order[state];
    this.#owner.say(state === 'paused' ? 'the job is paused' : null);
  }

  async #readFile(): Promise<void> {
    try {
      const job = await this.#options.reread?.();
      if (job == null || copyOf(job).digest === this.#digest) return;
      if (job.name !== this.#job.name || job.into !== this.#job.into)
        throw new FleetError(
          'job_invalid',
          'The job file has another name or target now. Start a worker anew for it; this one goes on as before.',
        );
      this.#job = job;
      this.#digest = copyOf(job).digest;
      this.#isAgreed = false;
      this.#at.orders = 0;
    } catch (error) {
      const why = CallsError.is(error)
        ? error.summary
        : 'The job file cannot be read; the worker goes on as before.';
      this.#options.onEvent?.({ kind: 'worker', state: 'working', why });
    }
  }
}
