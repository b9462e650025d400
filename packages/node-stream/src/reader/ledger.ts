import type { Clock } from '@call-attribution/core';
import { type ReadState, withDone } from './checkpoint.ts';
import { addId } from './judge.ts';
import { withCounted } from './settled.ts';
import type { PlannedBatch } from './state.ts';

/** What a stream counts: a page counted by records can be taken in part. */
type Unit = 'record' | 'byte' | 'page';

/** A page that was read and not yet taken as a whole. */
interface Entry {
  batch: PlannedBatch;
  unit: Unit;
  size: number;
  end: number;
  /** What was read with it. */
  after: ReadState;
  /** Places in the page of records that could not be read: left out, or passed to the caller as bytes. */
  readonly skipped: number[];
  readonly setAside: number[];
}

/** How far a read has come. */
export interface Progress {
  /** Records of the query, by the totals of the server. Null until it is known; it moves when the server's does. */
  readonly total: number | null;
  /** Records delivered, including those of earlier runs. */
  readonly done: number;
  /** Records per second in this run. */
  readonly rate: number;
  /** Milliseconds left at this rate; null while unknown. */
  readonly etaMs: number | null;
  /** Requests that had to be sent again. */
  readonly retries: number;
  /** Records received again and left out. */
  readonly duplicates: number;
  /** Slices read again because their pages did not agree. */
  readonly rereads: number;
}

/** What this run did, besides what its state says. */
export interface RunCounts {
  readonly requests: number;
  readonly retries: number;
  readonly duplicates: number;
  readonly rereads: number;
  readonly slices: number;
}

/**
 * The one account of a read, with two cursors: what was read, and what of that the consumer has taken. A page is entered once,
 * when it is read; the second cursor follows as the page leaves the stream, so that a checkpoint never covers a record that is
 * still in a buffer. Progress and verdict are about what was read, checkpoints about what was taken.
 */
export class Ledger {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #started: number;
  readonly #begun: ReadState;
  /** Items that cannot be counted at once. */
  readonly #cap: number | undefined;
  readonly #waiting: Entry[] = [];
  #read: ReadState;
  #taken: ReadState;
  /** In what the stream counts: all that was entered, and what of it was taken. */
  #entered = 0;
  #upTo = 0;
  /** By the totals of what this run found still to be read; null before the first. */
  #ahead: number | null = null;
  #counts: RunCounts = { requests: 0, retries: 0, duplicates: 0, rereads: 0, slices: 0 };

  constructor(clock: Pick<Clock, 'now'>, begun: ReadState, cap?: number) {
    this.#cap = cap;
    this.#clock = clock;
    this.#started = clock.now();
    this.#begun = begun;
    this.#read = begun;
    this.#taken = begun;
  }

