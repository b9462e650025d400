import { type Client, type Clock, sleep, systemClock, type Version } from '@call-attribution/core';
import { CallsError } from '@call-attribution/core/errors';
import { isAccountName } from '@call-attribution/core/settings';
import { type Progress, syncInto, type UpsertSink } from '@call-attribution/node-stream';
import { type CopyVerdict, describeCopy } from '@call-attribution/node-stream/copies';
import type { SyncStatus } from '@call-attribution/node-stream/status';
import type { AccountStatus } from '@call-attribution/questions';
import type { Warehouse } from '@call-attribution/warehouse';
import type { RecordMask } from '../privacy/mask-record.ts';
import { redactError } from '../privacy/patterns.ts';
import type { CopyState } from '../text/mirror.ts';
import type { MirrorPlace } from './copy-key.ts';
import { codeOf, type Library, loadLibrary } from './library.ts';

/** The times that a question is about. */
type Period = { readonly from: string | null; readonly to: string | null };

/** What the mirror needs of its server. */
export interface MirrorHost {
  client(): Promise<Client>;
  readonly version: Version;
  /** Masks what is stored. */
  readonly mask: RecordMask;
  /** Name of the account in the file. Default: the id of the account that the calls name. */
  readonly account?: string | undefined;
  /** What the server calls the account. */
  readonly name: string;
  /** Is informed of each refresh; null when nobody asks. */
  readonly copies: SyncStatus | null;
  log(line: string): void;
  /** The clock; without timers of its own, those of the machine. */
  readonly clock: Pick<Clock, 'now'> & Partial<Clock>;
}

/** The copy, when it can answer. */
export interface Copy {
  readonly library: Library;
  readonly warehouse: Warehouse;
  readonly account: string;
  readonly status: AccountStatus;
  /** The first load is under way; the calls of the selection are there already. */
  readonly isPart: boolean;
  /** What the calls of the selection lack, in words; null when they are whole. */
  readonly lacks: string | null;
}

/** Age from which a copy is refreshed for a question about the time after its last call. */
const freshFor = 60_000;
/** How long such a question waits for the refresh. */
const patience = 8000;
/** Calls that are stored together: few, so that the newest ones can be asked while the first load goes on. */
const batch = 20_000;
/** Pause after a refresh that failed. */
const pauseAfterFailure = 30_000;

interface Opened {
  readonly library: Library;
  readonly warehouse: Warehouse;
  readonly account: string;
}

/** Keeps a copy of the calls of an account up to date, in the background of the server. */
export class Mirror {
  readonly #options: MirrorPlace;
  readonly #host: MirrorHost;
  readonly #every: number;
  readonly #stopped = new AbortController();
  #opened: Promise<Opened> | null = null;
  #refreshing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #progress: Progress | null = null;
  #failure: string | null = null;
  /** What the copy lacked after the last refresh, in words. */
  #lacks: string | null = null;
  #isOthers = false;
  #refreshedAt = 0;
  /** The first load is under way in this process. */
  #isFirst = false;

  constructor(options: MirrorPlace, host: MirrorHost) {
    this.#options = options;
    this.#host = host;
    this.#every = options.every;
  }

