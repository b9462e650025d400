import { type ListQuery, type RawPage, ResponseError } from '@call-attribution/core';
import { naiveMillis } from '../operators/naive-time.ts';
import { type Ask, chooseStyle, earliest, findLower, isRefusal } from '../windows/probes.ts';
import { type CutLimits, learn } from '../windows/region.ts';
import { regionsOf, sampleOf } from '../windows/sample.ts';
import { finest, type Span, sliceOf } from '../windows/span.ts';
import type { BoundStyle, WindowQuery } from '../windows/window-query.ts';
import { Capacity } from './capacity.ts';
import { IncompleteError, StreamError } from './errors.ts';
import { Lookahead, type LookaheadLimits, type Outcome, type PageNode } from './lookahead.ts';
import type { PageClient } from './page-client.ts';
import { dateOf, sidsOf } from './record-scan.ts';
import { newPass, type SliceRead, sift, type Trouble } from './slice-read.ts';
import { WorkList } from './work-list.ts';

/** Everything a walk is told. */
export interface WalkSettings {
  readonly client: PageClient;
  readonly query: WindowQuery;
  readonly rows: number;
  readonly lookahead: LookaheadLimits;
  /** Pages a slice may have; 0 when the query is not cut at all. */
  readonly slicePages: number;
  /** Passes over one slice before it is given up. */
  readonly tries: number;
  /** How upper ends are written; null to find out. */
  readonly style: BoundStyle | null;
  /** Naive times: records before the first are at rest, none is expected behind the second. */
  readonly sealedBefore: number;
  readonly horizon: number;
  /** What is to be read, in order, and how far an earlier run came in the first of it. */
  readonly todo: readonly Span[];
  readonly resume: SliceRead['resume'];
  readonly onTotal: (total: number) => void;
  readonly onReread: (slice: SliceRead, trouble: Trouble) => void;
}

/** Records that go out, and where they lie. */
export interface Batch {
  readonly page: RawPage;
  readonly sids: readonly string[];
  /** Places in the page; null for all of them. */
  readonly keep: readonly number[] | null;
  readonly slice: SliceRead;
  readonly index: number;
  /** Place of the page's first record in the slice, and the checksum of the sids before it. */
  readonly offset: number;
  readonly mark: number;
  readonly again: number;
  readonly changed: number;
  /** The slice is complete with this batch. */
  readonly isLast: boolean;
}

const misplaced: ReadonlySet<string> = new Set([
  'wrong_page',
  'range_mismatch',
  'list_short',
  'page_clamped',
]);
const year = 366 * 864e5;

/** Walks over all records of a query, slice by slice, a bounded number of pages ahead of its consumer. */
export class Walk {
  readonly #settings: WalkSettings;
  readonly #abort = new AbortController();
  readonly #lookahead: Lookahead;
  readonly #capacity: Capacity;
  readonly #list: WorkList;
  #style: BoundStyle | null;
  #hasDelivered = false;

