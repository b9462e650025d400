/** What work needs: the store, threads of the pool of Node.js, or only the event loop for a few milliseconds. */
export type Need = 'store' | 'pool' | 'loop';

/** Work that waits for its turn. */
export interface Work {
  /** Whose turn it takes. */
  readonly who: string;
  /** Work that is aborted while it waits is dropped. */
  readonly signal: AbortSignal;
  readonly needs: Need;
  /** Is there memory for what it reads from the store? Others are served until there is. Default: always. */
  readonly hasMemory?: () => boolean;
}

/** Work waits here for its turn, so that one client cannot make the others wait. */
export interface Turns {
  /** Counts a request or handshake of `who` until the function it returns is called. A refused one counts as more time. */
  enter(who: string): (end?: 'refused') => void;
  /** Runs work when it is the turn of `who` and what it needs is free. */
  run<T>(work: Work, run: () => T | Promise<T>): Promise<T>;
  /** Looks again at work for which there was no memory. */
  onMemory(): void;
  /** Notes that a connection was accepted, and more may be waiting. */
  onAccept(): void;
  /** How much waits. */
  readonly waiting: number;
}

interface Job extends Work {
  readonly start: () => void;
}

interface Flow {
  /** Milliseconds used, at least those of the flow that was served last when this one came back. */
  used: number;
  /** Requests and handshakes in progress. */
  requests: number;
  readonly jobs: Readonly<Record<Need, Job[]>>;
  running: number;
  /** Had its next work for the store no memory? */
  hasToWait: boolean;
}

/** Responses in progress first, since they give memory back. */
const needs: readonly Need[] = ['loop', 'pool', 'store'];
/** Milliseconds by which somebody new comes after those who are being served, so that many new ones do not interrupt them. */
const newcomerMs = 50;
/** Milliseconds that a refused request counts, so that whoever sends many of them comes after others. */
const refusedMs = 50;
/** Node.js accepts one connection in a round of the event loop. So many may be accepted before the next work starts. */
const acceptedPerTurn = 4;
/** Milliseconds by which a request in progress puts somebody back, and how many requests do that. */
const requestMs = 10;
const mostRanked = 20;
/** What somebody has used too much is forgotten beyond this number of milliseconds. */
const mostDebtMs = 1_000;

/**
 * Fair turns: the next one always belongs to whoever has used the least time, and within one `who` to whoever came first. The
 * time of somebody with n requests in progress counts n² times: of all who want something, those with few requests come first,
 * however many others do not read their responses or open connections. When nobody else wants anything, all are served.
 *
 * Not more than one starts in each round of the event loop, because a store in this process may do all of its work before it
 * returns to the loop, and new requests have to be heard in between.
 */
export class FairTurns implements Turns {
  waiting = 0;
  readonly #flows = new Map<string, Flow>();
  readonly #running: Record<Need, number> = { store: 0, pool: 0, loop: 0 };
  readonly #most: Readonly<Record<Need, number>>;
  #clock = 0;
  #isScheduled = false;
  #hasAccepted = false;
  #accepted = 0;

  constructor(atOnce: Readonly<Record<'store' | 'pool', number>>) {
    this.#most = { ...atOnce, loop: Number.POSITIVE_INFINITY };
  }

  enter(who: string): (end?: 'refused') => void {
    const flow = flowOf(this.#flows, who, this.#clock);
    flow.requests += 1;
    return (end) => {
      flow.requests -= 1;
      if (end === 'refused') this.#charge(flow, refusedMs);
      if (this.#flows.size > 1_000) forget(this.#flows);
    };
  }

  onMemory(): void {
    if (this.waiting === 0) return;
    for (const flow of this.#flows.values()) flow.hasToWait = false;
    this.#schedule();
  }

  onAccept(): void {
    this.#hasAccepted = true;
  }

  async run<T>(work: Work, run: () => T | Promise<T>): Promise<T> {
    const { who, signal, needs: need, hasMemory } = work;
    signal.throwIfAborted();
    const flow = flowOf(this.#flows, who, this.#clock);
    const isFree = this.waiting === 0 && !this.#isScheduled && this.#running[need] < this.#most[need];
    if (isFree && (need !== 'store' || hasMemory?.() !== false)) {
      this.#begin(flow, need);
      this.#schedule();
    } else {
      this.waiting += 1;
      this.#schedule();
      await new Promise<void>((start) => flow.jobs[need].push({ ...work, start }));
      signal.throwIfAborted();
    }
    const began = performance.now();
    try {
      return await run();
    } finally {
      this.#charge(flow, (performance.now() - began) * Math.max(flow.requests, 1) ** 2);
      flow.running -= 1;
      this.#running[need] -= 1;
      if (this.waiting > 0) this.#schedule();
      if (this.#flows.size > 1_000) forget(this.#flows);
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#accepted = this.#hasAccepted ? this.#accepted + 1 : 0;
      this.#hasAccepted = false;
      if (this.#accepted > 0 && this.#accepted <= acceptedPerTurn) return this.#schedule();
      this.#accepted = 0;
      if (this.#startNext()) this.#schedule();
    });
  }

  #begin(flow: Flow, need: Need): void {
    this.#clock = Math.max(this.#clock, flow.used);
    flow.running += 1;
    this.#running[need] += 1;
  }

  #charge(flow: Flow, ms: number): void {
    flow.used = Math.min(flow.used + ms, this.#clock + mostDebtMs);
  }

  #startable(flow: Flow): Need | undefined {
    return needs.find(
      (need) =>
        flow.jobs[need].length > 0 &&
        this.#running[need] < this.#most[need] &&
        !(need === 'store' && flow.hasToWait),
    );
  }

  #startNext(): boolean {
    for (;;) {
      let flow: Flow | undefined;
      for (const one of this.#flows.values())
        if ((flow === undefined || rankOf(one) < rankOf(flow)) && this.#startable(one) !== undefined)
          flow = one;
      const need = flow && this.#startable(flow);
      const job = need && flow?.jobs[need][0];
      if (flow === undefined || need === undefined || job === undefined) return false;
      const isAborted = job.signal.aborted;
      if (!isAborted && need === 'store' && job.hasMemory?.() === false) {
        flow.hasToWait = true;
        continue;
      }
      flow.jobs[need].shift();
      this.waiting -= 1;
      if (!isAborted) this.#begin(flow, need);
      job.start();
      if (!isAborted) return true;
    }
  }
}

/** The lowest comes next. Requests in progress count here too, for whoever sends many before any time has been used. */
function rankOf({ used, requests }: Flow): number {
  return used + Math.min(requests, mostRanked) * requestMs;
}

function flowOf(flows: Map<string, Flow>, who: string, clock: number): Flow {
  let flow = flows.get(who);
  if (flow === undefined) {
    flow = {
      used: clock + newcomerMs,
      requests: 0,
      jobs: { loop: [], pool: [], store: [] },
      running: 0,
      hasToWait: false,
    };
    flows.set(who, flow);
  }
  // Time in which it wanted nothing is not saved up.
  flow.used = Math.max(flow.used, clock);
  return flow;
}

function forget(flows: Map<string, Flow>): void {
  for (const [who, { jobs, running, requests }] of flows)
    if (requests + running + needs.reduce((sum, need) => sum + jobs[need].length, 0) === 0) flows.delete(who);
}
