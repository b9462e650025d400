import { Readable } from 'node:stream';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { Checkpoint, Page, Source } from '../page.ts';

/**
 * What can be sent through operators: a stream of calls, a list, a chain, or anything that can be
 * iterated.
 */
export type Input<T> = Source<T> | Iterable<T> | AsyncIterable<T>;

/** Whether a value has to be awaited. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' &&
  value !== null &&
  'then' in value &&
  typeof value.then === 'function';

/**
 * A promise, or the failure of a signal that is aborted before: what hears nothing of the signal is
 * not waited for.
 */
export function untilAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The error of whoever asks for what cannot be resumed. */
export const notResumable = (why: string): ConfigurationError =>
  new ConfigurationError('invalid_option', `the read cannot be resumed: ${why}`);

/** Items of an iterable that go through a chain together. */
const most = 256;

/**
 * A generator that calls `end` at once when it is left: otherwise it would notice only when what it
 * waits for is there.
 */
export function leavable<T>(
  walk: AsyncGenerator<T, void, void>,
  end: () => void,
): AsyncGenerator<T, void, void> {
  const leave = walk.return.bind(walk);
  return Object.assign(walk, {
    return: () => {
      end();
      return leave();
    },
  });
}

/** Anything that can be iterated as a source. */
export function sourceOf<T>(input: Input<T>): Source<T> {
  if ('pages' in input) return input;
  return {
    of: null,
    calls: null,
    hasTime: false,
    startsAt: null,
    facts: null,
    signal: null,
    verdict: () => null,
    pages() {
      const abort = new AbortController();
      return leavable(arrivals(input, abort.signal), () => abort.abort());
    },
  };
}

/** Why what can only be iterated cannot be resumed. */
export const noPositions = 'its source has no positions';

/** What a source has at hand goes on together. One that pauses is not waited for. */
async function* arrivals<T>(
  source: Iterable<T> | AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<Page<T>, void, void> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const ask = async (): Promise<IteratorResult<T>> => iterator.next();
  let coming: Promise<IteratorResult<T>> | null = null;
  let isOver = false;
  try {
    while (!isOver) {
      const items: T[] = [];
      let pause: Promise<null> | null = null;
      while (items.length < most) {
        coming ??= ask();
        // What came before a failure is delivered before it.
        const next: IteratorResult<T> | null = await (pause === null
          ? untilAborted(signal, coming)
          : Promise.race([coming, pause]).catch(() => null));
        pause ??= new Promise((resolve) => setImmediate(resolve, null));
        if (next === null) break;
        coming = null;
        isOver = next.done === true;
        if (next.done === true) break;
        items.push(next.value);
      }
      if (items.length === 0) continue;
      yield {
        items,
        range: null,
        get checkpoint(): Checkpoint {
          throw notResumable(noPositions);
        },
      };
    }
  } finally {
    // A source that was asked and is silent ends by itself.
    coming?.catch(() => {});
    if (source instanceof Readable) source.destroy();
    const left = isOver ? undefined : iterator.return?.();
    if (coming === null) await left;
    else if (left instanceof Promise) left.catch(() => {});
  }
}
