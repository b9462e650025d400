import type { Call } from '@call-attribution/core';
import { isFinalStatus } from '@call-attribution/core/record';
import { formatNaive, parseNaive } from '@call-attribution/core/time';
import { printFilter } from '@call-attribution/query-dsl';
import {
  type CallQuery,
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
  knownIn,
  missing,
  recount,
  type Span,
  type Stretch,
  withLost,
} from '../proof.ts';
import { Parsing } from '../read.ts';
import { allOf, reportProgress } from '../reading.ts';
import { type Slice, slices } from '../slices.ts';
import type { SyncSettings } from './options.ts';
import { askedOf, bounding, dueOf, inOrder, isFaulty, mayChange } from './plan.ts';
import {
  checkState,
  type FirstCount,
  merged,
  type SyncPart,
  type SyncState,
  withoutCovered,
} from './state.ts';

/** Calls that were read together, and the state once they are stored. */
export interface ReadBatch {
  readonly calls: readonly Call[];
  readonly state: SyncState;
  /** Records that could not be parsed. */
  readonly skipped: number;
  readonly isLast: boolean;
  /** So many of the calls were not taken: their stretch is not whole. */
  refused(count: number): void;
}

/** What a copy has of a sync that has not begun. */
export const nothingRead: SyncState = { version: 2, account: null, parts: [] };

const emptyPart: SyncPart = {
  ...{ version: 'v3', filter: '', latest: null, asked: [], stretches: [], firsts: [] },
  ...{ countedTo: null, pace: null, paged: null },
};

/** One run of a sync: reads what is due, counts it, and reads again once what the count did not find. */
export class SyncRun {
  readonly #client: PageClient;
  readonly #options: SyncSettings;
  readonly #startedAt: number;
  /** What ends until then is counted at the end. */
  readonly #until: string;
  readonly #stop = new AbortController();
  #parts: readonly SyncPart[];
  #part = emptyPart;
  #account: string | null;
  #pagesLeft: number;
  #retries = 0;
  #rereads = 0;
  #done = 0;

  constructor(client: PageClient, loaded: SyncState | null, options: SyncSettings) {
    const { account, parts } = loaded === null ? nothingRead : checkState(loaded);
    this.#client = client;
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#until = formatNaive(this.#startedAt - zones);
    this.#account = account;
    this.#parts = parts;
    this.#pagesLeft = options.maxPages ?? Number.POSITIVE_INFINITY;
  }

  async *batches(): AsyncGenerator<ReadBatch, void, void> {
    const { version } = this.#client;
    const { signal, filter: input, period } = this.#options;
    const abort = (): void => this.#stop.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      signal?.throwIfAborted();
      const query = callQuery(input, version);
      const clauses = query.filter.clauses.filter(({ field }) => field !== 'date_added');
      const filter = printFilter({ clauses });
      const known = this.#parts.find((part) => part.filter === filter && part.version === version);
      const own: SyncPart = known ?? { ...emptyPart, version, filter };
      const others = this.#parts.filter((part) => part !== own);
      const asked = askedOf(query.asked, period, own);
      const wanted = { ...own, asked: merged([...own.asked, asked]) };
      this.#parts = [...others, wanted];
      yield* this.#read(wanted, query, dueOf(wanted, asked, this.#options));
      // What another filter left that is not whole is read again too; what it left unread waits for that filter.
      for (const part of others) {
        const faults = part.stretches.filter((one) => one.at !== null && isFaulty(one));
        if (part.version !== version || faults.length === 0 || this.#pagesLeft <= 0) continue;
        yield* this.#read(part, callQuery(part.filter, version), merged(faults));
      }
      this.#parts = withoutCovered(this.#parts);
      yield this.#batch([], { isLast: true });
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#stop.abort();
    }
  }

  #batch(calls: readonly Call[], more: Partial<ReadBatch> = {}): ReadBatch {
    const state: SyncState = { version: 2, account: this.#account, parts: this.#parts };
    return { calls, state, skipped: 0, isLast: false, refused: () => {}, ...more };
  }

