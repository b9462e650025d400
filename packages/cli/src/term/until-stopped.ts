import { setTimeout } from 'node:timers/promises';
import { whileWaiting } from './waiting.ts';

/** Resolves when the signal aborts, or when `or` is over. No listener stays on the signal. */
export async function stopped(signal: AbortSignal, or?: Promise<unknown>): Promise<void> {
  if (signal.aborted) return;
  const done = new AbortController();
  const abort = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done.signal });
  });
  const either = Promise.race(or === undefined ? [abort] : [abort, or]).finally(() => done.abort());
  await whileWaiting(null, () => either);
}

/** Waits until the time is over or the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await whileWaiting(null, () => setTimeout(milliseconds, undefined, { signal }).catch(() => {}));
}
