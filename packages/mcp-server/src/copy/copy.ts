import {
  type Call,
  type Client,
  type Clock,
  sleep,
  systemClock,
  type Version,
} from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import {
  covers,
  dated,
  day,
  formatNaive,
  hour,
  type Period,
  type PeriodText,
  second,
  textOf,
} from '@call-attribution/core/time';
import type { SyncState } from '@call-attribution/node-stream';
import { copyVerdict, describe } from '@call-attribution/node-stream/copies';
import { openStore, type Store, syncAccount } from '@call-attribution/store';
import { redactError } from '../privacy/text.ts';
import { openCopyFile, touch } from './place.ts';

/** What a copy needs of its server. */
export interface CopyHost {
  /** Whose calls they are. */
  readonly account: string;
  client(): Promise<Client>;
  readonly version: Version;
  /** The version of this package, which the mask belongs to. */
  readonly release: string;
  /** Masks what is stored. */
  mask(call: Call): Call;
  /** Where copies are kept, and the key of their names; null for one in memory. */
  readonly place: { readonly folder: string; readonly key: string | Uint8Array } | null;
  readonly reveal: readonly string[];
  readonly clock: Pick<Clock, 'now'> & Partial<Clock>;
}

/** Calls, and the account that they are kept under. */
export interface KeptCalls {
  readonly store: Store;
  readonly account: string;
}

/** The calls that a question needs are there. */
export interface LoadedCopy extends KeptCalls {
  /** As of when, in milliseconds since 1970. */
  readonly asOf: number;
  /** What they lack, in words; null when they are whole. */
  readonly lacks: string | null;
  /** Which calls the server has, where it serves a copy that was filled with a filter, in words. */
  readonly scope: string | null;
  /** Calls before this are not all there; null when all of the periods are. */
  readonly since: string | null;
  /** The copy has all calls of the account. */
  readonly isAll: boolean;
  /** The time of the newest call of the account; null while it is not known. */
  readonly latest: string | null;
  /** Why newer calls could not be read; null when nobody tried, or when it went well. */
  readonly failure: string | null;
}

/** They are not there yet. */
export interface Loading {
  readonly there: number;
  readonly total: number | null;
  readonly seconds: number | null;
}

/** What a question waits with. */
export interface Waiting {
  readonly signal: AbortSignal;
  progress(done: number, total: number | null, message: string): void;
}

/** How long a question waits for its calls, and for newer ones. */
const patience = { calls: 20_000, refresh: 8_000 };
/** A copy that was read so long ago is read again for a question about now. */
const freshFor = 60_000;
/**
 * Calls may still appear or change this long after they were made, on the clock of any time zone.
 */
const unsettled = 3 * day + 14 * hour;
/**
 * After a refresh for a question, older calls whose ad data may have changed are read again, if
 * that was not done for so long.
 */
const completeEvery = hour;
/** A copy into which another process has written so lately is its own to load. */
const othersFor = 15_000;

interface Run {
  readonly first: Period | null;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Keeps the masked calls of one account, and reads what questions need: their period first, the
 * newest calls first.
 */
export class Copy {
  readonly #host: CopyHost;
  readonly #closed = new AbortController();
  #opened: Promise<{ readonly store: Store; readonly file: string | null }> | null = null;
  #run: Run | null = null;
  /** Periods that questions wait for: the first one is read first. */
  readonly #waiting: Period[] = [];
  #news = gate();
  #failure: { readonly error: unknown } | null = null;
  #runs = 0;
  #rate = 0;
  #committedAt = 0;
  #completeAt = 0;
  #othersUntil = 0;

  constructor(host: CopyHost) {
    this.#host = host;
  }

