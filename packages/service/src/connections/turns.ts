/** Work waits here for its turn, so that one client cannot make the others wait. Aborted work is dropped while it waits. */
export interface Turns {
  /** Runs work that may wait for a database or a thread, when it is the turn of `who` and not too much of it is running. */
  run<T>(who: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Runs a short step when it is the turn of `who`, whatever is running. */
  step(who: string, signal: AbortSignal, step: () => void): Promise<void>;
  /** How much waits. */
  readonly waiting: number;
}

interface Job {
  readonly isStep: boolean;
  readonly signal: AbortSignal;
  readonly start: () => void;
}

interface Flow {
  /** Milliseconds of work used, at least those of the flow that was served last when this one came back. */
  used: number;
  readonly steps: Job[];
  readonly work: Job[];
  running: number;
}

/**
 * Fair turns: the next one always belongs to whoever has used the least time, and within one `who` to whoever came first. Not
 * more than one starts in each round of the event loop, because a store in this process may do all of its work before it
 * returns to the loop, and new requests have to be heard in between.
 */
export function createTurns(atOnce: number): Turns {
  const flows = new Map<string, Flow>();
  let running = 0;
  let waiting = 0;
  let clock = 0;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (startNext()) schedule();
    });
  };

  const begin = (flow: Flow, isStep: boolean): void => {
    clock = Math.max(clock, flow.used);
    flow.running += 1;
    if (!isStep) running += 1;
  };

  const startNext = (): boolean => {
    for (;;) {
      const flow = leastUsed(flows, running < atOnce);
      const job = flow?.steps.shift() ?? flow?.work.shift();
      if (flow === undefined || job === undefined) return false;
      waiting -= 1;
      const isAborted = job.signal.aborted;
      if (!isAborted) begin(flow, job.isStep);
      job.start();
      if (!isAborted) return true;
    }
  };

  const inTurn = async <T>(
    who: string,
    signal: AbortSignal,
    isStep: boolean,
    work: () => T | Promise<T>,
  ): Promise<T> => {
    signal.throwIfAborted();
    const flow = flowOf(flows, who, clock);
    if (waiting === 0 && !isScheduled && (isStep || running < atOnce)) {
      begin(flow, isStep);
      schedule();
    } else {
      waiting += 1;
      schedule();
      await new Promise<void>((start) => (isStep ? flow.steps : flow.work).push({ isStep, signal, start }));
      signal.throwIfAborted();
    }
    const began = performance.now();
    try {
      return await work();
    } finally {
      flow.used += performance.now() - began;
      flow.running -= 1;
      if (!isStep) running -= 1;
      if (waiting > 0) schedule();
      if (flows.size > 1_000) forget(flows);
    }
  };

  return {
    get waiting() {
      return waiting;
    },
    run: (who, signal, work) => inTurn(who, signal, false, work),
    step: (who, signal, step) => inTurn(who, signal, true, step),
  };
}

function flowOf(flows: Map<string, Flow>, who: string, clock: number): Flow {
  let flow = flows.get(who);
  if (flow === undefined) {
    flow = { used: clock, steps: [], work: [], running: 0 };
    flows.set(who, flow);
  }
  // Time in which it wanted nothing is not saved up.
  flow.used = Math.max(flow.used, clock);
  return flow;
}

function leastUsed(flows: ReadonlyMap<string, Flow>, mayWork: boolean): Flow | undefined {
  let least: Flow | undefined;
  for (const flow of flows.values()) {
    if (flow.steps.length === 0 && (flow.work.length === 0 || !mayWork)) continue;
    if (least === undefined || flow.used < least.used) least = flow;
  }
  return least;
}

function forget(flows: Map<string, Flow>): void {
  for (const [who, { steps, work, running }] of flows)
    if (steps.length + work.length + running === 0) flows.delete(who);
}