  constructor(settings: WalkSettings) {
    this.#settings = settings;
    this.#style = settings.style;
    this.#lookahead = new Lookahead(settings.lookahead);
    this.#capacity = new Capacity(settings.rows, Math.max(1, settings.slicePages));
    this.#list = new WorkList({
      lookahead: this.#lookahead,
      limits: () => this.#limits(),
      fetch: (slice, index, probe) => this.#fetch(slice, index, probe),
      slice: ({ region, sent }, { span, expected, width }) =>
        this.#slice(span, { region, expected, width }, sent.size === 0 ? new Map() : sent),
    });
    for (const [i, span] of settings.todo.entries()) {
      const slice = this.#slice(span, null, new Map());
      if (i === 0) slice.resume = settings.resume;
      this.#list.append({ kind: 'rest', slice, next: 0 });
    }
  }

  /** The next records, or null when all have been handed out. */
  async next(): Promise<Batch | null> {
    while (!this.#list.isEmpty) {
      this.#list.fill();
      const head = this.#list.head;
      if (head?.kind !== 'page') continue;
      if (this.#hasDelivered) this.#lookahead.met(head.outcome !== null);
      const outcome = await head.result;
      this.#abort.signal.throwIfAborted();
      try {
        const batch = await this.#take(head, outcome);
        if (batch === null) continue;
        this.#hasDelivered = true;
        this.#list.fill();
        return batch;
      } catch (error) {
        this.close(error);
        throw StreamError.from(error, { slice: sliceOf(head.slice.span), page: head.index });
      }
    }
    return null;
  }

  /** Ends all requests in flight. */
  close(reason?: unknown): void {
    this.#abort.abort(reason);
    this.#list.clear();
  }

  #take(head: PageNode, { page, error }: Outcome): Promise<Batch | null> | Batch | null {
    if (page === undefined) return this.#failed(head, error);
    const { slice, index, probe } = head;
    this.#checkDates(slice, page);
    if (index > 0) return this.#sift(head, page);
    const total = page.range?.total ?? null;
    const isWhole = page.count === total;
    if (slice.cutFrom === null && slice.passes === 1 && total !== null) this.#settings.onTotal(total);
    if (probe && !isWhole && (total === null || total <= this.#capacity.records)) return this.#refetch(slice);
    if (!isWhole && total !== null && page.count > 0) {
      if (!probe) this.#capacity.overflowed(page.count);
      const isTooMuch = probe || total > this.#capacity.records || slice.passes > 2;
      if (isTooMuch && this.#canSplit(slice.span)) return this.#split(slice, page, total);
    }
    const isClamped = total !== null && page.count > 0 && page.count < total;
    slice.pass.rows = isClamped ? page.count : this.#settings.rows;
    return this.#sift(head, page);
  }

  #sift({ slice, index }: PageNode, page: RawPage): Batch | null {
    const { pass } = slice;
    const { count: offset, mark } = pass;
    const sids = sidsOf(page);
    const sifted = sift(slice, page, index, sids);
    if (sifted.trouble !== undefined) return this.#again(slice, sifted.trouble);
    const isLast = pass.total === null ? page.count < pass.rows : pass.count >= pass.total;
    this.#list.replaceHead();
    const next = this.#list.head;
    if (isLast) {
      this.#list.drop(slice);
      this.#learn(slice, pass.count);
      if (index === 0) this.#capacity.fitted(page.count);
    } else if (next === undefined || next.kind === 'region' || next.slice !== slice) {
      this.#list.prepend({ kind: 'rest', slice, next: index + 1 });
    }
    const { keep, again, changed } = sifted;
    return { page, sids, keep, slice, index, offset, mark, again, changed, isLast };
  }

  #failed({ slice, index }: PageNode, error: unknown): null {
    if (index === 0 && this.#style === null && this.#settings.query.hasExclusiveBound && isRefusal(error)) {
      this.#style = 'closed';
      return this.#refetch(slice);
    }
    // The client has tried again by itself; what still does not fit is a slice on the move.
    if (error instanceof ResponseError && misplaced.has(error.code)) return this.#again(slice, 'wrong_page');
    throw error;
  }

  /** Begins a slice anew: what went out already does not go out again. */
  #again(slice: SliceRead, trouble: Trouble): null {
    this.#settings.onReread(slice, trouble);
    this.#list.drop(slice);
    if (trouble === 'changed_since_checkpoint') {
      slice.sent.clear();
      slice.resume = null;
    }
    if (slice.passes >= this.#settings.tries) {
      const { total: expected, sids } = slice.pass;
      throw new IncompleteError({
        slice: sliceOf(slice.span),
        expected,
        got: sids.size,
        trouble,
        tries: slice.passes,
      });
    }
    slice.passes += 1;
    slice.pass = newPass();
    this.#list.prepend({ kind: 'rest', slice, next: 0 });
    return null;
  }

  /** Puts a region to be cut in the place of a slice that holds too much. */
  async #split(slice: SliceRead, page: RawPage, total: number): Promise<null> {
    const { query } = this.#settings;
    const { span } = slice;
    const times = page.slices().map((_, i) => naiveMillis(dateOf(page, i)));
    const sample = sampleOf(times.filter((time) => time >= earliest));
    const [first = this.#settings.horizon, last = first] = [sample.times[0], sample.times.at(-1)];
    if (this.#style === null && sample.times.length > 0)
      this.#style = await chooseStyle(query, first, this.#ask);
    const before = (to: number) => this.#ask(query.within({ from: null, to }, this.#style ?? 'half-open'));
    const { records: capacity } = this.#capacity;
    const lower =
      span.from ??
      query.lower ??
      (sample.order === 'ascending' ? first : await findLower(first, last - first, capacity / 2, before));
    const facts = { total, lower, upper: this.#upper(span, lower), capacity };
    this.#list.drop(slice);
    this.#learn(slice, total);
    for (const region of regionsOf(span, facts, sample).reverse()) {
      this.#list.prepend({ kind: 'region', region, sent: slice.sent });
    }
    return null;
  }

  readonly #ask: Ask = async (filter) => {
    const page = await this.#settings.client.fetchPage({
      filter,
      rows: 1,
      start: 0,
      signal: this.#abort.signal,
    });
    return page.range?.total ?? null;
  };

  #refetch(slice: SliceRead): null {
    this.#list.replaceHead(this.#fetch(slice, 0, false));
    return null;
  }

  #fetch(slice: SliceRead, index: number, probe: boolean): PageNode {
    const { query, rows } = this.#settings;
    const filter = query.within(slice.span, this.#style ?? 'half-open');
    const asked = probe ? 1 : index === 0 ? rows : slice.pass.rows;
    const request = { filter, rows: asked, start: index, signal: this.#abort.signal };
    const node: PageNode = {
      kind: 'page',
      slice,
      index,
      probe,
      outcome: null,
      result: this.#outcome(request).then((outcome) => {
        node.outcome = outcome;
        return outcome;
      }),
    };
    return node;
  }

  async #outcome(request: ListQuery): Promise<Outcome> {
    try {
      const page = await this.#settings.client.fetchPage(request);
      this.#lookahead.arrived(page);
      return { page };
    } catch (error) {
      return { error };
    }
  }

  #slice(span: Span, cutFrom: SliceRead['cutFrom'], sent: SliceRead['sent']): SliceRead {
    const end = span.to ?? this.#settings.query.upper ?? Number.POSITIVE_INFINITY;
    const sealed = end <= this.#settings.sealedBefore;
    return { span, sealed, cutFrom, sent, passes: 1, pass: newPass(), resume: null };
  }

  #limits(): CutLimits {
    return { capacity: this.#capacity.records, sealedBefore: this.#settings.sealedBefore };
  }

  #learn({ cutFrom }: SliceRead, total: number): void {
    if (cutFrom !== null) learn(cutFrom.region, { ...cutFrom, total });
  }

  /** The upper end to reckon with. A query without one always leaves room behind what is known. */
  #upper(span: Span, lower: number): number {
    return span.to ?? this.#settings.query.upper ?? Math.max(this.#settings.horizon, lower + year);
  }

  #canSplit(span: Span): boolean {
    if (this.#settings.slicePages === 0) return false;
    const lower = span.from ?? this.#settings.query.lower ?? earliest;
    return this.#upper(span, lower) - lower > finest;
  }

  /** A server that does not honour the range would give every slice the same records. */
  #checkDates({ span }: SliceRead, page: RawPage): void {
    const ends = page.count > 0 ? [0, page.count - 1] : [];
    for (const date of ends.map((i) => naiveMillis(dateOf(page, i)))) {
      if (date < (span.from ?? date) || date >= (span.to ?? Number.POSITIVE_INFINITY)) {
        throw StreamError.rangeIgnored(sliceOf(span));
      }
    }
  }
}
