import type { Clock, RawPage } from '@call-attribution/core';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Batch } from '../slicing/run.ts';
import { sizeOf } from './ledger.ts';
import { proofOf, type Recount, type Verdict, type VerdictReason } from './verdict.ts';

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

/** Counts what a read does, for its progress and its verdict. */
export class Meter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #started: number;
  readonly #before: number;
  readonly #totalBefore: number;
  readonly #expectedBefore: number;
  #expected = 0;
  #isTotalKnown = false;
  #read = 0;
  #delivered = 0;
  #duplicates = 0;
  #rereads = 0;
  #slices = 0;
  #requests = 0;
  #retries = 0;
  #isUnproven: boolean;

  /** `done`: records that earlier runs delivered, where no checkpoint says it. */
  constructor(clock: Pick<Clock, 'now'>, from: Checkpoint | null, done = 0) {
    this.#clock = clock;
    this.#started = clock.now();
    this.#before = from?.delivered ?? done;
    this.#totalBefore = from?.total ?? done;
    this.#expectedBefore = from?.expected ?? 0;
    this.#isUnproven = from?.unproven ?? false;
  }

  /** The total of a part still to be read. Returns that of the query, as far as it is known. */
  expect(total: number): number {
    this.#expected += total;
    this.#isTotalKnown = true;
    return this.#totalBefore + this.#expected;
  }

  received({ meta: { attempts } }: RawPage): void {
    this.#requests += 1;
    this.#retries += Math.max(0, attempts - 1);
  }

  reread(): void {
    this.#rereads += 1;
  }

  skipped(): void {
    this.#delivered -= 1;
  }

  took(batch: Batch): void {
    this.#delivered += sizeOf(batch);
    this.#duplicates += batch.again;
    if (!batch.isLast) return;
    this.#slices += 1;
    this.#read += batch.count;
    if (batch.total === null) this.#isUnproven = true;
  }

  get isUnproven(): boolean {
    return this.#isUnproven;
  }

  progress(): Progress {
    const seconds = Math.max(1e-3, (this.#clock.now() - this.#started) / 1000);
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

  get slices(): number {
    return this.#slices;
  }

  /**
   * What was proved. `read` covers everything that was delivered, in all runs. `isEnd`: the read came to its end by itself.
   */
  verdict(isEnd: boolean, read: Checkpoint, recount: Recount | VerdictReason | null): Verdict {
    const { skipped = 0, setAside = 0, changed = 0, rereads = 0 } = read;
    const total = this.#isUnproven ? null : this.#totalBefore + this.#read;
    const hasCount = recount !== null && 'read' in recount;
    const expected = Math.max(this.#expectedBefore, this.#totalBefore + this.#expected);
    const counted = hasCount ? differenceIn(recount) : recount === null ? [] : [recount];
    const missing = counted.find(({ code }) => code === 'count_rose')?.count ?? 0;
    // Calls that the count at the end finds missing had been in the total before, too.
    const fell = total === null || !isEnd ? 0 : expected - total - missing;
    const reasons: VerdictReason[] = [
      ...(isEnd ? [] : [{ code: 'left_early', count: null } as const]),
      ...(this.#isUnproven ? [{ code: 'no_total', count: null } as const] : []),
      ...(skipped > 0 ? [{ code: 'skipped', count: skipped } as const] : []),
      ...(fell > 0 ? [{ code: 'total_fell', count: fell } as const] : []),
      ...counted,
    ];
    return {
      proof: proofOf(reasons),
      reasons,
      recount: hasCount ? recount : null,
      total,
      delivered: this.#delivered,
      deliveredBefore: this.#before,
      surplus: total === null ? 0 : Math.max(0, read.delivered + skipped + setAside - total),
      duplicatesDropped: this.#duplicates,
      changed,
      skipped: skipped + setAside,
      rereads: Math.max(rereads, this.#rereads),
      slices: this.#slices,
      requests: this.#requests,
    };
  }
}

function differenceIn({ differences }: Recount): VerdictReason[] {
  const missing = differences.map(({ expected, read }) => expected - read);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + Math.max(0, count), 0);
  const [rose, fell] = [sum(missing), sum(missing.map((count) => -count))];
  return [
    ...(rose > 0 ? [{ code: 'count_rose', count: rose } as const] : []),
    ...(fell > 0 ? [{ code: 'count_fell', count: fell } as const] : []),
  ];
}
