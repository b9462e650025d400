/** Work waits here for its turn, so that one client cannot make the others wait. */
export interface Turns {
  /** Runs `work` when it is the turn of `who`. Work whose signal is aborted while it waits is dropped. */
  run<T>(who: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** How much work waits. */
  readonly waiting: number;
}

interface Flow {
  /** Milliseconds of work used, at least those of the flow that was served last when this one came back. */
  used: number;
  readonly queue: Job[];
  running: number;
}

interface Job {
  readonly start: () => void;
  readonly signal: AbortSignal;
}

/**
 * Fair turns: the next one always belongs to whoever has used the least time, and within one `who` to whoever came first. Not
 * more than one piece of work starts in each round of the event loop, because a store in this process may do all of its work
 * before it returns to the loop, and new requests have to be heard in between.
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

  const startNext = (): boolean => {
    while (running < atOnce && waiting > 0) {
      const flow = leastUsed(flows);
      const job = flow?.queue.shift();
      if (flow === undefined || job === undefined) return false;
      waiting -= 1;
      if (!job.signal.aborted) {
        clock = Math.max(clock, flow.used);
        running += 1;
        flow.running += 1;
      }
      job.start();
      if (!job.signal.aborted) return true;
    }
    return false;
  };

  const take = (flow: Flow, signal: AbortSignal): Promise<void> | null => {
    if (running < atOnce && waiting === 0 && !isScheduled) {
      clock = Math.max(clock, flow.used);
      running += 1;
      flow.running += 1;
      schedule();
      return null;
    }
    waiting += 1;
    schedule();
    return new Promise((start) => flow.queue.push({ start, signal }));
  };

  return {
    get waiting() {
      return waiting;
    },
    async run(who, signal, work) {
      signal.throwIfAborted();
      const flow = flowOf(flows, who, clock);
      const turn = take(flow, signal);
      if (turn !== null) {
        await turn;
        signal.throwIfAborted();
      }
      const began = performance.now();
      try {
        return await work();
      } finally {
        flow.used += performance.now() - began;
        flow.running -= 1;
        running -= 1;
        if (waiting > 0) schedule();
        if (flows.size > 1_000) forget(flows);
      }
    },
  };
}

function flowOf(flows: Map<string, Flow>, who: string, clock: number): Flow {
  let flow = flows.get(who);
  if (flow === undefined) {
    flow = { used: clock, queue: [], running: 0 };
    flows.set(who, flow);
  }
  // Time in which it wanted nothing is not saved up.
  flow.used = Math.max(flow.used, clock);
  return flow;
}

function leastUsed(flows: ReadonlyMap<string, Flow>): Flow | undefined {
  let least: Flow | undefined;
  for (const flow of flows.values()) {
    if (flow.queue.length > 0 && (least === undefined || flow.used < least.used)) least = flow;
  }
  return least;
}

function forget(flows: Map<string, Flow>): void {
  for (const [who, { queue, running }] of flows) if (queue.length === 0 && running === 0) flows.delete(who);
}
