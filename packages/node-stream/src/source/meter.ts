import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Trouble } from '../slicing/judge.ts';
import { type Span, sliceOf } from '../query/time-slice.ts';
import { publish } from './channels.ts';
import { sizeOf } from './ledger.ts';
import type { Progress, Verdict } from './progress.ts';
import type { Batch } from '../slicing/run.ts';

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
  #again = 0;
  #changed = 0;
  #skipped = 0;
  #lost = 0;
  #rereads = 0;
  #slices = 0;
  #requests = 0;
  #retries = 0;
  #isUnproven = false;

  constructor(now: () => number, from: Checkpoint | null) {
    this.#now = now;
    this.#started = now();
    this.#before = from?.delivered ?? 0;
    this.#totalBefore = from?.total ?? 0;
  }

  /** The total of the part still to be read. */
  expect(total: number): void {
    this.#expected += total;
    this.#isTotalKnown = true;
  }

  answered(attempts: number): void {
    this.#requests += 1;
    this.#retries += Math.max(0, attempts - 1);
  }

  reread(span: Span, trouble: Trouble): void {
    this.#rereads += 1;
    publish('reread', () => ({ slice: sliceOf(span), reason: trouble }));
  }

  skipped(isLost: boolean): void {
    this.#skipped += 1;
    this.#delivered -= 1;
    if (isLost) this.#lost += 1;
  }

  took(batch: Batch): void {
    const size = sizeOf(batch);
    this.#delivered += size;
    this.#again += batch.again;
    this.#changed += batch.changed;
    const { slice, page } = batch;
    publish('page', () => ({
      slice: sliceOf(slice.span),
      page: batch.index,
      records: size,
      bytes: page.bytes.byteLength,
    }));
    if (!batch.isLast) return;
    this.#slices += 1;
    this.#read += slice.pass.count;
    if (slice.pass.total === null) this.#isUnproven = true;
    publish('slice', () => ({ slice: sliceOf(slice.span), records: slice.pass.count, passes: slice.passes }));
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
      duplicates: this.#again,
      rereads: this.#rereads,
    };
  }

  /** `isEnd`: the read came to its end by itself. */
  verdict(isEnd: boolean): Verdict {
    const verdict: Verdict = {
      total: this.#isUnproven ? null : this.#totalBefore + this.#read,
      delivered: this.#delivered,
      deliveredBefore: this.#before,
      duplicatesDropped: this.#again,
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