  /** Fills or refreshes the copy now, and from then on again and again. */
  start(): void {
    if (this.#stopped.signal.aborted) return;
    clearTimeout(this.#timer);
    void this.#refresh().then(() => {
      if (this.#stopped.signal.aborted) return;
      const pause = this.#failure === null ? this.#every : Math.min(this.#every, pauseAfterFailure);
      this.#timer = setTimeout(() => this.start(), pause).unref();
    });
  }

  /** The copy, if it can answer about a selection exactly; otherwise why it cannot. Waits when little of the first load is left. */
  async copyFor(selection: Period, signal: AbortSignal): Promise<Copy | CopyState> {
    const found = await this.#copyNow(selection, signal);
    if ('warehouse' in found || !(await this.#isNearEnd(signal))) return found;
    return this.#copyNow(selection, signal);
  }

  async #copyNow(selection: Period, signal: AbortSignal): Promise<Copy | CopyState> {
    let opened: Opened;
    try {
      opened = await within(this.#open(), this.#host.clock, signal);
    } catch (error) {
      signal.throwIfAborted();
      return error === late ? this.#notYet() : { code: 'failed', reason: reasonOf(error) };
    }
    // What has no beginning needs all calls; while the database takes them in, asking it would only wait.
    if (this.#isFirst && selection.from === null && selection.to === null) return this.#notYet();
    let status = await statusOf(opened);
    const isAfterLast = selection.to === null || status?.last == null || selection.to > status.last;
    const age = this.#host.clock.now() - Math.max(this.#refreshedAt, Date.parse(status?.syncedAt ?? '') || 0);
    if (status?.syncedAt != null && isAfterLast && age > freshFor) {
      await within(this.#refresh(true), this.#host.clock, signal).catch(() => signal.throwIfAborted());
      status = await statusOf(opened);
    }
    const verdict = status === undefined ? null : await opened.warehouse.verdict(opened.account, selection);
    if (status?.syncedAt != null) {
      const lacks = verdict === null ? null : describeCopy(verdict);
      return { ...opened, status, isPart: false, lacks };
    }
    if (status !== undefined && (selection.from !== null || selection.to !== null) && isLoaded(verdict))
      return { ...opened, status, isPart: true, lacks: null };
    return this.#notYet();
  }

  /** Waits for the first load when little of it is left. */
  async #isNearEnd(signal: AbortSignal): Promise<boolean> {
    const left = this.#progress?.etaMs ?? null;
    if (left === null || left > 5000 || this.#refreshing === null) return false;
    await within(this.#refreshing, this.#host.clock, signal).catch(() => signal.throwIfAborted());
    return !this.#isFirst;
  }

  /** Stops the refresh, keeps what it has read, and closes the file. */
  async close(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#timer);
    await this.#refreshing;
    await (await this.#opened?.catch(() => null))?.warehouse.close();
  }

  #notYet(): CopyState {
    if (this.#progress === null && this.#failure !== null) return { code: 'failed', reason: this.#failure };
    const { done = 0, total = null, etaMs = null } = this.#progress ?? {};
    return { code: 'loading', done, total, seconds: etaMs === null ? null : Math.ceil(etaMs / 1000) };
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#openFile().catch((error: unknown) => {
      // A missing package stays missing; a file that is in use and an API that is down may come back.
      if (!CallsError.is(error, 'missing_package')) this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  async #openFile(): Promise<Opened> {
    const library = await loadLibrary();
    const account = this.#host.account ?? (await accountOf(await this.#host.client(), this.#stopped.signal));
    const { clock } = this.#host;
    return { library, warehouse: await library.openWarehouse(this.#options.file, { batch, clock }), account };
  }

  /** `isUrgent`: a question waits, so records that may have changed long ago are left to the next run. */
  #refresh(isUrgent = false): Promise<void> {
    this.#refreshing ??= this.#sync(isUrgent).finally(() => {
      this.#refreshing = null;
      this.#progress = null;
      this.#isFirst = false;
    });
    return this.#refreshing;
  }

  /** One run of the sync. Never rejects: questions are answered from what is there. */
  async #sync(isUrgent: boolean): Promise<void> {
    const { signal } = this.#stopped;
    try {
      const { warehouse, account } = await this.#open();
      const isFirst = (await statusOf({ warehouse, account }))?.syncedAt == null;
      this.#isFirst = isFirst;
      if (isFirst) this.#host.log(`Loading the calls of account ${account} into ${this.#options.file}.`);
      const from = performance.now();
      const summary = await syncInto(
        await this.#host.client(),
        maskedSink(warehouse.sink(account), this.#host.mask),
        {
          ...(this.#host.version === 'v3' ? { filter: 'inc_gce:1' } : {}),
          order: 'newest',
          // A record that cannot be read must not keep all others out.
          onError: 'skip',
          ...(isUrgent ? { settle: '3d' } : {}),
          signal,
          clock: this.#host.clock,
          onProgress: (progress) => {
            this.#progress = progress;
          },
        },
      );
      const { new: added, skipped } = summary;
      this.#host.copies?.succeeded(this.#host.name, summary, performance.now() - from);
      this.#isOthers = false;
      this.#refreshedAt = this.#host.clock.now();
      const lacks = describeCopy(summary);
      if (isFirst && lacks === null) this.#host.log(`The copy is complete: ${added} calls.`);
      if (lacks !== null && lacks !== this.#lacks) this.#host.log(`The copy is INCOMPLETE: ${lacks}.`);
      if (lacks === null && this.#lacks !== null) this.#host.log('The copy is complete again.');
      this.#lacks = lacks;
      if (skipped > 0) this.#host.log(`${skipped} records could not be read and are not in the copy.`);
      this.#failure = null;
    } catch (error) {
      if (signal.aborted) return;
      if (codeOf(error) === 'account_in_use') {
        if (!this.#isOthers) this.#host.log('Another process keeps the copy up to date; this one reads it.');
        this.#isOthers = true;
        this.#host.copies?.leftToOthers(this.#host.name);
        this.#failure = null;
        return;
      }
      const code = codeOf(error);
      this.#host.copies?.failed(
        this.#host.name,
        typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : 'failed',
      );
      const reason = reasonOf(error);
      if (reason !== this.#failure) this.#host.log(`The copy could not be refreshed: ${reason}`);
      this.#failure = reason;
    }
  }
}

/** A sink that gets records without personal data. */
function maskedSink(sink: UpsertSink, mask: RecordMask): UpsertSink {
  return {
    load: () => sink.load(),
    leavesOut: (call) => sink.leavesOut?.(call) ?? false,
    commit: (batch) => sink.commit({ ...batch, calls: batch.calls.map((call) => mask.whole(call)) }),
  };
}

const late = Symbol('late');

/** Waits for a promise, but not longer than a question may; rejects with `late` after that. */
async function within<T>(promise: Promise<T>, clock: MirrorHost['clock'], signal: AbortSignal): Promise<T> {
  const done = new AbortController();
  const limit = sleep({ ...systemClock, ...clock }, patience, AbortSignal.any([done.signal, signal]));
  try {
    return await Promise.race([promise, limit.then(() => Promise.reject(late))]);
  } finally {
    done.abort();
    limit.catch(() => undefined);
    promise.catch(() => undefined);
  }
}

export function reasonOf(error: unknown): string {
  return redactError(error).slice(0, 400);
}

async function statusOf({
  warehouse,
  account,
}: Pick<Opened, 'warehouse' | 'account'>): Promise<AccountStatus | undefined> {
  return (await warehouse.lastSync()).find((status) => status.account === account);
}

/** Whether all calls of a period were read, also where the first load has not counted them yet. */
const isLoaded = (verdict: CopyVerdict | null): boolean =>
  verdict?.gaps.every(({ why }) => why === 'uncounted') ?? false;

/** The id of the account that the keys belong to. */
async function accountOf(client: Client, signal: AbortSignal): Promise<string> {
  const { records } = await client.listCalls({
    rows: 1,
    signal,
    ...(client.version === 'v3' ? { filter: 'inc_gce:1' } : {}),
  });
  const id = records[0]?.acct_id;
  return isAccountName(id) ? id : 'main';
}
