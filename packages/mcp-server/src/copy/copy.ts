import { type Client, type Clock, systemClock, type Version } from '@call-attribution/core';
import {
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
import type { MaskCalls } from '../privacy/mask.ts';
import { redactError } from '../privacy/text.ts';
import { Loader, type OpenedCopy, type Turn } from './loader.ts';
import { type KeptStore, openMaskedStore } from './masked-store.ts';
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
  readonly mask: MaskCalls;
  /** What is stored of calls besides what the mask leaves of them; empty for nothing. */
  readonly judged: string;
  /** Where copies are kept, and the key of their names; null for one in memory. */
  readonly place: { readonly folder: string; readonly key: string | Uint8Array } | null;
  readonly reveal: readonly string[];
  readonly clock: Pick<Clock, 'now'> & Partial<Clock>;
}

/** Calls, and the account that they are kept under. */
export interface KeptCalls {
  readonly store: KeptStore;
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

/** How far the calls are that a question needs. */
export type Readiness =
  | ({ readonly kind: 'ready' } & LoadedCopy)
  | ({ readonly kind: 'loading' } & Loading);

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
/** Are the calls since a time enough for a question, while older ones are still missing? */
type Partly = (kept: KeptCalls, since: string) => Promise<boolean>;

/** A question that waits, and what it has done so far. */
interface Asked extends Waiting {
  readonly periods: readonly Period[];
  readonly partly: Partly | undefined;
  readonly turn: Turn;
  /** What had happened before it came. */
  readonly begun: Pick<Loader, 'runs' | 'failure'>;
  /** What it has waited for long enough. */
  readonly late: { calls: boolean; refresh: boolean };
  /** Since when it was asked whether the calls are enough. */
  tried: string | null;
  /** How many calls it needs; undefined before anybody was asked. */
  total: number | null | undefined;
}

/**
 * Keeps the masked calls of one account, and reads what questions need: their period first, the
 * newest calls first.
 */
export class Copy {
  readonly #host: CopyHost;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  readonly #loader: Loader;
  #opened: Promise<OpenedCopy> | null = null;

  constructor(host: CopyHost) {
    this.#host = host;
    this.#clock = { ...systemClock, ...host.clock };
    this.#loader = new Loader({
      client: host.client,
      open: () => this.#open(),
      clock: this.#clock,
    });
  }

  /**
   * Waits until the calls of these periods are there, or says how far they are. `partly` is asked
   * while older ones are still missing.
   */
  async have(periods: readonly Period[], waiting: Waiting, partly?: Partly): Promise<Readiness> {
    const { runs, failure } = this.#loader;
    const asked: Asked = {
      ...waiting,
      periods,
      partly,
      turn: this.#loader.begin(periods[0] ?? dated),
      begun: { runs, failure },
      late: { calls: false, refresh: false },
      tried: null,
      total: undefined,
    };
    const timers = (['calls', 'refresh'] as const).map((of) =>
      this.#clock.timer(() => {
        asked.late[of] = true;
        this.#loader.tell();
      }, patience[of]),
    );
    const stopped = AbortSignal.any([waiting.signal, this.#closed.signal]);
    stopped.addEventListener('abort', () => this.#loader.tell(), { once: true });
    try {
      for (;;) {
        stopped.throwIfAborted();
        const { news } = this.#loader;
        const found = await this.#readiness(asked);
        if (found !== null) return found;
        await this.#loader.until(news);
      }
    } finally {
      for (const cancel of timers) cancel();
      this.#loader.end(asked.turn, waiting.signal.aborted);
    }
  }

  /** How far the calls of a question are; null while it has to wait. Sees to it that they are read. */
  async #readiness(asked: Asked): Promise<Readiness | null> {
    const { periods, partly, turn, begun, late, progress, signal } = asked;
    const { account } = this.#host;
    const loader = this.#loader;
    const store = (await this.#open()).store.kept;
    const seen = await this.#look(store, periods);
    const { unread } = seen;
    const failed = loader.failure === begun.failure ? null : loader.failure;
    const copy = { kind: 'ready' as const, store, account, ...seen };
    if (unread === null || loader.runs >= begun.runs + 2) {
      const { total } = asked;
      if (total !== undefined) progress(total ?? 1, total, 'Loaded all calls of the question');
      const isFresh = !seen.isStale || this.#clock.now() - seen.asOf < freshFor;
      const failure = failed === null ? null : redactError(failed.error).slice(0, 300);
      if (isFresh || failed !== null || late.refresh) return { ...copy, since: null, failure };
    } else if (failed !== null) throw failed.error;

    if (unread !== null && partly && seen.since !== null && seen.since !== asked.tried) {
      asked.tried = seen.since;
      if (await partly({ store, account }, seen.since)) return { ...copy, failure: null };
    }

    if (loader.isFirst(turn)) await loader.readFirst(unread ?? turn.period, seen.isAll);
    if (unread === null) return null;

    // One question asks at a time, however many wait.
    if (asked.total === undefined && loader.isFirst(turn))
      asked.total = await this.#totalOf(unread, signal);
    const there = await store.count(account, { period: unread });
    const total = asked.total ?? null;
    progress(there, total, `Loaded ${there} calls`);
    if (!late.calls) return null;
    const seconds = total === null || loader.rate === 0 ? null : (total - there) / loader.rate;
    return { kind: 'loading', there, total, seconds };
  }

  /** Stops the reading, keeps what was read, and closes the copy. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The server was closed.'));
    await this.#loader.stop();
    await (await this.#opened?.catch(() => null))?.store.close();
  }

  #open() {
    this.#opened ??= this.#openStore().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async #openStore(): Promise<OpenedCopy> {
    const { account, client, place, mask } = this.#host;
    const { baseUrl } = await client();
    const file = place && (await openCopyFile(place.folder, place.key, { ...this.#host, baseUrl }));
    const store = await openMaskedStore(file, account, mask, this.#clock);
    return { store, touch: () => (file === null ? undefined : touch(file)) };
  }

  /** Are the calls of these periods there, so that a question about them need not wait for them? */
  async holds(periods: readonly Period[]): Promise<boolean> {
    const { store } = await this.#open();
    return (await this.#look(store.kept, periods)).unread === null;
  }

  /** What the copy has of some periods. */
  async #look(store: KeptStore, periods: readonly Period[]) {
    const found = await store.note(this.#host.account);
    const state = (found?.note ?? null) as SyncState | null;
    this.#loader.noticeWritten(found?.notedAt ?? 0);
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
