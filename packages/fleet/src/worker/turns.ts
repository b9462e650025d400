import { sleep, systemClock } from '@call-attribution/core';
import { type Engine, silenceMs, type Turn } from '../engine/engine.ts';
import type { Ticket, WorkerCard } from '../engine/ticket.ts';
import type { PlannedAccount, PlannedJob } from '../job.ts';
import type { Target, TurnEnd } from '../targets/target.ts';
import { Clients } from './clients.ts';
import type { WorkerEvent } from './events.ts';
import { afterDrop, afterTrouble, afterTurn, type TurnFacts } from './outcome.ts';
import { Pace } from './pace.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import type { WorkerOptions } from './worker-options.ts';

/** What turns ask their worker. */
export interface TurnsOwner {
  readonly now: () => number;
  /** The target is away or full. */
  readonly onTargetTrouble: (why: string) => void;
  readonly onTargetWell: () => void;
}

/** How long what another worker has is left alone. */
const lostWait = 5_000;

interface Open {
  readonly turn: Turn;
  readonly stop: AbortController;
  readonly startedAt: number;
  calls: number;
  requests: () => number;
  done: Promise<void>;
}

/** Why a turn was stopped. */
const notOurs = new Error('another worker has the turn');
const dropped = new Error('the turn was dropped');

/** The turns that a worker has in its hands. */
export class Turns {
  readonly #engine: Engine;
  readonly #target: Target;
  readonly #clients: Clients;
  readonly #job: PlannedJob;
  readonly #owner: TurnsOwner;
  readonly #name: string;
  readonly #emit: (event: WorkerEvent) => void;
  readonly #open = new Map<string, Open>();
  /** Turns at a time. */
  readonly #slots: number;
  readonly #pace = new Pace();
  #keptAt: number;
  /** A slot became free since somebody looked. */
  #isChanged = false;
  #wake = (): void => {};
  #grace: NodeJS.Timeout | undefined;

  constructor(
    { job, engine, target, credentials, name, slots = 4, onEvent, fetch, dispatcher }: WorkerOptions,
    owner: TurnsOwner,
  ) {
    this.#engine = engine;
    this.#target = target;
    this.#clients = new Clients(credentials, { fetch, dispatcher });
    this.#job = job;
    this.#owner = owner;
    this.#name = name;
    this.#emit = onEvent ?? (() => {});
    this.#slots = slots;
    this.#keptAt = owner.now();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Tickets that can be taken now. */
  get room(): number {
    return this.#slots - this.#open.size;
  }

  /** Begins a turn. */
  begin(turn: Turn): void {
    const account = this.#job.accounts.get(turn.key);
    const open: Open = {
      ...{ turn, stop: new AbortController(), startedAt: this.#owner.now() },
      ...{ calls: 0, requests: () => 0, done: Promise.resolve() },
    };
    this.#open.set(turn.id, open);
    open.done = this.#run(open, account).finally(() => {
      this.#open.delete(turn.id);
      this.#isChanged = true;
      this.#wake();
    });
    // What it throws is the engine's, which the worker asks all the time.
    open.done.catch(() => {});
  }

