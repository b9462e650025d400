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
  const state: { failure?: Error; input: IteratorResult<I | Mark> | undefined; isPulling: boolean } = {
    input: undefined,
    isPulling: false,
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
  const pull = async () => {
    state.isPulling = true;
    try {
      state.input = await iterator.next();
    } catch (error) {
      ended = true;
      state.failure ??= error as Error;
    }
    state.isPulling = false;
    wake();
  };
  try {
    while (!ended) {
      void pull();
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
      // Output that was ready before a failure is delivered too.
      while (ready.length > 0) yield ready.shift() as O | Mark;
      if (state.failure) throw state.failure;
    }
  } finally {
    abort.abort();
    if (!ended) {
      // The end of the loop must not wait for a source that was pulled and is silent: it ends by itself.
      const left = Promise.resolve(iterator.return?.()).catch(() => {});
      if (!state.isPulling) await left;
    }
  }
}