  /**
   * Waits until the calls of these periods are there. `partly` is asked while older ones are still
   * missing: whether the calls since a time are enough.
   */
  async have(
    periods: readonly Period[],
    { signal, progress }: Waiting,
    partly?: (kept: KeptCalls, since: string) => Promise<boolean>,
  ): Promise<LoadedCopy | Loading> {
    const { clock, account } = this.#host;
    const { timer } = { ...systemClock, ...clock };
    const late = { calls: false, refresh: false };
    const timers = (['calls', 'refresh'] as const).map((of) =>
      timer(() => (late[of] = true), patience[of]),
    );
    const turn = periods[0] ?? dated;
    this.#waiting.push(turn);
    const begun = { runs: this.#runs, failure: this.#failure };
    let tried: string | null = null;
    let total: number | null | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        this.#closed.signal.throwIfAborted();
        const { store } = await this.#open();
        const news = this.#news.opened;
        const seen = await this.#look(store, periods);
        const hasFailed = this.#failure !== null && this.#failure !== begun.failure;
        const failure = hasFailed ? redactError(this.#failure?.error).slice(0, 300) : null;
        if (seen.unread === null || this.#runs >= begun.runs + 2) {
          if (total !== undefined) progress(total ?? 1, total, 'Loaded all calls of the question');
          const isFresh = !seen.isStale || clock.now() - seen.asOf < freshFor;
          if (isFresh || hasFailed || late.refresh)
            return { store, account, ...seen, since: null, failure };
        } else if (hasFailed) throw this.#failure?.error;
        if (seen.unread !== null && partly && seen.since !== null && seen.since !== tried) {
          tried = seen.since;
          if (await partly({ store, account }, seen.since))
            return { store, account, ...seen, failure: null };
        }
        if (this.#waiting[0] === turn) await this.#readFirst(seen.unread ?? turn, seen.isAll);
        if (seen.unread !== null) {
          const period = seen.unread;
          // One question asks at a time, however many wait.
          if (total === undefined && this.#waiting[0] === turn)
            total = await this.#totalOf(period, signal);
          const there = await store.count(account, { period });
          progress(there, total ?? null, `Loaded ${there} calls`);
          if (late.calls)
            return {
              there,
              total: total ?? null,
              seconds: total == null || this.#rate === 0 ? null : (total - there) / this.#rate,
            };
        }
        // Another process tells nobody what it has written.
        await Promise.race([news, sleep(systemClock, 200)]);
      }
    } finally {
      for (const cancel of timers) cancel();
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      // Nobody waits for what is read, and whoever wanted it has left.
      if (signal.aborted && this.#waiting.length === 0) this.#run?.stop.abort();
    }
  }

  /** Stops the reading, keeps what was read, and closes the copy. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The server was closed.'));
    this.#run?.stop.abort();
    await this.#run?.ended;
    await (await this.#opened?.catch(() => null))?.store.close();
  }

  #open() {
    this.#opened ??= this.#openStore().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async #openStore() {
    const { account, client, place, clock } = this.#host;
    const { baseUrl } = await client();
    const file = place && (await openCopyFile(place.folder, place.key, { ...this.#host, baseUrl }));
    const store = await openStore(`sqlite:${file ?? ':memory:'}`, {
      clock: { ...systemClock, ...clock },
    });
    await store.putAccount({ id: account, name: account });
    return { store, file };
  }

  /** Are the calls of these periods there, so that a question about them need not wait for them? */
  async holds(periods: readonly Period[]): Promise<boolean> {
    const { store } = await this.#open();
    return (await this.#look(store, periods)).unread === null;
  }

  /** What the copy has of some periods. */
  async #look(store: Store, periods: readonly Period[]) {
    const found = await store.note(this.#host.account);
    const state = (found?.note ?? null) as SyncState | null;
    if ((found?.notedAt ?? 0) > this.#committedAt && this.#run === null)
      this.#othersUntil = (found?.notedAt ?? 0) + othersFor;
    const verdicts = periods.map((period) => copyVerdict(state, textOf(period)));
    const gaps = verdicts.map(
      (verdict, i) =>
        verdict?.gaps.filter(({ is }) => is === 'unread') ?? [textOf(periods[i] ?? dated)],
    );
    const at = gaps.findIndex((unread) => unread.length > 0);
    const asOf = readAt(state);

    // What a server without totals gives is never proved, and saying so each time helps nobody.
    const lacking = verdicts
      .flatMap((verdict) => verdict?.gaps ?? [])
      .filter(({ is, why }) => is !== 'unread' && why !== 'no_total' && why !== 'uncounted');
    const reaches = (to: number | null): boolean => to === null || to > asOf - unsettled;
    return {
      asOf,
      lacks: lacking.length === 0 ? null : describe({ gaps: lacking }).lacks,
      scope: describe({ only: copyVerdict(state)?.only ?? [] }).scope,
      unread: at < 0 ? null : (periods[at] ?? dated),
      since: lastEnd(gaps[0] ?? []),
      isAll: copyVerdict(state)?.gaps.every(({ is }) => is !== 'unread') ?? false,
      latest: hasNewest(state)
        ? newestOf(state?.parts.map(({ latest }) => latest ?? null) ?? [])
        : null,
      isStale: periods.some(({ to }) => reaches(to)),
    };
  }

  /** Makes sure that a period is read before all others. */
  async #readFirst(period: Period, isAll: boolean): Promise<void> {
    if (this.#run !== null) {
      if (this.#run.first !== null && covers([this.#run.first], period)) return;
      this.#run.stop.abort();
      await this.#run.ended;
    }

    if (this.#host.clock.now() < this.#othersUntil || this.#run !== null) return;
    this.#begin(period, isAll);
  }

  #begin(first: Period | null, isUrgent: boolean): void {
    const stop = new AbortController();
    const ended = this.#sync(first, isUrgent, stop.signal).finally(() => {
      this.#run = null;
      this.#runs += 1;
      this.#tell();
      const { now } = this.#host.clock;
      const isDue = isUrgent && this.#failure === null && now() - this.#completeAt > completeEvery;
      if (isDue && !stop.signal.aborted && this.#waiting.length === 0) this.#begin(null, false);
    });
    this.#run = { first, stop, ended };
  }

  /**
   * One run of the sync. Never rejects. `isUrgent`: calls that may have changed long ago are left
   * to a later one.
   */
  async #sync(first: Period | null, isUrgent: boolean, signal: AbortSignal): Promise<void> {
    const { account, client, clock, mask } = this.#host;
    try {
      const { store, file } = await this.#open();
      if (file !== null) touch(file);
      // Masked before anything of a call is written or compared.
      const masked: Store = {
        ...store,
        commitClaimed: async (claim, batch) => {
          const stored = await store.commitClaimed(claim, {
            ...batch,
            calls: batch.calls.map(mask),
          });
          this.#committedAt = clock.now();
          this.#tell();
          return stored;
        },
      };
      await syncAccount(await client(), masked, {
        account,
        order: 'newest',
        prefetch: 8,
        // A record that cannot be read must not keep all others out.
        onError: 'skip',
        ...(first === null ? {} : { first: textOf(first) }),
        ...(isUrgent ? { settle: '3d' } : {}),
        signal,
        clock: { ...systemClock, ...clock },
        onProgress: ({ rate }) => (this.#rate = rate),
      });
      this.#failure = null;
      if (!isUrgent) this.#completeAt = clock.now();
    } catch (error) {
      if (signal.aborted) return;
      if (CallsError.is(error, 'claim_lost')) this.#othersUntil = clock.now() + othersFor;
      else this.#failure = { error };
    }
  }

  #tell(): void {
    const { open } = this.#news;
    this.#news = gate();
    open();
  }

  async #totalOf(period: Period, signal: AbortSignal): Promise<number | null> {
    try {
      const client = await this.#host.client();
      const filter = filterOf(period, client.version === 'v3');
      return (await client.countCalls({ signal, filter })).total;
    } catch {
      signal.throwIfAborted();
      // The run that loads the calls meets the same, and says it.
      return null;
    }
  }
}

/**
 * A period as a filter of the API. With `withExtensions` it includes calls through call extensions.
 */
export function filterOf({ from, to }: Period, withExtensions: boolean): string {
  // The last second is named: no server has to be asked how it reads an end that is not included.
  const last = to === null ? '*' : formatNaive(to - second);
  const first = from === null ? '*' : formatNaive(from);
  const range = `date_added:[${first} TO ${last}]`;
  return [
    ...(from === null && to === null ? [] : [range]),
    ...(withExtensions ? ['inc_gce:1'] : []),
  ].join(',');
}

const stretchesOf = (state: SyncState | null) =>
  state?.parts.flatMap((part) => part.stretches) ?? [];

const hasNewest = (state: SyncState | null): boolean =>
  stretchesOf(state).some(({ to }) => to === null);

/** When a sync has last read the newest calls, or anything. */
function readAt(state: SyncState | null): number {
  const stretches = stretchesOf(state);
  const newest = stretches.filter(({ to }) => to === null);
  return Math.max(0, ...(newest.length > 0 ? newest : stretches).map(({ read }) => read ?? 0));
}

/** A promise, and what keeps it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

/** Where the last of some gaps ends; null when it has no end, or there is none. */
function lastEnd(gaps: readonly Pick<PeriodText, 'to'>[]): string | null {
  if (gaps.some(({ to }) => to === null)) return null;
  return newestOf(gaps.map(({ to }) => to));
}

/** The last of some times; null when there is none. */
export const newestOf = (times: readonly (string | null)[]): string | null =>
  times
    .filter((time) => time !== null)
    .sort()
    .at(-1) ?? null;
