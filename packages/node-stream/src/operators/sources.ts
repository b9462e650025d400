import { Readable } from 'node:stream';
import { ConfigurationError } from '@call-attribution/core/errors';
import type { Checkpoint, Page, Source } from '../page.ts';

/** What can be sent through operators: a stream of calls, a list, a chain, or anything that can be iterated. */
export type Input<T> = Source<T> | Iterable<T> | AsyncIterable<T>;

/** Whether a value has to be awaited. */
export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** A promise, or the failure of a signal that is aborted before: what hears nothing of the signal is not waited for. */
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

/** A generator that calls `end` at once when it is left: otherwise it would notice only when what it waits for is there. */
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
    ...{ of: null, calls: null, hasTime: false, startsAt: null, facts: null, signal: null },
    verdict: Promise.resolve(null),
    pages() {
      const abort = new AbortController();
      return leavable(loosePages(input, abort.signal), () => abort.abort());
    },
  };
}

async function* loosePages<T>(
  input: Iterable<T> | AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<Page<T>, void, void> {
  for await (const items of Symbol.asyncIterator in input ? arrivals(input, signal) : cuts(input))
    yield new LoosePage(items);
}

/** Items without a position. */
class LoosePage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly range = null;

  constructor(items: readonly T[]) {
    this.items = items;
  }

  get checkpoint(): Checkpoint {
    throw notResumable('its source has no positions');
  }
}

function* cuts<T>(source: Iterable<T>): Generator<readonly T[]> {
  let items: T[] = [];
  try {
    for (const item of source) {
      if (items.push(item) < most) continue;
      yield items;
      items = [];
    }
  } catch (error) {
    // What came before a failure is delivered before it.
    if (items.length > 0) yield items;
    throw error;
  }
  if (items.length > 0) yield items;
}

/** What an asynchronous source has at hand goes on together. One that pauses is not waited for. */
async function* arrivals<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<readonly T[]> {
  const iterator = source[Symbol.asyncIterator]();
  let coming: Promise<IteratorResult<T>> | null = null;
  let isOver = false;
  try {
    while (!isOver) {
      const items: T[] = [];
      let pause: Promise<null> | null = null;
      while (items.length < most) {
        coming ??= iterator.next();
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
      if (items.length > 0) yield items;
    }
  } finally {
    // A source that was asked and is silent ends by itself.
    coming?.catch(() => {});
    if (source instanceof Readable) source.destroy();
    const left = isOver ? undefined : iterator.return?.();
    if (coming === null) await left;
    else left?.catch(() => {});
  }
}
