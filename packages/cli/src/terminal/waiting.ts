// What stderr shows while a command works: how far a read is, or, after a silence, what is waited
// for.

import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestTrace, WaitTrace } from '@call-attribution/core';
import { escapeControls } from '@call-attribution/core/errors';
import { durationMillis } from '@call-attribution/core/time';
import { beforeOutput, type Io } from '../io.ts';
import { count, duration } from './numbers.ts';
import { clearLine, lineWidth, repaints } from './style.ts';
import { fit } from './width.ts';

/** Something that is under way. */
interface Item {
  /** Null when silence is expected, as between two syncs. */
  readonly doing: string | null;
  readonly since: number;
  /** When it is over, where that is known. */
  readonly end: number | null;
}

/** A command that runs. What began last is said when nothing has happened for a while. */
interface Running {
  readonly stderr: Io['stderr'];
  readonly isTerminal: boolean;
  readonly items: Set<Item>;
  lastAt: number;
  /** The line on the terminal; in a log, where each item has one line, what was said last. */
  shown: string | Item | null;
}

// A process runs one command. A context that follows each promise would slow down all that is read.
let current: Running | null = null;

/**
 * Runs a command. After a silence, a line on stderr says what is done or waited for: on a terminal
 * it counts the seconds and goes away, elsewhere it is one plain line. Requests of core are
 * followed by themselves.
 */
export async function withWaiting<T>(io: Io, run: () => Promise<T>): Promise<T> {
  const { stderr } = io;
  const isTerminal = repaints(stderr, io.env);

  // A log gets a line only for what takes long, as from the progress of a read.
  const patienceMs = durationMillis(io.patience ?? (isTerminal ? '1s' : '5s'), 'patience');
  const own: Running = {
    stderr,
    isTerminal,
    items: new Set(),
    lastAt: performance.now(),
    shown: null,
  };

  const look = () => {
    if (performance.now() - own.lastAt >= patienceMs) showWaiting(own);
  };

  const timer = setInterval(look, Math.min(patienceMs, 500)).unref();
  current = own;
  beforeOutput(touch);
  followRequests();
  if (isTerminal) beginWaiting('working');
  try {
    return await run();
  } finally {
    touch(own);
    clearInterval(timer);
    if (current === own) current = null;
  }
}

/**
 * Notes what is done from now on until the function that it returns is called; null when silence is
 * expected.
 */
