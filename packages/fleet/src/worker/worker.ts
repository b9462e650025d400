import { channel } from 'node:diagnostics_channel';
import { hostname } from 'node:os';
import {
  type Clock,
  createClient,
  createLimiter,
  type Limiter,
  sleep,
  systemClock,
} from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { safeCaller } from '@call-attribution/core/tracing';
import type { CredentialSource } from '../credentials.ts';
import { type Engine, silenceMs, type Turn, type WorkerCard } from '../engine/engine.ts';
import { FleetError } from '../errors.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';
import type { Target, TurnEnd } from '../targets/target.ts';
import { version } from '../version.ts';
import { restWait, type Trouble, troubleOf } from './trouble.ts';

/** How a worker works. */
export interface WorkerOptions {
  /** The job, from the worker's own file. */
  readonly job: PlannedJob;
  /** Hands out the tickets. */
  readonly engine: Engine;
  /** Where calls are written to. */
  readonly target: Target;
  /** Finds the credentials of an account. */
  readonly credentials: CredentialSource;
  /** Its name, which must be its own. */
  readonly name: string;
  /** Turns at a time. Default 4. */
  readonly slots?: number;
  /** What it does, for logs and metrics. */
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Tells the time. Default: that of the system. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** What a worker does, for logs and metrics. */
export type WorkerEvent =
  /** A turn has ended. */
  | {
      readonly kind: 'turn';
      readonly account: string;
      /**
       * `cut`: there is more to read; `round`: all was read; `later`: tried again; `aside`: needs a person; `lost`: another
       * worker has it; `dropped`: given back.
       */
      readonly outcome: 'cut' | 'round' | 'later' | 'aside' | 'lost' | 'dropped';
      readonly calls: number;
      readonly requests: number;
      readonly seconds: number;
      /** Code of the error of `later` and `aside`, else null. */
      readonly code: string | null;
      /** What happened, else null. */
      readonly message: string | null;
    }
  /** The worker itself. */
  | {
      readonly kind: 'worker';
      readonly state: 'working' | 'waiting' | 'resting';
      readonly why: string | null;
    };

/** How a worker ended. */
export interface WorkerEnd {
  /** `done`: nothing is left to do, but for what is set aside. */
  readonly reason: 'done' | 'left';
}

/** Reads and writes until the job is done. */
export interface Worker {
  /** Works until the job is done or `leave` is called. Rejects when the job cannot be worked on. */
  run(): Promise<WorkerEnd>;
  /**
   * Takes nothing new. Turns have `graceMs` to end, then they are dropped: what was committed
   * stays.
   */
  leave(graceMs: number): void;
  /** How it is. */
  readonly card: WorkerCard;
  /** What keeps it from working; null when nothing does. */
  readonly trouble: string | null;
}

/** A turn under way. */
interface OpenTurn {
  readonly turn: Turn;
  readonly stop: AbortController;
  done: Promise<void>;
}

/**
 * Milliseconds: between two looks for tickets, between two signs of life, and until what another
 * worker has is tried again.
 */
const lookMs = 250;
const keepMs = 2_000;
const lostMs = 5_000;
/** Rates are those of the last ten seconds. */
const recentMs = 10_000;

/** Why a turn was stopped. */
const notOurs = new Error('another worker has the turn');
const dropped = new Error('the turn was dropped');

/**
 * Makes a worker. Any number may work on a job: each takes a ticket, reads a part of its account
 * into the target, and puts the ticket back.
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
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #open = new Map<string, OpenTurn>();
  /** By account: a rate is kept as long as the worker runs. */
  readonly #limiters = new Map<string, Limiter>();
  readonly #recent: { readonly at: number; readonly calls: number; readonly requests: number }[] =
    [];
  #isLeaving = false;
  #keptAt: number;
  #restUntil = 0;
  #rests = 0;
  #why: string | null = null;
  #engineWhy: string | null = null;
  /** A turn has ended since somebody looked. */
  #isChanged = false;
  #wake = (): void => {};

  constructor(options: WorkerOptions) {
    const { clock = systemClock } = options;
    this.#options = options;
    this.#now = () => clock.now();
    this.#startedAt = this.#now();
    this.#keptAt = this.#startedAt;
  }

