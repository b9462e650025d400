import { Mark } from '../checkpoint/mark.ts';
import type { KernelFactory } from './kernel.ts';

type Source<I> = Iterable<I | Mark> | AsyncIterable<I | Mark>;

/** Runs an operator that emits only while it takes an input. */
export async function* overPlain<I, O>(
  make: KernelFactory<I, O>,
  source: Source<I>,
  passMarks: boolean,
): AsyncGenerator<O | Mark, void, undefined> {
  const abort = new AbortController();
  let ready: (O | Mark)[] = [];
  const kernel = make({ emit: (item) => ready.push(item), fail: () => {}, signal: abort.signal });
  try {
    for await (const item of source) {
      if (item instanceof Mark) {
        await kernel.mark?.(item);
        if (passMarks) ready.push(item);
      } else {
        const wait = kernel.push(item);
        if (wait !== undefined) await wait;
      }
      if (ready.length > 0) {
        const items = ready;
        ready = [];
        for (const out of items) yield out;
      }
    }
    await kernel.end?.();
    for (const out of ready) yield out;
  } finally {
    abort.abort();
  }
}

/** Runs an operator that also emits while the source is silent. */
export async function* overEager<I, O>(
  make: KernelFactory<I, O>,
  source: Source<I>,
): AsyncGenerator<O | Mark, void, undefined> {
  const abort = new AbortController();
  const ready: (O | Mark)[] = [];
  const inputs = new Inputs(source);
  const kernel = make({
    emit: (item) => {
      ready.push(item);
      inputs.wake();
    },
    fail: (error) => inputs.fail(error),
    signal: abort.signal,
  });
  try {
    while (!inputs.isEnded) {
      inputs.pull();
      while (!inputs.hasCome) {
        await inputs.change();
        yield* drain(ready);
      }
      const input = inputs.take();
      try {
        if (input.done) await kernel.end?.();
        else if (input.value instanceof Mark) {
          await kernel.mark?.(input.value);
          ready.push(input.value);
        } else await kernel.push(input.value);
      } catch (error) {
        inputs.fail(error);
      }
      // Output that was ready before a failure is delivered too.
      yield* drain(ready);
      inputs.throwIfFailed();
    }
  } finally {
    abort.abort();
    await inputs.close();
  }
}

/** Gives what is in a queue, and what comes into it meanwhile. */
function* drain<T>(queue: T[]): Generator<T, void, undefined> {
  while (queue.length > 0) yield* queue.splice(0);
}

/** The items of a source, pulled one by one. A failure, of the source or another, comes in place of the next. */
class Inputs<I> {
  readonly #iterator: Iterator<I | Mark> | AsyncIterator<I | Mark>;
  #next: IteratorResult<I | Mark> | null = null;
  #failure: { readonly error: unknown } | null = null;
  #isPulling = false;
  #isEnded = false;
  /** Ends the wait for a change. */
  wake = (): void => {};

  constructor(source: Source<I>) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get hasCome(): boolean {
    return this.#next !== null || this.#failure !== null;
  }

  pull(): void {
    void this.#pull();
  }

  /** Resolves when an item, the end or a failure has come, or when woken. */
  change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  take(): IteratorResult<I | Mark> {
    this.throwIfFailed();
    const next = this.#next;
    if (next === null) throw new Error('No item of the source has come yet.');
    this.#next = null;
    this.#isEnded = next.done === true;
    return next;
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.wake();
  }

  throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async close(): Promise<void> {
    if (this.#isEnded) return;
    // The end of the loop must not wait for a source that was pulled and is silent: it ends by itself.
    const left = Promise.resolve(this.#iterator.return?.()).catch(() => {});
    if (!this.#isPulling) await left;
  }

  async #pull(): Promise<void> {
    this.#isPulling = true;
    try {
      this.#next = await this.#iterator.next();
    } catch (error) {
      this.#isEnded = true;
      this.#failure ??= { error };
    }
    this.#isPulling = false;
    this.wake();
  }
}
