import { Mark } from '../checkpoint/mark.ts';
import type { KernelFactory } from './kernel.ts';

type Source<I> = Iterable<I | Mark> | AsyncIterable<I | Mark>;

/** Runs a kernel over an iterable, for kernels that emit only while they take an input. */
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

/** The same for kernels that also emit while the source is silent: timers, work that runs on. */
export async function* overEager<I, O>(
  make: KernelFactory<I, O>,
  source: Source<I>,
): AsyncGenerator<O | Mark, void, undefined> {
  const abort = new AbortController();
  const ready: (O | Mark)[] = [];
  const state: { failure?: Error; input: IteratorResult<I | Mark> | undefined; asking: boolean } = {
    input: undefined,
    asking: false,
  };
  let wake = () => {};
  let ended = false;
  const kernel = make({
    emit: (item) => {
      ready.push(item);
      wake();
    },
    fail: (error) => {
      state.failure ??= error;
      wake();
    },
    signal: abort.signal,
  });
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const ask = async () => {
    state.asking = true;
    try {
      state.input = await iterator.next();
    } catch (error) {
      ended = true;
      state.failure ??= error as Error;
    }
    state.asking = false;
    wake();
  };
  try {
    while (!ended) {
      void ask();
      while (state.input === undefined && state.failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        while (ready.length > 0) yield ready.shift() as O | Mark;
      }
      if (state.failure) throw state.failure;
      const input = state.input as IteratorResult<I | Mark>;
      state.input = undefined;
      ended = input.done === true;
      try {
        if (input.done) await kernel.end?.();
        else if (input.value instanceof Mark) {
          await kernel.mark?.(input.value);
          ready.push(input.value);
        } else await kernel.push(input.value);
      } catch (error) {
        state.failure ??= error as Error;
      }
      // Also what was ready before a failure.
      while (ready.length > 0) yield ready.shift() as O | Mark;
      if (state.failure) throw state.failure;
    }
  } finally {
    abort.abort();
    if (!ended) {
      // A source that is asked and silent would hold the end of the loop back until it answers: let it end by itself.
      const left = Promise.resolve(iterator.return?.()).catch(() => {});
      if (!state.asking) await left;
    }
  }
}
