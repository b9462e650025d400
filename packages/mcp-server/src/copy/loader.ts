import type { Client, Clock } from '@call-attribution/core';
import { sleep, systemClock } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { covers, hour, type Period, textOf } from '@call-attribution/core/time';
import type { MaskedStore } from './masked-store.ts';

/** A copy that is open. */
export interface OpenedCopy {
  readonly store: MaskedStore;
  /** Notes that it is in use. */
  readonly touch: () => void;
}

/** What a loader needs of its copy. */
export interface LoaderHost {
  client(): Promise<Client>;
  open(): Promise<OpenedCopy>;
  readonly clock: Clock;
}

/**
 * After a refresh for a question, older calls whose ad data may have changed are read again, if
 * that was not done for so long.
 */
const completeEvery = hour;
/** A copy into which another process has written so lately is its own to load. */
const othersFor = 15_000;
/** Another process tells nobody what it has written: a question looks again after so long. */
const othersLookedAt = 200;

interface Run {
  readonly first: Period | null;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A question that waits for calls, as one of several. */
export interface Turn {
  /** What it waits for. */
  readonly period: Period;
}

/** Reads calls into a copy: those of the question that waits longest first, the newest first. */
export class Loader {
  readonly #host: LoaderHost;
  readonly #turns: Turn[] = [];
  #run: Run | null = null;
  #news = gate();
  #failure: { readonly error: unknown } | null = null;
  #runs = 0;
  #rate = 0;
  #writtenAt = 0;
  #completeAt = 0;
  #othersUntil = 0;

  constructor(host: LoaderHost) {
    this.#host = host;
  }

  /** How many runs have ended. */
  get runs(): number {
    return this.#runs;
  }

  /** Why the last run failed; null when it went well. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  /** Calls that are read in a second; 0 while nobody knows. */
  get rate(): number {
    return this.#rate;
  }

  /** Lets a question wait behind the others. */
  begin(period: Period): Turn {
    const turn = { period };
    this.#turns.push(turn);
    return turn;
  }

  /** The question waits no longer. `isGivenUp`: nobody wants what is read for it. */
  end(turn: Turn, isGivenUp: boolean): void {
    this.#turns.splice(this.#turns.indexOf(turn), 1);
    if (isGivenUp && this.#turns.length === 0) this.#run?.stop.abort();
    this.tell();
  }

  /** Is it the question that calls are read for? */
  isFirst(turn: Turn): boolean {
    return this.#turns[0] === turn;
  }

  /** Kept when something happens next. Whoever waits for it takes it before looking. */
  get news(): Promise<void> {
    return this.#news.opened;
  }

  /** Lets all questions look again. */
  tell(): void {
    const { open } = this.#news;
    this.#news = gate();
    open();
  }

  /** Resolves with some news, or when another process may have written more. */
  async until(news: Promise<void>): Promise<void> {
    if (!this.#isOfOthers()) return news;
    const over = new AbortController();
    const looked = sleep(systemClock, othersLookedAt, over.signal).catch(() => undefined);
    await Promise.race([news, looked]);
    over.abort();
  }

  /** Notes when somebody has written last, which may be another process. */
  noticeWritten(at: number): void {
    if (at > this.#writtenAt && this.#run === null) this.#othersUntil = at + othersFor;
  }

  /** Makes sure that a period is read before all others. */
  async readFirst(period: Period, isUrgent: boolean): Promise<void> {
    if (this.#run !== null) {
      if (this.#run.first !== null && covers([this.#run.first], period)) return;
      await this.stop();
    }

    if (this.#isOfOthers() || this.#run !== null) return;
    this.#begin(period, isUrgent);
  }

  /** Ends the run, with what it has read kept. */
  async stop(): Promise<void> {
    this.#run?.stop.abort();
    await this.#run?.ended;
  }

  #isOfOthers(): boolean {
    return this.#host.clock.now() < this.#othersUntil;
  }

  #begin(first: Period | null, isUrgent: boolean): void {
    const stop = new AbortController();
    const ended = this.#sync(first, isUrgent, stop.signal).finally(() => {
      this.#run = null;
      this.#runs += 1;
      this.tell();
      const sinceComplete = this.#host.clock.now() - this.#completeAt;
      const isDue = isUrgent && this.#failure === null && sinceComplete > completeEvery;
      if (isDue && !stop.signal.aborted && this.#turns.length === 0) this.#begin(null, false);
    });
    this.#run = { first, stop, ended };
  }

  /**
   * One run of the sync. Never rejects. `isUrgent`: calls that may have changed long ago are left
   * to a later one.
   */
  async #sync(first: Period | null, isUrgent: boolean, signal: AbortSignal): Promise<void> {
    const { client, open, clock } = this.#host;
    try {
      const { store, touch } = await open();
      touch();
      await store.sync(await client(), {
        ...(first === null ? {} : { first: textOf(first) }),
        ...(isUrgent ? { settle: '3d' } : {}),
        signal,
        clock,
        onProgress: ({ rate }) => (this.#rate = rate),
        onWritten: () => {
          this.#writtenAt = clock.now();
          this.tell();
        },
      });
      this.#failure = null;
      if (!isUrgent) this.#completeAt = clock.now();
    } catch (error) {
      if (signal.aborted) return;
      if (CallsError.is(error, 'claim_lost')) this.#othersUntil = clock.now() + othersFor;
      else this.#failure = { error };
    }
  }
}

/** A promise, and what keeps it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}
