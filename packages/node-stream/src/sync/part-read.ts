import type { Call, RawPage } from '@call-attribution/core';
import { hour, parseNaive } from '@call-attribution/core/time';
import { streamOptions } from '../calls/options.ts';
import { Session } from '../calls/session.ts';
import { recordOf, recordsOf } from '../calls/stream-page.ts';
import { spanOf, type TimeSlice, timeSliceOf } from '../calls/time-slice.ts';
import { sizeOf } from '../reader/ledger.ts';
import type { Batch } from '../reader/run.ts';
import type { VerdictReason } from '../reader/verdict.ts';
import { concluded, cutsBefore, earlier, isCut, keptFrom, markAgain } from './again.ts';
import { inOrder } from './asked.ts';
import { countStretches, differs, faulty } from './counting.ts';
import type { SeenRecords } from './seen-records.ts';
import { begin, bounded, rest, type Stretch, type Stretches, spansOf, take } from './stretches.ts';
import type { SyncChange, SyncClient } from './sync-change.ts';
import type { SyncSettings } from './sync-options.ts';
import type { SyncPart } from './sync-state.ts';

// A time ahead of the clocks of all zones is not the time of a call, and must not move what is read again.
const ahead = 14 * hour;

const fellReasons: readonly VerdictReason[] = [{ code: 'total_fell', count: null }];

/** What all reads of a run have in common. */
export interface RunOfReads {
  readonly client: SyncClient;
  readonly options: SyncSettings;
  readonly memory: SeenRecords;
  readonly lookback: number;
  /** The receiver compares records itself. */
  readonly compares: boolean;
  /** Was a call removed from the copy on purpose? */
  readonly leavesOut: (call: Call) => boolean;
  readonly startedAt: number;
}

/** What a page brought. */
interface PageStep {
  readonly changes: readonly SyncChange[];
  readonly skipped: number;
  /** `counted` from the first count on. */
  readonly stage?: 'reading' | 'read';
}

/** The calls of a slice that were read so far. */
interface OpenSlice {
  readonly times: Map<string, string>;
  lost: number;
}

/** Reads what is due of one part of a copy, counts it, and reads again once what the count did not find. */
export class PartRead {
  readonly #run: RunOfReads;
  readonly #mostPages: number;
  #left: readonly TimeSlice[];
  #part: SyncPart;
  #pages = 0;

  constructor(run: RunOfReads, part: SyncPart, due: Stretches, mostPages: number) {
    this.#run = run;
    this.#part = part;
    this.#left = due;
    this.#mostPages = mostPages;
  }

  /** The part as it is now. */
  get part(): SyncPart {
    return this.#part;
  }

  /** Pages read. */
  get pages(): number {
    return this.#pages;
  }

  /** Whether the run had to end before all was read. */
  get isCut(): boolean {
    return this.#left.length > 0;
  }

  /** Each step holds once its changes were handled. */
  async *steps(due: Stretches, mayRepeat = true): AsyncGenerator<PageStep, void, void> {
    const session = this.#open(due);
    const { signal } = this.#run.options;
    const abort = (): void => session.close(signal?.reason);
    signal?.addEventListener('abort', abort);
    let again: Stretches = [];
    let outcome: Parameters<Session['endTrace']>[0] | null = null;
    try {
      signal?.throwIfAborted();
      for await (const step of this.#read(session))
        yield mayRepeat ? { ...step, stage: this.isCut ? 'reading' : 'read' } : step;
      if (!this.isCut) again = await this.#count(session);
      outcome = { verdict: session.verdict(!this.isCut) };
      if (!this.isCut) yield { changes: [], skipped: 0 };
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
      session.endTrace(outcome ?? { verdict: session.verdict(false) });
      session.close();
    }
    if (!mayRepeat || again.length === 0) return;
    this.#left = again;
    yield* this.steps(again, false);
  }

  /** Counts what was read, and returns what has to be read once more. */
  async #count(session: Session): Promise<Stretches> {
    const { startedAt, lookback, options } = this.#run;
    const { sealedBefore: until } = session;
    const marked = markAgain(this.#part.stretches, this.#part.latest, lookback);
    const isNew = ({ at, calls }: Stretch) => at !== null && at >= startedAt && calls !== 0;
    const settings = { until, rows: options.rows, at: options.clock.now() };
    const counted = await countStretches(marked, settings, (range, read) =>
      session.count(spanOf(range), read),
    );
    const fell = session.verdict(true).reasons.some(({ code }) => code === 'total_fell');
    const isSuspect = fell && !counted.some(differs);
    const judged = isSuspect
      ? counted.map((one) => (isNew(one) ? faulty(one, fellReasons, one.calls) : one))
      : counted;
    this.#set(concluded(judged, until));
    // What an earlier run read and is too young to be counted may lack calls that came late.
    const isStale = ({ is, at, to }: Stretch) =>
      is === 'read' && (to === null || to > until) && at !== null && at < startedAt;
    return judged.filter((stretch) => differs(stretch) || isStale(stretch));
  }

  #open(due: Stretches): Session {
    const { client, options } = this.#run;
    const { rows, prefetch, timeout, retry, headers, onError, onProgress, clock, order } = options;
    const settings = streamOptions.read({
      ...{ rows, prefetch, timeout, retry, headers, onError, onProgress, clock },
      filter: this.#part.filter,
      incomplete: 'report',
    });
    const { reader, stretches } = this.#part;
    const first = due.find(({ begun }) => begun !== undefined);
    const others = inOrder(spansOf(due.filter((stretch) => stretch !== first)), order, clock.now());
    const spans = [...(first ? [first] : []), ...others].map((slice) => ({
      ...spanOf(slice),
      ...(reader?.from === slice.from && reader.pace !== null ? { pace: reader.pace } : {}),
    }));
    return new Session(client, settings, {
      spans,
      resume: first?.begun ?? null,
      known: reader ?? null,
      mostPages: this.#mostPages - this.#pages,
      goesOn: due.some(({ is }) => is === 'unread') && stretches.some(({ is }) => is !== 'unread'),
      done: stretches.reduce((sum, { is, calls }) => sum + (is === 'read' ? (calls ?? 0) : 0), 0),
    });
  }

