import { type Engine, silenceMs, type Turn } from '../engine/engine.ts';
import type { Ticket, WorkerCard } from '../engine/ticket.ts';
import { isStore, type PlannedAccount, type PlannedJob } from '../job.ts';
import { Gate, Rate, slept, type WaitFor } from '../turn/gate.ts';
import type { Target, TurnEnd } from '../turn/turn.ts';
import { Clients } from './clients.ts';
import type { WorkerEvent } from './events.ts';
import { afterDrop, afterTrouble, afterTurn, type TurnFacts } from './outcome.ts';
import { Pace, Slots } from './slots.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import type { WorkerOptions } from './worker-options.ts';

/** What turns ask their worker. */
export interface TurnsOwner {
  readonly now: () => number;
  readonly isLeaving: () => boolean;
  /** The target is away or full. */
  readonly onTargetTrouble: (why: string) => void;
  readonly onTargetWell: () => void;
}

/** Shortest and longest turn into a store: the longest when nobody else waits. */
const [shortest, longest] = [1_000, 60_000];
/** Pages that a turn fetches ahead, and all slots together while others wait: those ahead are written before a turn can end. */
const [mostAhead, mostAheadOfAll] = [4, 8];
/** A wait that is longer than this is not worth half a file. */
const longWait = 300_000;
/** Turns that are open for each slot: those that wait have given theirs away. */
const openPerSlot = 3;
/** How long what another worker has is left alone. */
const lostWait = 5_000;

interface Open {
  readonly turn: Turn;
  readonly stop: AbortController;
  readonly cut: AbortController;
  readonly startedAt: number;
  readonly rate: Rate;
  calls: number;
  requests: () => number;
  heldUntil: number | null;
  held: WaitFor | null;
  readonly waited: Record<WaitFor, number>;
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
  readonly #slots: Slots;
  readonly #pace = new Pace();
  #isWanted = true;
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
    this.#slots = new Slots(slots, () => {
      this.#isChanged = true;
      this.#wake();
    });
    this.#keptAt = owner.now();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Tickets that can be taken now. */
  get room(): number {
    return Math.min(this.#slots.free, this.#slots.all * openPerSlot - this.#open.size);
  }

  /** Begins a turn. */
  begin(turn: Turn): void {
    const account = this.#job.accounts.get(turn.key);
    const rate = new Rate(account?.requestsPerMinute ?? null, turn.note.sent);
    const startedAt = this.#owner.now();
    if (turn.attempt > 0) rate.fill(startedAt);
    const [stop, cut] = [new AbortController(), new AbortController()];
    const open: Open = {
      ...{ turn, stop, cut, startedAt, rate },
      ...{ calls: 0, requests: () => 0, heldUntil: null, held: null },
      ...{ waited: { rate: 0, server: 0 }, done: Promise.resolve() },
    };
    this.#open.set(turn.id, open);
    this.#slots.take();
    open.done = this.#run(open, account).finally(() => {
      this.#open.delete(turn.id);
      this.#slots.leave();
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
    const { turn, stop, cut, rate } = open;
    const { now, isLeaving } = this.#owner;
    const job = this.#job;
    const signal = AbortSignal.any([stop.signal, cut.signal]);
    const isFiles = !isStore(job.into);
    const isOver = (): boolean => {
      const age = now() - open.startedAt;
      return isLeaving() || age >= longest || (age >= shortest && this.#isWanted);
    };
    const gate = new Gate(rate, {
      now,
      onWait: (ms, what) => {
        open.heldUntil = Math.max(open.heldUntil ?? 0, now() + ms);
        open.held = what;
        open.waited[what] += ms / 1000;
        const hasAll = isFiles ? gate.started === 0 || ms > longWait : gate.started === 0 || open.calls > 0;
        return hasAll ? 'end' : 'stay';
      },
      rest: async (ms, until) => {
        await this.#slots.rest(ms, until);
        open.held = null;
        open.heldUntil = null;
      },
      isOver: () => !isFiles && isOver(),
    });
    gate.onQuiet = () => cut.abort(new Error('the turn is over'));
    open.requests = () => gate.started;
    let isRefused = false;
    try {
      const client = await this.#clients.take(job, account, gate);
      return await this.#target.turn({
        ...{ job, account, turn, client, gate, signal, now },
        cut: cut.signal,
        holder: this.#name,
        isOver,
        ahead: this.#isWanted ? Math.min(mostAhead, Math.ceil(mostAheadOfAll / this.#slots.all)) : mostAhead,
        onCalls: (calls) => {
          open.calls += calls;
          this.#pace.add({ at: now(), calls, requests: 0 });
        },
      });
    } catch (error) {
      isRefused = troubleOf(error).kind === 'credential';
      throw error;
    } finally {
      gate.end();
      await this.#clients.leave(account, isRefused);
    }
  }

  #facts({ turn, startedAt, rate, heldUntil, calls }: Open): TurnFacts {
    const now = this.#owner.now();
    const { id: _, attempt: __, ...ticket } = turn;
    const facts = { ticket, startedAt, now, heldUntil, calls, worker: this.#name };
    return { ...facts, job: this.#job, sent: rate.sent(now) };
  }

  async #ended(
    open: Open,
    next: Ticket,
    outcome: Extract<WorkerEvent, { kind: 'turn' }>['outcome'],
    trouble: Trouble | null,
  ): Promise<void> {
    const { turn, calls, startedAt, waited } = open;
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
      ...{ calls, requests, waited },
      seconds: (this.#owner.now() - startedAt) / 1000,
      code: trouble?.code ?? (outcome === 'aside' ? (next.note.trouble?.code ?? null) : null),
      message: trouble?.message ?? (outcome === 'aside' ? (next.note.trouble?.message ?? null) : null),
    });
  }

  /** Gives a sign of life for all turns, and stops those that somebody else has by now. */
  async keep(): Promise<void> {
    const turns = [...this.#open.values()].map(({ turn }) => turn);
    const { ours, isWanted } = await this.#engine.keep(turns);
    this.#keptAt = this.#owner.now();
    this.#isWanted = isWanted;
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
    await slept(ms, AbortSignal.any([signal, end.signal])).catch(() => {});
    this.#wake = () => {};
    this.#isChanged = false;
  }

  /** What is shown of them. */
  figures(): Pick<WorkerCard, 'slots' | 'busy' | 'keys' | 'callsPerSecond' | 'requestsPerSecond' | 'held'> {
    const open = [...this.#open.values()];
    const held = (what: WaitFor) => open.filter((each) => each.held === what).length;
    return {
      ...this.#pace.perSecond(this.#owner.now()),
      slots: this.#slots.all,
      busy: this.#slots.busy,
      keys: open.map(({ turn }) => turn.key),
      held: { rate: held('rate'), server: held('server') },
    };
  }
}