  get card(): WorkerCard {
    const { name, slots = 4 } = this.#options;
    const now = this.#now();
    while ((this.#recent[0]?.at ?? now) < now - recentMs) this.#recent.shift();
    const perSecond = (of: 'calls' | 'requests'): number =>
      Math.round((this.#recent.reduce((sum, each) => sum + each[of], 0) * 10_000) / recentMs) / 10;
    let state: WorkerCard['state'] = this.#why === null ? 'working' : 'waiting';
    if (this.#restUntil > now) state = 'resting';
    if (this.#isLeaving) state = 'leaving';
    return {
      name,
      version,
      slots,
      state,
      why: this.#why,
      since: this.#startedAt,
      at: now,
      callsPerSecond: perSecond('calls'),
      requestsPerSecond: perSecond('requests'),
      accounts: [...this.#open.values()].map(({ turn }) => turn.account),
    };
  }

  get trouble(): string | null {
    return this.#engineWhy ?? (this.#restUntil > this.#now() ? this.#why : null);
  }

  leave(graceMs: number): void {
    this.#isLeaving = true;
    if (graceMs <= 0) this.#drop();
    else setTimeout(() => this.#drop(), graceMs).unref();
    this.#wake();
  }

  async run(): Promise<WorkerEnd> {
    const { target, engine, job, name, slots = 4 } = this.#options;
    const release = await target.prepare(!engine.isShared);
    let hasJoined = false;
    try {
      for (;;) {
        if (this.#isLeaving && this.#open.size === 0) break;
        const isDone = await this.#asked(async () => {
          if (!hasJoined) await engine.join(job, this.card);
          hasJoined = true;
          await this.#keep();
          const room = slots - this.#open.size;
          if (this.#isLeaving || room === 0 || this.#restUntil > this.#now()) return false;
          const turns = await engine.take(room);
          for (const turn of turns) this.#begin(turn);
          if (this.#open.size > 0 || job.every !== null) return false;
          const { tickets } = await engine.look();
          return tickets.every(({ state }) => state === 'done' || state === 'aside');
        });
        if (isDone) break;
        await this.#pause(this.#open.size > 0 ? lookMs : 4 * lookMs);
      }
      await engine.gone(name).catch((error: unknown) => {
        if (!(error instanceof FleetError)) throw error;
      });
      return { reason: this.#isLeaving ? 'left' : 'done' };
    } finally {
      this.#drop();
      await Promise.allSettled([...this.#open.values()].map(({ done }) => done));
      await release();
    }
  }

  /** Gives a sign of life for all turns, and stops those that somebody else has by now. */
  async #keep(): Promise<void> {
    const now = this.#now();
    if (now - this.#keptAt < keepMs) return;
    const turns = [...this.#open.values()].map(({ turn }) => turn);
    const ours = await this.#options.engine.keep(turns, this.card);
    this.#keptAt = now;
    for (const { id } of turns) if (!ours.has(id)) this.#open.get(id)?.stop.abort(notOurs);
  }

  /**
   * Asks the engine. While that does not answer, turns under way go on as long as nobody else can
   * have them.
   */
  async #asked(work: () => Promise<boolean>): Promise<boolean> {
    try {
      const answer = await work();
      this.#engineWhy = null;
      if (this.#restUntil <= this.#now()) this.#say(null);
      return answer;
    } catch (error) {
      if (!(error instanceof FleetError) || error.code !== 'engine_unavailable') throw error;
      this.#engineWhy = error.summary;
      this.#say(error.summary);
      if (this.#now() - this.#keptAt > silenceMs) this.#drop();
      await sleep(systemClock, 1_000);
      return false;
    }
  }

  #drop(): void {
    for (const { stop } of this.#open.values()) stop.abort(dropped);
  }

  /** Waits until a turn ends or `leave` is called, and at most so long. */
  async #pause(ms: number): Promise<void> {
    if (!this.#isChanged)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#isChanged = false;
  }

  #begin(turn: Turn): void {
    const open: OpenTurn = { turn, stop: new AbortController(), done: Promise.resolve() };
    this.#open.set(turn.id, open);
    open.done = this.#work(open).finally(() => {
      this.#open.delete(turn.id);
      this.#isChanged = true;
      this.#wake();
    });
  }

  /** A turn from its begin to its end, which says what becomes of the ticket. */
  async #work({ turn, stop }: OpenTurn): Promise<void> {
    const { engine, job, name } = this.#options;
    const startedAt = this.#now();
    const done = { calls: 0, requests: 0 };
    let trouble: Trouble | null = null;
    let note = turn.note;

    const ended = async (): Promise<Extract<WorkerEvent, { kind: 'turn' }>['outcome']> => {
      try {
        const end = await this.#read(turn, stop.signal, done);
        const now = this.#now();
        this.#rests = 0;
        const round = note.round ?? startedAt;
        note = { ...note, ...end.note, round };
        if (end.kind === 'cut') return (await engine.end(turn, note, now)) ? 'cut' : 'lost';
        note = { ...note, round: null, readAt: now };
        if (job.every === null && note.whole !== true)
          throw new FleetError(
            'not_whole',
            note.lacks ?? 'It is not known whether all calls are there.',
          );
        const dueAt = job.every === null ? null : Math.max(now, round + job.every);
        return (await engine.end(turn, note, dueAt)) ? 'round' : 'lost';
      } catch (error) {
        if (stop.signal.reason === notOurs) return 'lost';
        if (stop.signal.aborted)
          return (await engine.end(turn, turn.note, this.#now())) ? 'dropped' : 'lost';
        const found = troubleOf(error);
        trouble = found;
        const { kind, code, message } = found;
        if (kind === 'lost') {
          await engine.end(turn, turn.note, this.#now() + lostMs);
          return 'lost';
        }
        if (kind === 'target') this.#rest(message);
        if (kind === 'target' || kind === 'engine')
          return (await engine.end(turn, turn.note, this.#now())) ? 'later' : 'lost';
        // Who got on with an account is not failing at it.
        const isStuck = done.calls === 0 || code === 'not_whole';
        const failed = { ...turn, note, trouble: isStuck ? turn.trouble : null };
        return engine.fail(failed, { kind, code, message, by: name });
      }
    };

    // The engine gives a ticket to somebody else once it has heard nothing of this turn for a
    // while.
    const outcome = await ended().catch(() => 'later' as const);
    const { calls, requests } = done;
    this.#recent.push({ at: this.#now(), calls: 0, requests });
    const { code, message } = (trouble as Trouble | null) ?? { code: null, message: null };
    const seconds = (this.#now() - startedAt) / 1000;
    this.#emit({
      kind: 'turn',
      account: turn.account,
      outcome,
      calls,
      requests,
      seconds,
      code,
      message,
    });
  }

  async #read(
    turn: Turn,
    signal: AbortSignal,
    done: { calls: number; requests: number },
  ): Promise<TurnEnd> {
    const { job, target, name } = this.#options;
    const account = job.accounts.get(turn.account);
    if (account === undefined)
      throw new FleetError('job_invalid', `The job has no account ${turn.account}.`);
    const limiter = this.#limiters.get(account.id) ?? createLimiter(limitsOf(account));
    this.#limiters.set(account.id, limiter);
    const counting: Limiter = {
      ...limiter,
      async acquire(stopped) {
        await limiter.acquire(stopped);
        done.requests += 1;
      },
    };
    await using client = createClient({
      baseUrl: job.baseUrl,
      version: job.version,
      limiter: counting,
      auth: await this.#authOf(account),
      // It would also end the wait for a limiter.
      timeout: { total: Number.POSITIVE_INFINITY },
    });
    return await target.turn({
      job,
      account,
      client,
      signal,
      holder: name,
      now: this.#now,
      since: turn.note.round ?? this.#now(),
      onCalls: (calls) => {
        done.calls += calls;
        this.#recent.push({ at: this.#now(), calls, requests: 0 });
      },
    });
  }

  async #authOf({ id, credential }: PlannedAccount) {
    try {
      return await this.#options.credentials(credential, id);
    } catch (error) {
      if (CallsError.is(error)) throw error;
      // Whatever it says, it may quote what it has read.
      throw new FleetError(
        'credential_missing',
        `The credentials of account ${id} (${credential}) could not be read. Put them where the job says.`,
      );
    }
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

  /** Tells subscribers and the worker's owner what happens. */
  #emit(event: WorkerEvent): void {
    const { name, onEvent } = this.#options;
    const about = channel(`call-attribution:fleet:${event.kind}`);
    if (about.hasSubscribers) about.publish({ worker: name, ...event });
    if (onEvent !== undefined) tell(() => onEvent(event));
  }
}

const tell = safeCaller('onEvent');

const limitsOf = ({ requestsPerMinute }: PlannedAccount) =>
  requestsPerMinute === null ? {} : { requestsPerMinute };

/** A name for a worker, made of the host. */
export const workerName = (nonce: string): string =>
  `w-${hostname().split('.')[0] ?? 'host'}-${nonce}`;
