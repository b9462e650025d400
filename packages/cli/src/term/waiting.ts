import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { RequestEvent, RetryEvent } from '@call-attribution/core';
import { isAscii, toAscii } from '../ascii.ts';
import { beforeOutput, type Io } from '../io.ts';
import { fit } from './width.ts';

/** Says what a command waits for when nothing has happened for a while. */
interface Waiting {
  /** Notes what is done; null when silence is expected, as between two syncs. The function ends it. */
  begin(doing: string | null): () => void;
  /** Says at once why nothing happens, and for how long. */
  pause(reason: string, forMs: number): void;
}

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

/**
 * Runs a command. After a silence, a line on stderr says what is done or waited for: on a
 * terminal it counts the seconds and goes away, elsewhere it is one plain line. Requests of core are followed by themselves.
 */
export async function withWaiting<T>(io: Io, run: () => Promise<T>): Promise<T> {
  watchRequests();
  const isTerminal = io.stderr.isTTY === true && io.env.TERM !== 'dumb';
  const { waiting, touch, end } = createWaiting(io, isTerminal);
  const done = isTerminal ? waiting.begin('working') : undefined;
  try {
    return await beforeOutput.run(touch, () => current.run(waiting, run));
  } finally {
    done?.();
    end();
  }
}

interface Item {
  readonly doing: string | null;
  readonly since: number;
}

const inSeconds = (milliseconds: number): string => `${Math.max(1, Math.round(milliseconds / 1000))} s`;

function createWaiting({ stderr, env, patience: own }: Io, isTerminal: boolean) {
  // A log gets a line only for what takes long, as from the progress of a read.
  const patience = own ?? (isTerminal ? 1_000 : 5_000);
  const now = (): number => performance.now();
  const put = (text: string): void => {
    stderr.write(isAscii(env) ? toAscii(text) : text, () => {});
  };
  const items = new Set<Item>();
  let timer: NodeJS.Timeout | undefined;
  let lastAt = now();
  let pause: { readonly reason: string; readonly end: number } | null = null;
  let isShown = false;
  let said: Item | null = null;

  /** Something happened: the line goes, and comes back only after another silence. */
  function touch(): void {
    lastAt = now();
    if (isShown) put('\r\u001b[2K');
    isShown = false;
  }

  function lookIn(milliseconds: number): void {
    if (timer !== undefined || items.size === 0) return;
    const due = now() + milliseconds;
    timer = setTimeout(() => {
      timer = undefined;
      // The event loop was busy: what is waited for may be there already.
      if (now() - due > 200) return lookIn(200);
      const left = lastAt + patience - now();
      if (left > 0 && !isShown) return lookIn(left);
      show();
      if (isTerminal) lookIn(1000);
    }, milliseconds).unref();
  }

  function show(): void {
    const item = [...items].at(-1);
    if (item === undefined || [...items].some(({ doing }) => doing === null)) return;
    const left = pause === null ? 0 : pause.end - now();
    const text =
      pause !== null && left > 0 ? `${pause.reason}, next try in ${inSeconds(left)}` : `${item.doing}`;
    if (isTerminal) {
      const line = left > 0 ? text : `${text} (${inSeconds(now() - item.since)})`;
      put(`\r\u001b[2K${fit(line, Math.max(20, (stderr.columns ?? 80) - 1))}`);
      isShown = true;
    } else if (said !== item) {
      said = item;
      put(`${text}\n`);
    }
  }

  const waiting: Waiting = {
    begin(doing) {
      const item = { doing, since: now() };
      items.add(item);
      touch();
      lookIn(patience);
      return () => {
        items.delete(item);
        pause = null;
        touch();
        lookIn(patience);
      };
    },
    pause(reason, forMs) {
      const end = now() + forMs;
      // Several requests may be refused at once.
      const isKnown = pause?.reason === reason && Math.abs(pause.end - end) < 1000;
      pause = { reason, end };
      if (isKnown || forMs < 1_000) return;
      said = null;
      show();
    },
  };
  const end = (): void => {
    items.clear();
    touch();
    clearTimeout(timer);
  };
  return { waiting, touch, end };
}

let isWatching = false;

/** Follows the requests of core, each in the waiting of the command that sent it. */
function watchRequests(): void {
  if (isWatching) return;
  isWatching = true;
  const open = new WeakMap<object, () => void>();
  subscribe('call-attribution:request', (message) => {
    const { id, phase, url } = message as RequestEvent;
    const own = current.getStore();
    if (phase === 'start' && own) open.set(id, own.begin(`waiting for ${new URL(url).origin}`));
    if (phase === 'end') open.get(id)?.();
  });
  subscribe('call-attribution:retry', (message) => {
    const { error, status, waitMs } = message as RetryEvent;
    const reason =
      status === 429
        ? 'rate limited (status 429)'
        : status === undefined
          ? `request failed (${error})`
          : `the server failed (status ${status})`;
    current.getStore()?.pause(reason, waitMs);
  });
}