  /** What was read, by all runs. */
  get read(): ReadState {
    return { ...this.#read, expected: this.#expected };
  }

  /** Where this run began. */
  get begun(): ReadState {
    return this.#begun;
  }

  get counts(): RunCounts {
    return this.#counts;
  }

  /** A request brought a page, after so many that failed. */
  received(retries: number): void {
    const { requests, ...counts } = this.#counts;
    this.#counts = { ...counts, requests: requests + 1, retries: counts.retries + retries };
  }

  /** A slice is read again. */
  reread(): void {
    this.#counts = { ...this.#counts, rereads: this.#counts.rereads + 1 };
  }

  /** The source counts so many items in a part still to be read. */
  expect(total: number): void {
    this.#ahead = (this.#ahead ?? 0) + total;
  }

  /** A page was read. It is not taken before `measure` has said by which parts. */
  enter(batch: PlannedBatch): void {
    const after = covering(this.#read, { batch, skipped: 0, setAside: 0 }, this.#cap);
    const size = { unit: 'page', size: 0, end: Number.POSITIVE_INFINITY } as const;
    this.#waiting.push({ batch, ...size, after, skipped: [], setAside: [] });
    this.#read = after;
    const { duplicates, slices, ...counts } = this.#counts;
    this.#counts = {
      ...counts,
      duplicates: duplicates + batch.again,
      slices: slices + (batch.isLast ? 1 : 0),
    };
  }

  /** The page entered last has this length in what the stream counts. */
  measure(size: number, unit: Unit): void {
    const last = this.#waiting.at(-1);
    if (last === undefined) return;
    this.#entered += size;
    Object.assign(last, { size, unit, end: this.#entered });
  }

  /** A record of the page entered last does not go out after all. `index` is its place in the page. */
  skip(index: number, isLost: boolean): void {
    const last = this.#waiting.at(-1);
    if (last === undefined) {
      // The page has been taken as a whole, and its records are parsed only now.
      this.#read = added(this.#read, -1, isLost ? 1 : 0, isLost ? 0 : 1);
      this.#taken = this.#read;
      return;
    }
    const before = this.#waiting.at(-2)?.after ?? this.#taken;
    const keep = (last.batch.keep ?? last.batch.ids.map((_, i) => i)).filter((i) => i !== index);
    last.batch = { ...last.batch, keep };
    (isLost ? last.skipped : last.setAside).push(index);
    last.after = covering(before, { batch: last.batch, ...lengths(last) }, this.#cap);
    this.#read = last.after;
    if (last.unit !== 'record') return;
    last.size -= 1;
    last.end -= 1;
    this.#entered -= 1;
  }

  /** The consumer has taken all but `left` of what was entered. */
  settle(left: number): void {
    this.#upTo = this.#entered - left;
    for (let head = this.#waiting[0]; head !== undefined && head.end <= this.#upTo; head = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken = head.after;
    }
  }

  /** What was taken as of the last `settle`. */
  get taken(): ReadState {
    const expected = this.#expected;
    const head = this.#waiting[0];
    const begun = head === undefined ? 0 : this.#upTo - (head.end - head.size);
    if (head?.unit !== 'record' || begun <= 0) return { ...this.#taken, expected };
    const taken = Math.min(begun, sizeOf(head.batch));
    const end = endOf(head.batch, taken);
    const upTo = (places: readonly number[]) => places.filter((i) => i < end).length;
    const state = added(this.#taken, taken, upTo(head.skipped), upTo(head.setAside));
    return { ...state, expected, place: placeIn(head.batch, taken, state.place) };
  }

  progress(): Progress {
    const seconds = Math.max(1e-3, (this.#clock.now() - this.#started) / 1000);
    const { delivered: done } = this.#read;
    const rate = (done - this.#begun.delivered) / seconds;
    const total = this.#ahead === null ? null : Math.max(done, this.#begun.total + this.#ahead);
    const { retries, duplicates, rereads } = this.#counts;
    const etaMs = total === null || rate === 0 ? null : ((total - done) / rate) * 1000;
    return { ...{ total, done, rate, etaMs }, ...{ retries, duplicates, rereads } };
  }

  get #expected(): number {
    const { expected, total } = this.#begun;
    return this.#ahead === null ? expected : Math.max(expected, total + this.#ahead);
  }
}

/** Records of a batch that go out. */
export function sizeOf({ keep, ids }: Pick<PlannedBatch, 'keep' | 'ids'>): number {
  return keep === null ? ids.length : keep.length;
}

const lengths = ({ skipped, setAside }: Entry) => ({ skipped: skipped.length, setAside: setAside.length });

function covering(
  before: ReadState,
  { batch, skipped, setAside }: { batch: PlannedBatch; skipped: number; setAside: number },
  cap: number | undefined,
): ReadState {
  const taken = added(before, sizeOf(batch), skipped, setAside);
  const after = { ...taken, changed: taken.changed + batch.changed };
  if (!batch.isLast) return { ...after, place: placeIn(batch, sizeOf(batch), after.place) };
  const { span, settled: count, hasStrays, outOfReach } = batch;
  return {
    ...after,
    rereads: after.rereads + batch.passes - 1,
    done: withDone(after, span),
    place: null,
    total: after.total + batch.count,
    settled: withCounted(after.settled, { span, count, hasStrays }, cap),
    isUnproven: after.isUnproven || batch.total === null,
    outOfReach: outOfReach === null ? after.outOfReach : (after.outOfReach ?? 0) + outOfReach,
  };
}

function added(state: ReadState, delivered: number, skipped: number, setAside: number): ReadState {
  return {
    ...state,
    delivered: state.delivered + delivered,
    skipped: state.skipped + skipped,
    setAside: state.setAside + setAside,
  };
}

/**
 * The place after so many records of a batch. While an earlier run or an earlier pass came further in the same slice, its
 * place stands for more.
 */
function placeIn(batch: PlannedBatch, taken: number, before: ReadState['place']): ReadState['place'] {
  const { span, ids, index, after, offset, idChecksum, settledBefore: settled } = batch;
  const end = endOf(batch, taken);
  const isSameSlice = before !== null && before.from === span.from && before.to === span.to;
  if (isSameSlice && before.taken > offset + end) return before;
  return {
    ...span,
    taken: offset + end,
    idChecksum: ids.slice(0, end).reduce(addId, idChecksum),
    ...(after === null ? {} : { page: { index, after, offset, idChecksum, settled } }),
  };
}

/** The place in the page after the records taken. */
function endOf({ keep, ids }: PlannedBatch, taken: number): number {
  if (keep === null) return taken;
  return taken === keep.length ? ids.length : (keep[taken - 1] ?? -1) + 1;
}
