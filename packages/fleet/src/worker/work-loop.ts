import { CallsError } from '@call-attribution/core/errors';
import type { Board, BoardEntry, Json } from '../board/board.ts';
import { takeToClose, takeToSync } from '../lanes/account-entry.ts';
import { take } from '../lanes/lane.ts';
import { lookAround } from '../lanes/presence.ts';
import { type Candidate, draw, readyWork } from '../lanes/ready.ts';
import type { AccountValue, LaneValue, WorkerValue } from '../lanes/values.ts';
import { accountTurn } from './account-turn.ts';
import { type Beats, beginBeats } from './beats.ts';
import type { WorkerEvent } from './events.ts';
import { jobOn } from './job-on.ts';
import { observed } from './keep-trying.ts';
import { Pace } from './pace.ts';
import { parcelTurn } from './parcel-turn.ts';
import type { AccountTurn, WorkerContext } from './turn.ts';

/** What a worker works with. */
export interface LoopParts {
  readonly context: Omit<WorkerContext, 'signal' | 'stop'>;
  readonly closeAccount: AccountTurn;
  readonly syncAccount: AccountTurn;
  readonly slots: number | 'auto';
  readonly ttlMs: number;
  readonly random: () => number;
  /** Sums since the worker started. */
  readonly sums: () => Pick<WorkerValue, 'records' | 'requests'>;
  /** A turn has ended: frees what accounts that nobody works on have taken. */
  readonly trim: (isInUse: (account: string) => boolean) => void;
}

/** Why a worker ended: there is nothing left, the job was cancelled, or it left. */
export type WorkerEnd = 'over' | 'cancelled' | 'left';

/** What a worker holds and works on. */
interface Held {
  readonly account: string;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** A board on which many write changes all the time; a look that found nothing is not repeated sooner than this. */
const idleMs = 20;

/** How long a worker waits after a write to the board that may or may not have arrived. */
const unsureMs = 1000;

/** Takes what is ready and sees to it that it ends, until there is nothing left or the worker leaves. */
export class WorkLoop {
  readonly #parts: LoopParts;
  readonly #board: Board;
  readonly #name: string;
  readonly #emit: (event: WorkerEvent) => void;
  readonly #pace: Pace;
  readonly #beats: Beats;
  readonly #held = new Map<string, Held>();
  readonly #stop = new AbortController();
  /** Revisions that somebody else has replaced, of which the live copy has not heard yet, and when a write of them was lost. */
  readonly #stale = new Map<string, { readonly revision: number; readonly at: number }>();
  #wake = new AbortController();
  /** Until when nothing more is looked for, by the clock of `performance`. */
  #idleUntil = 0;
  #isLeaving = false;
  #state: WorkerValue['state'] = 'waiting';
  #fatal: { readonly error: unknown } | null = null;