export function beginWaiting(doing: string | null, forMs: number | null = null): () => void {
  const own = current;
  if (own === null) return () => {};
  const since = performance.now();
  const item = { doing, since, end: forMs === null ? null : since + forMs };

  // Several requests may be refused at once.
  const isKnown = [...own.items].some((other) => other.doing === doing);
  own.items.add(item);
  touch(own);
  if (forMs !== null && forMs >= 1_000 && !isKnown) showWaiting(own);
  return () => {
    own.items.delete(item);
    touch(own);
  };
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
 * Something happens or is written: a line about waiting goes, and comes back only after another
 * silence.
 */
export function touch(own: Running | null = current): void {
  if (own === null) return;
  own.lastAt = performance.now();
  if (typeof own.shown !== 'string') return;
  own.shown = null;
  put(own, clearLine);
}

function showWaiting(own: Running): void {
  const item = [...own.items].at(-1);
  if (item === undefined || [...own.items].some(({ doing }) => doing === null)) return;
  const now = performance.now();
  const inSeconds = (milliseconds: number) => `${Math.max(1, Math.round(milliseconds / 1000))} s`;
  const text =
    item.end === null ? `${item.doing}` : `${item.doing}, next try in ${inSeconds(item.end - now)}`;
  if (!own.isTerminal) {
    if (own.shown !== item) put(own, `${escapeControls(text)}\n`);
    own.shown = item;
    return;
  }

  const whole = item.end === null ? `${text} (${inSeconds(now - item.since)})` : text;
  const line = fit(escapeControls(whole), lineWidth(own.stderr));
  if (own.shown !== line) put(own, clearLine + line);
  own.shown = line;
}

function put({ stderr }: Pick<Running, 'stderr'>, text: string): void {
  stderr.write(text, () => {});
}

let isFollowing = false;

/** Follows the requests of core, and their waits, for the command that runs. */
function followRequests(): void {
  if (isFollowing) return;
  isFollowing = true;
  follow<RequestTrace>('request', ({ url }) => beginWaiting(`waiting for ${new URL(url).origin}`));
  follow<WaitTrace>('wait', ({ after, status, waitMs }) => {
    if (waitMs === undefined) return () => {};
    let reason = `the server failed (status ${status})`;
    if (status === 429) reason = 'rate limited (status 429)';
    else if (status === undefined) reason = `request failed (${after})`;
    return beginWaiting(reason, waitMs);
  });
}

/** What happens at the start and the end of an operation of core. */
function follow<T extends object>(name: string, begin: (message: T) => () => void): void {
  const open = new WeakMap<object, () => void>();
  const channel = tracingChannel<unknown, T>(`call-attribution:${name}`);
  // An operation is the same message at its start and at its end.
  channel.start.subscribe((message) => open.set(message as T, begin(message as T)));
  channel.asyncEnd.subscribe((message) => open.get(message as T)?.());
}

/** How far a long read is. */
export interface ProgressState {
  readonly done: number;
  /** Null until it is known. */
  readonly total: number | null;
  /** Records per second. */
  readonly rate: number;
  /** Retries and the like, in words; empty when there are none. */
  readonly note: string;
}

/**
 * Shows progress: on a terminal as one line that is repainted, elsewhere as a plain line every few
 * seconds.
 */
export interface ProgressLine {
  update(state: ProgressState): void;
  /** Closes the line, so that messages can follow. */
  close(): void;
}

/** Makes a progress line on stderr. */
export function progressLine(
  { stderr, env }: Pick<Io, 'stderr' | 'env'>,
  label: string,
): ProgressLine {
  const isTerminal = repaints(stderr, env);

  // A terminal shows progress at once; a log shows nothing of a read that ends within the first
  // interval.
  let shownAt = isTerminal ? Number.NEGATIVE_INFINITY : null;
  let latest: ProgressState | null = null;
  let shown: ProgressState | null = null;

  const show = (state: ProgressState): void => {
    shown = state;
    const text = escapeControls(progressText(label, state, isTerminal ? lineWidth(stderr) : null));
    touch();
    put({ stderr }, isTerminal ? `${clearLine}${text}` : `${text}\n`);
  };

  return {
    update(state) {
      latest = state;
      const now = performance.now();
      shownAt ??= now;
      if (now - shownAt < (isTerminal ? 100 : 5_000)) return;
      shownAt = now;
      show(state);
    },
    close() {
      // The last line may have given way to one about waiting.
      if (latest !== null && (isTerminal || (shown !== null && shown !== latest))) show(latest);
      if (latest !== null && isTerminal) put({ stderr }, '\n');
      latest = null;
    },
  };
}

function progressText(
  label: string,
  { done, total, rate, note }: ProgressState,
  width: number | null,
): string {
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const isGoing = total !== null && done !== total && rate > 0;
  const text = [
    total === null ? count(done) : `${count(done)} / ${count(total)}`,
    share === null ? '' : `${Math.floor(share * 100)}%`,
    `${count(rate)}/s`,
    isGoing ? `ETA ${duration(((total - done) / rate) * 1000)}` : '',
    note,
  ]
    .filter(Boolean)
    .join('  ');
  if (width === null) return `${label}: ${text}`;
  const space = Math.min(30, width - label.length - text.length - 5);
  const gauge =
    share === null || space < 5
      ? ''
      : `[${'#'.repeat(Math.round(share * space)).padEnd(space, '-')}] `;
  return `${label} ${gauge}${text}`.slice(0, width);
}
