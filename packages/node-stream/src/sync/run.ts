import { isFinalStatus } from '@call-attribution/core/record';
import { formatNaive, hour, parseNaive } from '@call-attribution/core/time';
import {
  CallSource,
  callQuery,
  callSteps,
  numberOf,
  type PageClient,
  type RawRecord,
  zones,
} from '../call-source.ts';
import { IdSet } from '../ids.ts';
import {
  add,
  byBegin,
  common,
  isSame,
  knownIn,
  missing,
  recount,
  type Span,
  type Stretch,
  withLost,
} from '../proof.ts';
import { Parsing } from '../read.ts';
import { type Slice, slices } from '../reader/slices.ts';
import { allOf, rateOf } from '../reading.ts';
import { askedOf, bounding, dueOf, inOrder, mayChange, type SyncSettings } from './plan.ts';
import {
  checkState,
  type FirstCount,
  latestRun,
  merged,
  type SyncBatch,
  type SyncPart,
  type SyncState,
  withoutCovered,
} from './state.ts';

/** Calls that were read together, and the state once they are stored. */
export interface ReadBatch extends SyncBatch {
  /** Records that could not be parsed. */
  readonly skipped: number;
}

/** What a copy has of a sync that has not begun. */
export const nothingRead: SyncState = { version: 2, account: null, parts: [] };