  async #run(open: Open, account: PlannedAccount | undefined): Promise<void> {
    const { turn } = open;
    // A worker that was killed had it, of an account that is no longer in the job; what was read stays.
    if (account === undefined) return void (await this.#engine.end(turn, null));
    let next: Ticket;
    let outcome: Extract<WorkerEvent, { kind: 'turn' }>['outcome'];
    let trouble: Trouble | null = null;
    try {
      const end = await this.#read(open, account);
      next = afterTurn(this.#facts(open), end);
      this.#owner.onTargetWell();
      outcome = next.note.state === 'aside' ? 'aside' : end.kind;
    } catch (error) {
      trouble = open.stop.signal.aborted ? null : troubleOf(error);
      const facts = this.#facts(open);
      if (trouble === null)
        [next, outcome] = [afterDrop(facts, 0), open.stop.signal.reason === notOurs ? 'lost' : 'dropped'];
      else if (trouble.kind === 'lost') [next, outcome] = [afterDrop(facts, lostWait), 'lost'];
      else if (trouble.kind === 'target' || trouble.kind === 'engine') {
        if (trouble.kind === 'target') this.#owner.onTargetTrouble(trouble.message);
        [next, outcome] = [afterDrop(facts, 0), 'later'];
      } else {
        next = afterTrouble(facts, trouble);
        outcome = next.note.state === 'aside' ? 'aside' : 'later';
      }
    }
    await this.#ended(open, next, outcome, trouble);
  }

  async #read(open: Open, account: PlannedAccount): Promise<TurnEnd> {
    const { turn, stop } = open;
    const { now } = this.#owner;
    const job = this.#job;
    let isRefused = false;
    try {
      const kept = await this.#clients.take(job, account);
      open.requests = () => kept.started;
      return await this.#target.turn({
        ...{ job, account, client: kept.client, signal: stop.signal, now, holder: this.#name },
        since: turn.note.round ?? now(),
        onCalls: (calls) => {
          open.calls += calls;
          this.#pace.add({ at: now(), calls, requests: 0 });
        },
      });
    } catch (error) {
      isRefused = troubleOf(error).kind === 'credential';
      throw error;
    } finally {
      await this.#clients.leave(account, isRefused);
    }
  }

  #facts({ turn, startedAt, calls }: Open): TurnFacts {
    const now = this.#owner.now();
    const { id: _, attempt: __, ...ticket } = turn;
    return { ticket, startedAt, now, calls, worker: this.#name, job: this.#job };
  }

  async #ended(
    open: Open,
    next: Ticket,
    outcome: Extract<WorkerEvent, { kind: 'turn' }>['outcome'],
    trouble: Trouble | null,
  ): Promise<void> {
    const { turn, calls, startedAt } = open;
    let isOurs = false;
    let failure: unknown = null;
    if (open.stop.signal.reason !== notOurs) {
      try {
        isOurs = await this.#engine.end(turn, next);
      } catch (error) {
        // The engine gives the ticket to somebody else once it has heard nothing of this turn for a while.
        failure = error;
      }
    }
    const requests = open.requests();
    this.#pace.add({ at: this.#owner.now(), calls: 0, requests });
    this.#emit({
      kind: 'turn',
      account: turn.account,
      outcome: isOurs || failure !== null ? outcome : 'lost',
      ...{ calls, requests },
      seconds: (this.#owner.now() - startedAt) / 1000,
      code: trouble?.code ?? (outcome === 'aside' ? (next.note.trouble?.code ?? null) : null),
      message: trouble?.message ?? (outcome === 'aside' ? (next.note.trouble?.message ?? null) : null),
    });
  }

  /** Gives a sign of life for all turns, and stops those that somebody else has by now. */
  async keep(): Promise<void> {
    const turns = [...this.#open.values()].map(({ turn }) => turn);
    const ours = await this.#engine.keep(turns);
    this.#keptAt = this.#owner.now();
    for (const { id } of turns) if (!ours.has(id)) this.#open.get(id)?.stop.abort(notOurs);
  }

  /** The engine does not answer: what nobody may rely on any more is stopped. */
  engineIsAway(): void {
    if (this.#owner.now() - this.#keptAt > silenceMs)
      for (const { stop } of this.#open.values()) stop.abort(dropped);
  }

  /** Stops all turns. */
  drop(): void {
    for (const { stop } of this.#open.values()) stop.abort(dropped);
  }

  /** Turns have so long to end. */
  leave(graceMs: number): void {
    clearTimeout(this.#grace);
    if (graceMs <= 0) this.drop();
    else this.#grace = setTimeout(() => this.drop(), graceMs).unref();
  }

  /** Waits until all turns have ended. */
  async end(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ done }) => done));
    clearTimeout(this.#grace);
  }

  close(): Promise<void> {
    return this.#clients.close();
  }

  /** Waits until a slot is free, and at most so long. */
  async changed(ms: number, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    if (this.#isChanged) end.abort();
    this.#wake = () => end.abort();
    await sleep(systemClock, ms, AbortSignal.any([signal, end.signal])).catch(() => {});
    this.#wake = () => {};
    this.#isChanged = false;
  }

  /** What is shown of them. */
  figures(): Pick<WorkerCard, 'slots' | 'busy' | 'keys' | 'callsPerSecond' | 'requestsPerSecond'> {
    const open = [...this.#open.values()];
    return {
      ...this.#pace.perSecond(this.#owner.now()),
      slots: this.#slots,
      busy: open.length,
      keys: open.map(({ turn }) => turn.key),
    };
  }
}
