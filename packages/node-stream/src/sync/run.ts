import type { Call, PageItem } from '@call-attribution/core';
import { CallSource, callQuery, callSteps, countedUntil, type PageClient } from '../call-source.ts';
import { IdSet } from '../ids.ts';
import {
  type CopyStretch,
  common,
  isSame,
  knownIn,
  missing,
  type Range,
  recount,
} from '../proof.ts';
import { parsed } from '../read.ts';
import { type Slice, slices } from '../reader/slices.ts';
import { rateOf } from '../reading.ts';
import { positionOf, rangeOf, timeOf } from '../times.ts';
import { conclude } from './conclude.ts';
import { askedOf, dueOf, inOrder, type SyncSettings } from './plan.ts';
import {
  checkState,
  type FirstCount,
  latestRun,
  merged,
  type Part,
  type SyncBatch,
  type SyncPart,
  type SyncState,
  withoutCovered,
  written,
} from './state.ts';
import { type TakenSlice, take } from './take.ts';

/** Calls that were read together, and the state once they are stored. */
export interface ReadBatch extends SyncBatch {
  /** Records that could not be parsed. */
  readonly skipped: number;
}

/** What a copy has of a sync that has not begun. */
export const nothingRead: SyncState = { version: 2, account: null, parts: [] };

const emptyPart: Omit<Part, 'version' | 'filter'> = {
  latest: null,
  asked: [],
  stretches: [],
  firsts: [],
  countedTo: null,
  pace: null,
  paged: null,
};

/**
 * One run of a sync: reads what is due, counts it, and reads again once what the count did not
 * find.
 */
export class SyncRun {
  readonly #options: SyncSettings;
  readonly #source: CallSource;
  readonly #startedAt: number;
  /** The number of this run, by which it knows what it has read and counted itself. */
  readonly #run: number;
  /** What ends until then is counted at the end. */
  readonly #until: number;
  readonly #stop = new AbortController();
  /** What other filters have read. */
  readonly #others: readonly SyncPart[];
  readonly #asked: Range;
  #part: Part;
  #pagesLeft: number;
  #done = 0;

  constructor(client: PageClient, loaded: SyncState | null, options: SyncSettings) {
    const { account, parts } = loaded === null ? nothingRead : checkState(loaded);
    const { version } = client;
    const query = callQuery(options.filter, version);
    const filter = query.conditions;
    const isOwn = (part: SyncPart): boolean => part.filter === filter && part.version === version;
    const known = parts.find(isOwn);
    const own = known ? written(known, positionOf) : { ...emptyPart, version, filter };
    this.#options = options;
    this.#source = new CallSource(client, query, options);
    this.#source.account = account;
    this.#startedAt = options.clock.now();
    this.#run = 1 + latestRun(parts);
    this.#until = countedUntil(this.#startedAt);
    this.#others = parts.filter((part) => part !== known);
    this.#asked = askedOf(rangeOf(query.asked), options.period, own);
    this.#part = { ...own, asked: merged([...own.asked, this.#asked]) };
    this.#pagesLeft = options.maxPages ?? Number.POSITIVE_INFINITY;
  }

  /** Calls to be stored. What a receiver refuses of a batch is told with `next`. */
  async *batches(): AsyncGenerator<ReadBatch, void, number | undefined> {
    const { signal } = this.#options;
    const abort = (): void => this.#stop.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      signal?.throwIfAborted();
      yield* this.#read();
      const state = { ...this.#state, parts: withoutCovered(this.#state.parts) };
      yield { ...noCalls(state), isLast: true };
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#stop.abort();
    }
  }

