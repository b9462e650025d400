/** What a step gives out: at once, or when asynchronous work is done. */
export type Output<O> = Given<O> | Promise<Given<O>>;

/** What a step gives out for a batch: all of it, or what the first items gave. */
type Given<O> = readonly O[] | Part<O>;

/** What the first items of a batch gave: the others come again with the next call, after what is here was taken. */
export class Part<O> {
  /** What came out. */
  readonly out: readonly O[];
  /** How many items of the batch are done. */
  readonly taken: number;

  constructor(out: readonly O[], taken: number) {
    this.out = out;
    this.taken = taken;
  }
}

/** One run of an operator. Its methods are called one after the other, never while a promise of an earlier call is open. */
export interface Step<I, O> {
  /** Takes items in, and returns what comes out. Throw `Stopped` for a failure in the middle of a batch. */
  take(batch: readonly I[]): Output<O>;
  /** The input has ended: returns the rest. */
  end?(): readonly O[] | Promise<readonly O[]>;
  /** All items from before this naive time have come. Without this method the time passes on. */
  passed?(before: string): Passed<O>;
  /**
   * What it needs to go on later, as plain JSON that no later item changes: a copy of what it still works with. Undefined when a failure
   * has left it half way. Without this method it keeps nothing.
   */
  save?(): unknown;
  /** Resolves when `tick` is to be called, even if no item comes; null when it waits for nothing. */
  due?(): Promise<void> | null;
  /** Returns what comes out without an item. */
  tick?(): readonly O[];
}

/** What comes out because time has passed. */
export interface Passed<O> {
  /** The items. */
  readonly out: readonly O[];
  /** All items of the output from before this time are out; null when nothing is known. */
  readonly before: string | null;
}

/** A failure in the middle of a batch: what came out before it is delivered, then the error. */
export class Stopped<O> {
  /** What has failed. */
  readonly cause: unknown;
  /** What the items before the failure gave. */
  readonly out: readonly O[];
  /** How many items of the batch were taken before the one that failed. */
  readonly taken: number;

  constructor(cause: unknown, out: readonly O[], taken: number) {
    this.cause = cause;
    this.out = out;
    this.taken = taken;
  }
}

/**
 * Makes the `take` of a step that handles one item after the other. What an item gives is put into `out`; when the function throws, it
 * must have left the state as it was before the item.
 *
 * @example
 * defineOperator({ name: 'twice', begin: () => ({ take: each((item, out) => out.push(item, item)) }) });
 */
export function each<I, O>(handle: (item: I, out: O[]) => void): (batch: readonly I[]) => readonly O[] {
  return (batch) => {
    const out: O[] = [];
    let taken = 0;
    try {
      for (const item of batch) {
        handle(item, out);
        taken += 1;
      }
    } catch (error) {
      throw new Stopped(error, out, taken);
    }
    return out;
  };
}

/** A promise, or the failure of a signal that is aborted before: what hears nothing of the signal is not waited for. */
export function untilAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Whether a value has to be awaited. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