const emptyPart = {
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
  readonly #until: string;
  readonly #stop = new AbortController();
  /** What other filters have read. */
  readonly #others: readonly SyncPart[];
  readonly #asked: Span;
  #part: SyncPart;
  #pagesLeft: number;
  #done = 0;

  constructor(client: PageClient, loaded: SyncState | null, options: SyncSettings) {
    const { account, parts } = loaded === null ? nothingRead : checkState(loaded);
    const { version } = client;
    const query = callQuery(options.filter, version);
    const filter = query.conditions;
    const isOwn = (part: SyncPart): boolean => part.filter === filter && part.version === version;
    const own = parts.find(isOwn) ?? { ...emptyPart, version, filter };
    this.#options = options;
    this.#source = new CallSource(client, query, options);
    this.#source.account = account;
    this.#startedAt = options.clock.now();
    this.#run = 1 + latestRun(parts);
    this.#until = formatNaive(this.#startedAt - zones);
    this.#others = parts.filter((part) => part !== own);
    this.#asked = askedOf(query.asked, options.period, own);
    this.#part = { ...own, asked: merged([...own.asked, this.#asked]) };
    this.#pagesLeft = options.maxPages ?? Number.POSITIVE_INFINITY;
  }

  async *batches(): AsyncGenerator<ReadBatch, void, void> {
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
    const { account, only } = this.#source;
    const state = { version: 2, account, parts: [...this.#others, this.#part] } as const;
    return only.length === 0 ? state : { ...state, only };
  }

  #set(change: Partial<SyncPart>): void {
    this.#part = { ...this.#part, ...change };
  }

  /** Replaces the stretches, as few as that takes. */
  #setStretches(list: readonly Stretch[], change: Partial<SyncPart> = {}): void {
    const part = { ...this.#part, ...change };
    this.#part = { ...part, stretches: bounding(list, part.latest, this.#until, this.#options) };
  }

  async *#read(): AsyncGenerator<ReadBatch, void, void> {
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
  #firstOf(range: Span): FirstCount | undefined {
    return this.#part.firsts.find(({ lacks, ...first }) => {
      const both = common<string>(first, range);
      return lacks === undefined && both !== null && isSame(both, range);
    });
  }

  #addFirst({ from, to }: Span, total: number | null): void {
    if (total !== null) this.#set({ firsts: [...this.#part.firsts, { from, to, total }] });
  }

  /** Reads one range. False when it has not come to its end. */
  async *#readRange(range: Span, others: IdSet | null, counts: readonly Promise<void>[]) {
    const { pace, paged, stretches } = this.#part;
    const isNext = stretches.some(({ to }) => to !== null && to === range.from);
    const read = slices(this.#source, [{ from: numberOf(range.from), to: numberOf(range.to) }], {
      ...callSteps,
      rows: this.#options.rows,
      ahead: this.#options.prefetch,
      until: numberOf(this.#until),
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
      yield this.#take(slice, range);
      isDone = slice.stretches !== null && slice.to === numberOf(range.to);
    }

    return isDone;
  }

  /** Takes the calls of a slice, and what was read with it. */
  #take(slice: Slice<RawRecord>, range: Span): ReadBatch {
    const { onError, clock } = this.#options;
    const parsing = new Parsing(slice.items, onError);
    const calls = allOf(parsing);
    const read = clock.now();
    const ceiling = formatNaive(read + zones);
    const dates = calls.map((call) => call.date_added);
    const times = dates.filter((at) => at < ceiling && !Number.isNaN(parseNaive(at)));
    const open = calls
      .filter((call) => !isFinalStatus(call.ppc_status))
      .map((call) => call.date_added);
    const countAt = (border: string | null): number => dates.filter((at) => at === border).length;

    const latest = [this.#part.latest ?? '', ...times].sort().at(-1) || null;
    const before = this.#part;

    // Calls that the receiver does not take are read again, as those that cannot be parsed.
    const stateWithout = (refused: number): SyncState => {
      const pages = slice.pages;
      const lost = parsing.left + refused + (before.paged?.pages.left ?? 0);
      let list = before.stretches;

      // A slice that holds the time up to which calls are counted comes in two stretches, with no
      // call at that time.
      const stretches = withLost(slice.stretches ?? [], lost);
      for (const [i, one] of stretches.entries()) {
        const span = this.#source.spanOf(one);
        const isHere = (at: string): boolean =>
          stretches.length === 1 || at < this.#until === (i === 0);
        list = add(list, {
          ...one,
          ...span,
          read,
          run: this.#run,
          ends: [countAt(span.from) + one.shared, countAt(span.to)],
          open: open.filter(isHere).length,
        });
        // What lies at the ends of the range was read with its neighbors, too.
        for (const border of [span.from, span.to])
          if (border !== null && [range.from, range.to].includes(border))
            list = sharing(list, border);
      }

      this.#part = before;
      this.#setStretches(list, {
        latest,
        pace: slice.pace,
        paged: pages && { ...this.#source.spanOf(slice), pages: { ...pages, left: lost } },
      });
      return this.#state;
    };

    const state = stateWithout(0);
    this.#done += slice.items.length;
    this.#report();
    return { calls, state, stateWithout, skipped: parsing.left, isLast: false };
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

  /** Was it read by a run that did not come to its end, and neither read nor counted by this one? */
  #isLeft({ at, run }: Stretch): boolean {
    return at === null && run !== this.#run;
  }

  /**
   * Counts what was read, in the second pass only what that pass has read. Returns what has to be
   * read again.
   */
  async #conclude(pass: number): Promise<Span[]> {
    const { rows, clock, lookback, maxPages } = this.#options;
    const { stretches, latest, firsts } = this.#part;
    const now = clock.now();
    const isCounted = (one: Stretch): boolean => pass === 1 || one.at === null;
    const isOld = ({ to }: Stretch): boolean => to !== null && to <= this.#until;
    const count = (list: readonly Stretch[], isDue: (one: Stretch) => boolean) =>
      recount(list, { isDue, rows, seen: { at: now, run: this.#run } }, (range) =>
        this.#source.count(range, this.#stop.signal),
      );

    // In what is young, calls still appear, so it is not counted. But where this run has not read it
    // itself, nothing else tells that calls have come since.
    const old = await count(stretches.filter(isCounted), isOld);
    const counted = await count(old, (one) => !isOld(one) && one.run !== this.#run);
    const again: Span[] = [];
    const judged = counted.map((one): Stretch => {
      const { why, again: wasAgain, ...rest } = one;
      const before = stretches.find((each) => isSame(each, one));
      const { read = now } = one;
      const isNew = before?.at === null;

      // What was read some time before the end of the run could see late calls for so much less
      // long. Nobody knows how long that is where one of the clocks was wrong.
      const elapsed = Math.abs(now - read);
      const ages = { ...this.#options, lookback: lookback + elapsed };
      const mayHaveChanged = mayChange(one, latest, ages);

      // What the server does not count now waits for a later count, and so does what is left of a
      // stretch that was cut.
      const isCut = one.counted === null && one.is === 'proved' && this.#isLeft(one);
      if (why === 'uncounted' || isCut) {
        if (isCut || (this.#isLeft(one) && mayHaveChanged)) again.push(spanOf(one));
        const waits = { ...rest, is: 'proved', at: null, read: one.at ?? read } as const;
        return wasAgain ? { ...waits, again: true } : waits;
      }

      // Of what an earlier run has read, some was missing, or may have changed since: the count does
      // not tell. Runs that may not read it all leave changes to the next one.
      const isLeft = isNew && this.#isLeft(before);
      const isPart = isLeft && one.is !== 'proved' && why !== 'no_total';
      const isStale = isLeft && mayHaveChanged && elapsed > hour && maxPages === undefined;
      if (why !== before?.why || isPart || isStale) again.push(spanOf(one));
      if (!isNew) return why === before?.why ? one : { ...one, at: now };
      const isAgain = mayChange({ ...rest, open: 0 }, latest, ages);
      return {
        ...rest,
        ...(why === undefined ? {} : { why }),
        at: now,
        ...(isAgain ? { again: true } : {}),
      };
    });
    const list = [...stretches.filter((one) => !isCounted(one)), ...judged].sort(byBegin);
    this.#setStretches(list, {
      countedTo: this.#until,
      // What the first answer counted and nothing has brought since. The next run that comes to its
      // end proves the contrary.
      firsts: firsts.flatMap(({ lacks, ...first }): FirstCount[] => {
        const left = first.total - knownIn(list, first);
        return left > 0 && (lacks === undefined || pass === 2) ? [{ ...first, lacks: left }] : [];
      }),
    });
    return pass === 1 ? merged(again) : [];
  }
}

const noCalls = (state: SyncState): ReadBatch => ({
  calls: [],
  state,
  stateWithout: () => state,
  skipped: 0,
  isLast: false,
});

const spanOf = ({ from, to }: Stretch): Span => ({ from, to });

/**
 * The stretch behind a border has as many calls in common with the one before it as both have
 * there.
 */
function sharing(list: readonly Stretch[], border: string): Stretch[] {
  return list.map((one, i) => {
    const before = list[i - 1];
    if (one.from !== border || before?.to !== border || one.ends === undefined) return one;
    const shared = Math.min(one.ends[0], before.ends?.[1] ?? one.ends[0]);
    return { ...one, shared, calls: one.calls + one.shared - shared };
  });
}
