import diagnosticsChannel from 'node:diagnostics_channel';
import type { RawPage } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { type Span, timeSliceOf } from '../query/time-slice.ts';
import type { Trouble } from '../slicing/judge.ts';
import type { Batch } from '../slicing/run.ts';
import { sizeOf } from './ledger.ts';

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

/** The result of a read. */
export interface Verdict {
  /** Records of the query, by the totals of its slices when they were read, in all runs. Null when the server gave none. */
  readonly total: number | null;
  /** Records delivered in this run, including changed ones. */
  readonly delivered: number;
  /** Records delivered by earlier runs, according to the checkpoint. */
  readonly deliveredBefore: number;
  /** Records received again and left out. */
  readonly duplicatesDropped: number;
  /** Records delivered a second time, because their contents had changed when their slice was read again. */
  readonly changed: number;
  /** Records that could not be parsed: left out, or passed to `onError` as bytes. */
  readonly skipped: number;
  /** Slices read again because their pages did not agree. */
  readonly rereads: number;
  /** Slices read in this run. */
  readonly slices: number;
  /** Requests answered in this run. */
  readonly requests: number;
  /** Every record of the query was delivered, in this run or the earlier ones: no slice is unproven, no record left out. */
  readonly complete: boolean;
}

/** Counts what a read does, for its progress and its verdict. */
export class Meter {
  readonly #now: () => number;
  readonly #started: number;
  readonly #before: number;
  readonly #totalBefore: number;
  #expected = 0;
  #isTotalKnown = false;
  #read = 0;
  #delivered = 0;
  #duplicates = 0;
  #changed = 0;
  #skipped = 0;
  #lost: number;
  #rereads = 0;
  #slices = 0;
  #requests = 0;
  #retries = 0;
  #isUnproven: boolean;

  constructor(now: () => number, from: Checkpoint | null) {
    this.#now = now;
    this.#started = now();
    this.#before = from?.delivered ?? 0;
    this.#totalBefore = from?.total ?? 0;
    this.#lost = from?.skipped ?? 0;
    this.#isUnproven = from?.unproven ?? false;
  }

  /** The total of the part still to be read. */
  expect(total: number): void {
    this.#expected += total;
    this.#isTotalKnown = true;
  }

  received({ meta: { attempts } }: RawPage): void {
    this.#requests += 1;
    this.#retries += Math.max(0, attempts - 1);
  }

  reread(span: Span, trouble: Trouble): void {
    this.#rereads += 1;
    publish('reread', () => ({ slice: timeSliceOf(span), reason: trouble }));
  }

  skipped(isLost: boolean): void {
    this.#skipped += 1;
    this.#delivered -= 1;
    if (isLost) this.#lost += 1;
  }

  took(batch: Batch): void {
    const size = sizeOf(batch);
    this.#delivered += size;
    this.#duplicates += batch.again;
    this.#changed += batch.changed;
    const { span, index, page, passes, count } = batch;
    const slice = timeSliceOf(span);
    publish('page', () => ({ slice, page: index, records: size, bytes: page.bytes.byteLength }));
    if (!batch.isLast) return;
    this.#slices += 1;
    this.#read += count;
    if (batch.total === null) this.#isUnproven = true;
    publish('slice', () => ({ slice, records: count, passes }));
  }

  get isUnproven(): boolean {
    return this.#isUnproven;
  }

  progress(): Progress {
    const seconds = Math.max(1e-3, (this.#now() - this.#started) / 1000);
    const rate = this.#delivered / seconds;
    const done = this.#before + this.#delivered;
    const total = this.#isTotalKnown ? Math.max(done, this.#totalBefore + this.#expected) : null;
    return {
      total,
      done,
      rate,
      etaMs: total === null || rate === 0 ? null : ((total - done) / rate) * 1000,
      retries: this.#retries,
      duplicates: this.#duplicates,
      rereads: this.#rereads,
    };
  }

  /** `isEnd`: the read came to its end by itself. */
  verdict(isEnd: boolean): Verdict {
    const verdict: Verdict = {
      total: this.#isUnproven ? null : this.#totalBefore + this.#read,
      delivered: this.#delivered,
      deliveredBefore: this.#before,
      duplicatesDropped: this.#duplicates,
      changed: this.#changed,
      skipped: this.#skipped,
      rereads: this.#rereads,
      slices: this.#slices,
      requests: this.#requests,
      complete: isEnd && !this.#isUnproven && this.#lost === 0,
    };
    if (isEnd) publish('end', () => verdict);
    return verdict;
  }
}

// The names follow core's: the package, then what happened. Nothing is built unless somebody listens.
const channels = {
  page: diagnosticsChannel.channel('call-attribution:stream:page'),
  slice: diagnosticsChannel.channel('call-attribution:stream:slice'),
  reread: diagnosticsChannel.channel('call-attribution:stream:reread'),
  end: diagnosticsChannel.channel('call-attribution:stream:end'),
};

/** Reports to whoever listens on `call-attribution:stream:<name>`. */
function publish(name: keyof typeof channels, message: () => object): void {
  const channel = channels[name];
  if (channel.hasSubscribers) channel.publish(message());
}