  async *#read(session: Session): AsyncGenerator<PageStep, void, void> {
    const { memory, options, leavesOut } = this.#run;
    const ceiling = options.clock.now() + ahead;
    const open: OpenSlice = { times: new Map(), lost: 0 };
    while (this.#pages < this.#mostPages) {
      const batch = await session.next();
      if (batch === null) {
        this.#left = [];
        return;
      }
      session.ledger.measure(1, 'page');
      session.ledger.settle(0);
      this.#pages += 1;
      const before = session.ledger.read.skipped;
      const records = recordsOf(batch, (page, index) => recordOf(session, page, index));
      const skipped = sizeOf(batch) - records.length;
      open.lost += session.ledger.read.skipped - before;
      const changes: SyncChange[] = [];
      for (const call of records) {
        if (leavesOut(call)) memory.forgetOne(call.sid);
        else changes.push(await memory.meet(call, false));
        open.times.set(call.sid, call.date_added);
        this.#see(call, ceiling);
      }
      if (batch.isLast) this.#take(batch, open, session);
      else this.#begin(batch, session);
      this.#forget(batch.isLast);
      session.report();
      yield { changes, skipped };
    }
  }

  #see({ date_added }: Call, ceiling: number): void {
    if (date_added > (this.#part.latest ?? '') && parseNaive(date_added) < ceiling)
      this.#part = { ...this.#part, latest: date_added };
  }

  /** A slice was read to its end. */
  #take(batch: Batch<RawPage>, open: OpenSlice, session: Session): void {
    const { lookback, options } = this.#run;
    const slice = timeSliceOf(batch.span);
    const { sealedBefore: until } = session;
    const isExact = open.times.size === batch.count;
    const readable = [...open.times.values()].filter((time) => !Number.isNaN(parseNaive(time)));
    const isSealed = slice.to !== null && slice.to <= until;
    const reasons: VerdictReason[] = [
      ...(batch.total === null ? [{ code: 'no_total', count: null } as const] : []),
      ...(open.lost > 0 ? [{ code: 'skipped', count: open.lost } as const] : []),
    ];
    open.times.clear();
    open.lost = 0;
    const calls = isExact ? readable.length : isSealed ? batch.settled : batch.count;
    const read = { ...slice, calls, times: isExact ? readable : null, reasons, at: options.clock.now() };
    this.#left = rest(this.#left, slice);
    this.#set(take(this.#part.stretches, read, [until, ...cutsBefore(this.#part.latest, lookback)]));
    this.#part = { ...this.#part, reader: { ...session.outlook, from: slice.to } };
  }

  /** A slice was read in part. */
  #begin(batch: Batch<RawPage>, session: Session): void {
    const { place } = session.read();
    if (place === null) return;
    const { taken, idChecksum } = place;
    this.#set(begin(this.#part.stretches, timeSliceOf(batch.span), { taken, idChecksum }));
  }

  /** Without memory of what was seen this is quick, and keeps the state small in a long first run too. */
  #forget(isSliceDone: boolean): void {
    const { memory, lookback, compares, options } = this.#run;
    const { latest } = this.#part;
    const open = earlier(latest, options.settle);
    if (open !== null && (isSliceDone || compares)) memory.forget(keptFrom(latest, lookback), open);
  }

  #set(stretches: Stretches): void {
    const { lookback } = this.#run;
    const keepFrom = keptFrom(this.#part.latest, lookback);
    const few = bounded(stretches, keepFrom, (time) => isCut(time, lookback));
    this.#part = { ...this.#part, stretches: few };
  }
}