  get #state(): SyncState {
    return this.#stateOf(this.#part);
  }

  #stateOf(part: Part): SyncState {
    const { account, only } = this.#source;
    const parts = [...this.#others, written(part, timeOf)];
    const state = { version: 2, account, parts } as const;
    return only.length === 0 ? state : { ...state, only };
  }

  #set(change: Partial<Part>): void {
    this.#part = { ...this.#part, ...change };
  }

  async *#read(): AsyncGenerator<ReadBatch, void, number | undefined> {
    const { paged } = this.#part;
    const due = dueOf(this.#part, this.#asked, this.#options);
    let ranges = inOrder(due, this.#part, this.#options);
    if (paged !== null)
      ranges = [
        { from: paged.from, to: paged.to },
        ...ranges.flatMap((range) => missing([paged], range)),
      ];

    // Where a range is not read from one end to the other, its total is asked for next to the first
    // page.
    const counts = due.map(async (span) => {
      if (!ranges.some((range) => isSame(range, span)) && this.#firstOf(span) === undefined)
        this.#addFirst(span, await this.#source.count(span, this.#stop.signal).catch(() => null));
    });
    for (let pass = 1; pass === 1 || ranges.length > 0; pass += 1) {
      const others = ranges.length > 1 ? new IdSet() : null;
      for (const range of ranges)
        if (this.#pagesLeft <= 0 || !(yield* this.#readRange(range, others, counts))) return;
      ranges = await this.#conclude(pass);
      yield noCalls(this.#state);
    }
  }

  /**
   * What was counted at first in a range, or in one that holds it, and is still to be compared with
   * what comes.
   */
  #firstOf(range: Range): FirstCount<number> | undefined {
    return this.#part.firsts.find(({ lacks, ...first }) => {
      const both = common(first, range);
      return lacks === undefined && both !== null && isSame(both, range);
    });
  }

  #addFirst({ from, to }: Range, total: number | null): void {
    if (total !== null) this.#set({ firsts: [...this.#part.firsts, { from, to, total }] });
  }

  /** Reads one range. False when it has not come to its end. */
  async *#readRange(
    range: Range,
    others: IdSet | null,
    counts: readonly Promise<void>[],
  ): AsyncGenerator<ReadBatch, boolean, number | undefined> {
    const { pace, paged, stretches } = this.#part;
    const isNext = stretches.some(({ to }) => to !== null && to === range.from);
    const read = slices(this.#source, [range], {
      ...callSteps,
      rows: this.#options.rows,
      ahead: this.#options.prefetch,
      until: this.#until,
      stop: this.#stop,
      from: paged !== null && isSame(paged, range) ? { border: [], pages: paged.pages } : null,
      // Without one, the first answer is for the whole range, and counts it.
      pace: isNext || this.#firstOf(range) !== undefined ? pace : null,
      most: this.#pagesLeft,
      others,
      keepsArrived: true,
    });
    let isDone = false;
    for await (const slice of read) {
      this.#pagesLeft -= 1;
      await Promise.all(counts);
      if (this.#firstOf(range) === undefined) this.#addFirst(range, slice.first);
      yield* this.#take(slice, range);
      isDone = slice.stretches !== null && slice.to === range.to;
    }

    return isDone;
  }

  /** Takes the calls of a slice, and what was read with it. */
  async *#take(
    slice: Slice<PageItem>,
    range: Range,
  ): AsyncGenerator<ReadBatch, void, number | undefined> {
    const calls: Call[] = [];
    const parsing = parsed(slice, { onError: this.#options.onError, check: undefined });
    let next = parsing.next();
    for (; next.done !== true; next = parsing.next()) calls.push(next.value);
    const skipped = next.value;
    const found: TakenSlice = {
      slice,
      range,
      calls,
      read: this.#options.clock.now(),
      run: this.#run,
      until: this.#until,
    };
    const before = this.#part;

    // Calls that the receiver does not take are read again, as those that cannot be parsed.
    const partWithout = (refused: number): Part =>
      take(before, found, skipped + refused, this.#options);
    const stateWithout = (refused: number): SyncState => this.#stateOf(partWithout(refused));
    this.#part = partWithout(0);
    this.#done += slice.items.length;
    this.#report();
    const refused =
      (yield { calls, state: this.#state, stateWithout, skipped, isLast: false }) ?? 0;
    if (refused > 0) this.#part = partWithout(refused);
  }

  #report(): void {
    const { onProgress, clock } = this.#options;
    if (onProgress === undefined) return;
    const firsts = this.#part.firsts.filter(({ lacks }) => lacks === undefined);
    const read = this.#part.stretches.filter(({ at }) => at === null);
    const done = firsts.reduce((sum, first) => sum + knownIn(read, first), 0);
    const total = firsts.length === 0 ? null : firsts.reduce((sum, first) => sum + first.total, 0);
    onProgress({ done, total, rate: rateOf(this.#done, clock.now() - this.#startedAt) });
  }

  /**
   * Counts what was read, in the second pass only what that pass has read. Returns what has to be
   * read again.
   */
  async #conclude(pass: number): Promise<Range[]> {
    const { rows, clock } = this.#options;
    const { stretches } = this.#part;
    const now = clock.now();
    const isCounted = (one: CopyStretch): boolean => pass === 1 || one.at === null;
    const isOld = ({ to }: CopyStretch): boolean => to !== null && to <= this.#until;
    const count = (list: readonly CopyStretch[], isDue: (one: CopyStretch) => boolean) =>
      recount(list, { isDue, rows, seen: { at: now, run: this.#run } }, (range) =>
        this.#source.count(range, this.#stop.signal),
      );

    // In what is young, calls still appear, so it is not counted. But where this run has not read it
    // itself, nothing else tells that calls have come since.
    const old = await count(stretches.filter(isCounted), isOld);
    const counted = await count(old, (one) => !isOld(one) && one.run !== this.#run);
    const others = stretches.filter((one) => !isCounted(one));
    const { part, again } = conclude(
      this.#part,
      { counted, others, isFirst: pass === 1, now, run: this.#run, until: this.#until },
      this.#options,
    );
    this.#part = part;
    return pass === 1 ? again : [];
  }
}

const noCalls = (state: SyncState): ReadBatch => ({
  calls: [],
  state,
  stateWithout: () => state,
  skipped: 0,
  isLast: false,
});
