import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestTrace, WaitTrace } from '@call-attribution/core';
import { durationMillis } from '@call-attribution/core/time';
import { beforeOutput, type Io, shownText } from '../io.ts';
import { clearLine, lineWidth, repaints } from './style.ts';
import { fit } from './width.ts';

const current = new AsyncLocalStorage<Waiting>();

/** Notes what is done from now on until the function that it returns is called; null when silence is expected. */
export function beginWaiting(doing: string | null): () => void {
  return current.getStore()?.begin(doing) ?? (() => {});
}

/** Does something, and says on stderr what it is when nothing happens for a second. */
export async function whileWaiting<T>(doing: string | null, work: () => Promise<T>): Promise<T> {
  const done = beginWaiting(doing);
  try {
    return await work();
  } finally {
    done();
  }
}

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
  await whileWaiting(null, () => delay(milliseconds, undefined, { signal }).catch(() => {}));
}

/**
 * Runs a command. After a silence, a line on stderr says what is done or waited for: on a
 * terminal it counts the seconds and goes away, elsewhere it is one plain line. Requests of core are followed by themselves.
 */
export async function withWaiting<T>(io: Io, run: () => Promise<T>): Promise<T> {
  watchRequests();
  const isTerminal = repaints(io.stderr, io.env);
  const waiting = new Waiting(io, isTerminal);
  const done = isTerminal ? waiting.begin('working') : undefined;
  try {
    return await beforeOutput.run(
      () => waiting.touch(),
      () => current.run(waiting, run),
    );
  } finally {
    done?.();
    waiting.close();
  }
}

/** Something that is done; null when silence is expected, as between two syncs. */
interface Item {
  readonly doing: string | null;
  readonly since: number;
}

const inSeconds = (milliseconds: number): string => `${Math.max(1, Math.round(milliseconds / 1000))} s`;

/** Says what a command waits for when nothing has happened for a while. */
class Waiting {
  readonly #io: Pick<Io, 'stderr'>;
  readonly #isTerminal: boolean;
  readonly #patienceMs: number;
  /** What is under way; the last one is said. */
  readonly #items = new Set<Item>();
  readonly #timer: NodeJS.Timeout;
  #lastAt = performance.now();
  /** Why nothing happens until a request is sent again. */
  #pause: { readonly reason: string; readonly end: number } | null = null;
  /** The line on the terminal; in a log, where each item has one line, what was said last. */
  #shown: string | Item | null = null;

  constructor(io: Io, isTerminal: boolean) {
    this.#io = io;
    this.#isTerminal = isTerminal;
    // A log gets a line only for what takes long, as from the progress of a read.
    this.#patienceMs = durationMillis(io.patience ?? (isTerminal ? '1s' : '5s'), 'patience');
    const look = () => {
      if (performance.now() - this.#lastAt >= this.#patienceMs) this.#show();
    };
    this.#timer = setInterval(look, Math.min(this.#patienceMs, 500)).unref();
  }

  /** Notes what is done; null when silence is expected. The function ends it. */
  begin(doing: string | null): () => void {
    const item = { doing, since: performance.now() };
    this.#items.add(item);
    this.touch();
    return () => {
      this.#items.delete(item);
      this.#pause = null;
      this.touch();
    };
  }

  /** Says at once why nothing happens, and for how long. */
  pause(reason: string, forMs: number): void {
    const end = performance.now() + forMs;
    // Several requests may be refused at once.
    const isKnown = this.#pause?.reason === reason && Math.abs(this.#pause.end - end) < 1000;
    this.#pause = { reason, end };
    if (isKnown || forMs < 1_000) return;
    this.#shown = null;
    this.#lastAt = Number.NEGATIVE_INFINITY;
    this.#show();
  }

  /** Something happened: the line goes, and comes back only after another silence. */
  touch(): void {
    this.#lastAt = performance.now();
    if (typeof this.#shown !== 'string') return;
    this.#shown = null;
    this.#put(clearLine);
  }

  close(): void {
    this.touch();
    clearInterval(this.#timer);
  }

  #show(): void {
    const item = [...this.#items].at(-1);
    if (item === undefined || [...this.#items].some(({ doing }) => doing === null)) return;
    const now = performance.now();
    const left = (this.#pause?.end ?? now) - now;
    const doing = left > 0 ? `${this.#pause?.reason}, next try in ${inSeconds(left)}` : `${item.doing}`;
    if (!this.#isTerminal) {
      if (this.#shown !== item) this.#put('', `${doing}\n`);
      this.#shown = item;
      return;
    }
    const text = left > 0 ? doing : `${doing} (${inSeconds(now - item.since)})`;
    const line = fit(text, lineWidth(this.#io.stderr));
    if (this.#shown !== line) this.#put(clearLine, line);
    this.#shown = line;
  }

  #put(control: string, text = ''): void {
    this.#io.stderr.write(control + shownText(text), () => {});
  }
}

let isWatching = false;

/** Follows the requests of core, each in the waiting of the command that sent it. */
function watchRequests(): void {
  if (isWatching) return;
  isWatching = true;
  const open = new WeakMap<object, () => void>();
  // A request is the same message at its start and at its end.
  const request = tracingChannel('call-attribution:request');
  request.start.subscribe((message) => {
    const event = message as RequestTrace;
    const own = current.getStore();
    if (own) open.set(event, own.begin(`waiting for ${new URL(event.url).origin}`));
  });
  request.asyncEnd.subscribe((message) => open.get(message as RequestTrace)?.());
  tracingChannel('call-attribution:wait').start.subscribe((message) => {
    const { after, status, waitMs } = message as WaitTrace;
    if (waitMs === undefined) return;
    let reason = `the server failed (status ${status})`;
    if (status === 429) reason = 'rate limited (status 429)';
    else if (status === undefined) reason = `request failed (${after})`;
    current.getStore()?.pause(reason, waitMs);
  });
}