  constructor(parts: LoopParts) {
    const { board, holder: name, version, emit } = parts.context;
    this.#parts = parts;
    this.#board = board;
    this.#name = name;
    this.#emit = emit;
    this.#pace = new Pace(parts.slots, emit);
    const facts = () => ({
      state: this.#state,
      why: this.#state === 'resting' ? this.#pace.why : null,
      slots: this.#pace.slots,
      busy: this.#held.size,
      elu: Math.round(this.#pace.load * 1000),
      ...parts.sums(),
    });
    const everyMs = Math.max(20, parts.ttlMs / 6);
    this.#beats = beginBeats({ board, name, version, everyMs, facts, emit });
  }

  /** Works. Whatever happens, all it has taken is given back before this settles, unless the board does not answer. */
  async run(): Promise<WorkerEnd> {
    try {
      const end = await this.#work();
      this.#become('leaving');
      await this.#allDone();
      return end;
    } catch (error) {
      this.#drop();
      await this.#allDone();
      throw error;
    } finally {
      this.#become('gone');
      await this.#beats.close();
    }
  }

  /** Takes nothing new, and drops what is still under way after so many milliseconds. */
  leave(graceMs: number): void {
    this.#isLeaving = true;
    this.#wake.abort();
    const drop = (): void => {
      this.#stop.abort();
      this.#drop();
    };
    if (graceMs <= 0) drop();
    else setTimeout(drop, Math.min(graceMs, 2 ** 31 - 1)).unref();
  }

  async #work(): Promise<WorkerEnd> {
    for (;;) {
      if (this.#fatal !== null) throw this.#fatal.error;
      if (this.#isLeaving) return 'left';
      const job = jobOn(this.#board);
      if (job !== null && job.state !== 'running' && job.now) this.#drop();
      if (job?.state === 'cancelled') return 'cancelled';
      this.#pace.look(this.#held.size);
      this.#become(this.#pace.why !== null ? 'resting' : this.#held.size > 0 ? 'working' : 'waiting');
      // A board that has lost its job is waited for: somebody may plan it again.
      const next = job?.state === 'running' ? this.#choose(job.accounts) : this.#lookAgain();
      if (next === 'over') return next;
      // No other await since the look at the board: a change in between would not end the wait.
      if (typeof next === 'number') await this.#wait(next);
      else if (!(await this.#take(next))) await this.#wait(unsureMs);
    }
  }

  /**
   * What to take next. Without any, or without a slot for it: after how many milliseconds to look again at the latest, also when
   * nothing changes.
   */
  #choose(accounts: number): Candidate | number | 'over' {
    const { ttlMs, random, context } = this.#parts;
    const { restMs, slots } = this.#pace;
    let again = this.#lookAgain();
    if (restMs > 0) return Math.min(again, Math.ceil(restMs));
    if (this.#held.size >= this.#pace.most || this.#board.contactSince === null) return again;
    const idle = this.#idleUntil - performance.now();
    if (idle > 0) return Math.ceil(idle);
    const presence = lookAround(this.#board, this.#name, ttlMs);
    const ready = readyWork(this.#board, presence, context.job.lanes, (key) => this.#held.has(key));
    const isAllPlanned = ready.accounts > 0 && ready.accounts >= accounts;
    if (ready.isOver && isAllPlanned && context.job.sync === null && this.#held.size === 0) return 'over';
    if (ready.next !== null) again = Math.min(again, Math.max(1, ready.next - this.#board.now()));
    const fresh = ready.candidates.filter(({ entry }) => !this.#isStale(entry));
    const chosen = draw(fresh, presence.slots + slots, random);
    if (chosen === undefined) this.#idleUntil = performance.now() + idleMs;
    return chosen ?? again;
  }

  /** False: the board did not say whether it was taken. */
  async #take(chosen: Candidate): Promise<boolean> {
    const { key, revision } = chosen.entry;
    const value = taken(chosen, this.#name) as unknown as Json;
    try {
      const entry = await observed(this.#emit, () => this.#board.write(key, value, revision));
      if (entry === null) this.#stale.set(key, { revision, at: performance.now() });
      else {
        this.#stale.delete(key);
        this.#begin(chosen, entry);
      }
      return true;
    } catch (error) {
      if (!CallsError.is(error, 'board_unavailable')) throw error;
      return false;
    }
  }

  #begin({ kind, account }: Candidate, { key, value }: BoardEntry): void {
    const abort = new AbortController();
    const { context: shared, closeAccount, syncAccount, trim } = this.#parts;
    const context = { ...shared, signal: abort.signal, stop: this.#stop.signal };
    const turn =
      kind === 'parcel'
        ? parcelTurn(context, account, key, value as unknown as LaneValue)
        : accountTurn(
            context,
            kind === 'close' ? closeAccount : syncAccount,
            value as unknown as AccountValue,
          );
    const done = turn
      .then(
        (trouble) => this.#pace.turnEnded(trouble),
        (error: unknown) => {
          this.#fatal = { error };
        },
      )
      .finally(() => {
        this.#held.delete(key);
        this.#idleUntil = 0;
        const inUse = new Set([...this.#held.values()].map((held) => held.account));
        trim((id) => inUse.has(id));
        this.#wake.abort();
      });
    this.#held.set(key, { account: account.id, abort, done });
    if (this.#stop.signal.aborted) abort.abort();
  }

  #isStale({ key, revision }: Pick<BoardEntry, 'key' | 'revision'>): boolean {
    const stale = this.#stale.get(key);
    if (stale?.revision !== revision) return false;
    // A board that never tells of the newer value is asked again.
    return performance.now() - stale.at < this.#parts.ttlMs;
  }

  #drop(): void {
    for (const { abort } of this.#held.values()) abort.abort();
  }

  async #allDone(): Promise<void> {
    while (this.#held.size > 0) await Promise.all([...this.#held.values()].map(({ done }) => done));
  }

  #become(state: WorkerValue['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#emit({ kind: 'worker', state, why: state === 'resting' ? this.#pace.why : null });
    this.#beats.beat();
  }

  /** Workers die silently, so the board is looked at now and then. */
  #lookAgain(): number {
    const ms = this.#parts.ttlMs / 6;
    return this.#pace.isAuto ? Math.min(1000, ms) : ms;
  }

  async #wait(withinMs: number): Promise<void> {
    this.#wake = new AbortController();
    await this.#board.changed({ signal: this.#wake.signal, within: withinMs });
  }
}

function taken(chosen: Candidate, by: string): LaneValue | AccountValue {
  if (chosen.kind === 'parcel') return take(chosen.entry.value, by);
  return chosen.kind === 'close' ? takeToClose(chosen.entry.value, by) : takeToSync(chosen.entry.value, by);
}