  /** Changes the part that is read. */
  #set(change: Partial<SyncPart>): void {
    const before = this.#part;
    this.#part = { ...before, ...change };
    this.#parts = this.#parts.map((part) => (part === before ? this.#part : part));
  }

  /** Reads ranges of a part, counts it, and reads again once what the count did not find. */
  async *#read(
    part: SyncPart,
    query: CallQuery,
    due: readonly Span[],
  ): AsyncGenerator<ReadBatch, void, void> {
    this.#part = part;
    const source = new CallSource(this.#client, query, this.#options);
    source.account = this.#account;
    let ranges = inOrder(due, part, this.#options);
    if (part.paged !== null) {
      const { pages: _, ...paged } = part.paged;
      ranges = [paged, ...ranges.flatMap((range) => missing([paged], range))];
    }
    // Where a range is not read from one end to the other, its total is asked for first.
    for (const span of due) {
      const isDivided = !ranges.some(({ from, to }) => from === span.from && to === span.to);
      if (isDivided && this.#firstOf(span) === undefined)
        this.#addFirst(span, await source.count(span, this.#stop.signal));
    }
    for (const pass of [1, 2]) {
      const others = ranges.length > 1 ? new IdSet() : null;
      for (const range of ranges) {
        if (this.#pagesLeft <= 0 || !(yield* this.#readRange(source, range, others))) return;
      }
      ranges = await this.#conclude(source, pass);
      yield this.#batch([]);
      if (ranges.length === 0) return;
    }
  }

  /** What was counted at first in a range, or in one that holds it, and is still to be compared with what comes. */
  #firstOf(range: Span): FirstCount | undefined {
    return this.#part.firsts.find((first) => {
      const both = common<string>(first, range);
      return first.lacks === undefined && both?.from === range.from && both?.to === range.to;
    });
  }

  #addFirst({ from, to }: Span, total: number | null): void {
    if (total !== null) this.#set({ firsts: [...this.#part.firsts, { from, to, total }] });
  }

  /** Reads one range. False when it has not come to its end. */
  async *#readRange(
    source: CallSource,
    range: Span,
    others: IdSet | null,
  ): AsyncGenerator<ReadBatch, boolean, void> {
    const { rows, prefetch } = this.#options;
    const { pace, paged, stretches } = this.#part;
    const isPaged = paged !== null && paged.from === range.from && paged.to === range.to;
    const read = slices(source, [{ from: numberOf(range.from), to: numberOf(range.to) }], {
      ...callSteps,
      rows,
      ahead: prefetch,
      until: numberOf(this.#until),
      stop: this.#stop,
      from: isPaged ? { border: [], pages: paged.pages } : null,
      pace: stretches.some(({ to }) => to !== null && to === range.from) ? pace : null,
      most: this.#pagesLeft,
      others,
      keepsArrived: true,
    });
    let isDone = false;
    for await (const slice of read) {
      this.#account = source.account;
      this.#pagesLeft -= 1;
      if (slice.isReread) this.#rereads += 1;
      if (this.#firstOf(range) === undefined) this.#addFirst(range, slice.first);
      yield this.#take(source, slice, range);
      isDone = slice.stretches !== null && slice.to === numberOf(range.to);
    }
    return isDone;
  }

  /** Takes the calls of a slice, and what was read with it. */
  #take(source: CallSource, slice: Slice<RawRecord>, range: Span): ReadBatch {
    const { onError, clock } = this.#options;
    const parsing = new Parsing(slice.items, onError);
    const calls = allOf(parsing);
    const skipped = parsing.left;
    const ceiling = formatNaive(clock.now() + zones);
    const times = calls
      .map(({ date_added }) => date_added)
      .filter((at) => at < ceiling && !Number.isNaN(parseNaive(at)));
    const latest = [this.#part.latest ?? '', ...times].sort().at(-1) || null;
    const countAt = (border: string | null): number => times.filter((at) => at === border).length;
    // A slice that holds the time up to which calls are counted comes in two stretches, with no call at that time.
    const stretches = withLost(slice.stretches ?? [], skipped);
    const isTwo = stretches.length > 1;
    const open = calls.filter((call) => !isFinalStatus(call.ppc_status)).map((call) => call.date_added);
    let list = this.#part.stretches;
    for (const [i, one] of stretches.entries()) {
      const span = source.spanOf(one);
      const stretch: Stretch = {
        ...one,
        ...span,
        read: clock.now(),
        ends: [countAt(span.from) + one.shared, countAt(span.to)],
        open: open.filter((at) => !isTwo || at < this.#until === (i === 0)).length,
      };
      list = add(list, stretch);
      // What lies at the ends of the range was read with its neighbors, too.
      list = list.map((each, at) => {
        const { from: border, ends } = each;
        const before = list[at - 1];
        const isEnd =
          border === range.from ? border === span.from : border === range.to && border === span.to;
        if (!isEnd || border === null || before?.to !== border || !ends) return each;
        const shared = Math.min(ends[0], before.ends?.[1] ?? ends[0]);
        return { ...each, shared, calls: each.calls + each.shared - shared };
      });
    }
    this.#set({
      latest,
      stretches: bounding(list, { latest, until: this.#until }, this.#options),
      pace: slice.pace,
      paged: slice.pages === null ? null : { from: range.from, to: range.to, pages: slice.pages },
    });
    this.#done += slice.items.length;
    this.#report(source);
    // Calls that the receiver does not take are read again, too.
    const refused = (count: number): void => {
      const isHere = (one: Stretch): boolean => common<string>(one, source.spanOf(slice)) !== null;
      this.#set({
        stretches: this.#part.stretches.flatMap((one) => (isHere(one) ? withLost([one], count) : one)),
      });
    };
    return this.#batch(calls, { skipped, refused });
  }

  #report({ retries }: CallSource): void {
    const { onProgress, clock } = this.#options;
    if (onProgress === undefined) return;
    const firsts = this.#part.firsts.filter(({ lacks }) => lacks === undefined);
    const isNew = (one: Stretch): boolean => one.at === null;
    const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
    const done = sum(firsts.map((first) => knownIn(this.#part.stretches.filter(isNew), first)));
    const total = firsts.length === 0 ? null : sum(firsts.map((first) => first.total));
    const more = { retries: this.#retries + retries, rereads: this.#rereads };
    reportProgress(onProgress, { done, total, ...more }, this.#done, clock.now() - this.#startedAt);
  }

  /** Counts what was read, in the second pass only what that pass has read. Returns what has to be read again. */
  async #conclude(source: CallSource, pass: number): Promise<Span[]> {
    const { rows, clock } = this.#options;
    const { stretches, latest, firsts } = this.#part;
    const now = clock.now();
    const isCounted = (one: Stretch): boolean => pass === 1 || one.at === null;
    const counted = await recount(stretches.filter(isCounted), { until: this.#until, rows, now }, (range) =>
      source.count(range, this.#stop.signal),
    );
    const isLacking = firsts.some((one) => one.lacks === undefined && one.total > knownIn(counted, one));
    const again: Span[] = [];
    const judged = counted.map((one): Stretch => {
      const { why, again: _, ...rest } = one;
      // What was proved before stays so; what was read in this run waits for a later count.
      if (why === 'uncounted') return { ...rest, is: 'proved', ...(one.again ? { again: one.again } : {}) };
      const before = stretches.find(({ from, to }) => from === one.from && to === one.to);
      const isNew = before?.at === null;
      // What is too young to be counted may lack calls that came since an earlier run has read it.
      const isYoung = isNew && (one.to === null || one.to > this.#until) && (one.read ?? 0) < this.#startedAt;
      if (why !== before?.why || (isLacking && isYoung)) again.push({ from: one.from, to: one.to });
      if (!isNew) return why === before?.why ? one : { ...one, at: now };
      // What was read some time before the end of the run could see late calls for so much less long.
      const age = this.#options.lookback + now - (one.read ?? now);
      const isAgain = mayChange({ ...rest, open: 0 }, latest, { ...this.#options, lookback: age });
      return { ...rest, ...(why === undefined ? {} : { why }), at: now, ...(isAgain ? { again: true } : {}) };
    });
    const list = [...stretches.filter((one) => !isCounted(one)), ...judged].sort(byBegin);
    this.#retries += source.retries;
    source.retries = 0;
    this.#set({
      stretches: bounding(list, { latest, until: this.#until }, this.#options),
      countedTo: this.#until,
      // What the first answer counted and nothing has brought since. The next run that comes to its end proves the contrary.
      firsts: firsts.flatMap(({ lacks, ...first }): FirstCount[] => {
        const left = first.total - knownIn(list, first);
        return left > 0 && (lacks === undefined || pass === 2) ? [{ ...first, lacks: left }] : [];
      }),
    });
    return pass === 1 ? merged(again) : [];
  }
}
