import { type ListQuery, type RawPage, ResponseError } from '@call-attribution/core';
import { type Ask, isRefusal } from './questions.ts';
import { sidsOf } from './page-view.ts';
import { learn, type Region } from './region.ts';
import { newPass, type SliceRead, sift, type Trouble } from './judge.ts';
import { isInside, Slicer, type SlicerSettings } from './plan.ts';
import { type Span, sliceOf } from '../query/time-slice.ts';
import { IncompleteError, StreamError } from '../source/errors.ts';
import { Lookahead, type LookaheadLimits, type Outcome, type PageNode } from './lookahead.ts';
import type { PageClient } from '../source/page-client.ts';
import { WorkList } from './work.ts';

// Codes of the client's errors for pages that are not what their place in the whole says.
const misplaced: ReadonlySet<string> = new Set([
  'wrong_page',
  'range_mismatch',
  'list_short',
  'page_clamped',
]);

/** Everything a walk is told. */
export interface WalkSettings extends SlicerSettings {
  readonly client: PageClient;
  readonly lookahead: LookaheadLimits;
  /** Passes over one slice before it is given up. */
  readonly tries: number;
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

/** Walks over all records of a query, slice by slice, a bounded number of pages ahead of its consumer. */
export class Walk {
  readonly #settings: WalkSettings;
  readonly #abort = new AbortController();
  readonly #lookahead: Lookahead;
  readonly #list: WorkList;
  readonly #slicer: Slicer;
  #hasDelivered = false;

  constructor(settings: WalkSettings) {
    this.#settings = settings;
    this.#lookahead = new Lookahead(settings.lookahead);
    this.#slicer = new Slicer(settings, (filter) => this.#ask(filter));
    this.#list = new WorkList({
      lookahead: this.#lookahead,
      limits: () => this.#slicer.limits,
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
      if (this.#hasDelivered) this.#list.meet();
      const outcome = await head.result;
      this.#abort.signal.throwIfAborted();
      if (this.#list.head !== head) continue;
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
    // A walk that was closed has nothing left either, but it is not at its end.
    this.#abort.signal.throwIfAborted();
    return null;
  }

  /** Ends all requests in flight. */
  close(reason?: unknown): void {
    this.#abort.abort(reason);
    this.#list.clear();
  }

  /** Cuts a slice that holds too much as soon as this is known, so that nobody waits for it at the head of the line. */
  #arrived(node: PageNode, page: RawPage): void {
    const { slice, index, probe } = node;
    const total = page.range?.total ?? null;
    if (index > 0 || total === null || this.#abort.signal.aborted) return;
    if (!probe) this.#slicer.saw(page, total);
    if (slice.cutFrom === null && slice.passes === 1) this.#settings.onTotal(total);
    if (slice.cutFrom !== null && !slice.isLearnt) learn(slice.cutFrom.region, { ...slice.cutFrom, total });
    slice.isLearnt = true;
    const next = isInside(slice.span, page) ? this.#slicer.judge(slice, page, probe) : 'read';
    if (next === 'refetch') this.#list.replace(node, this.#fetch(slice, 0, false));
    if (next === 'split' && this.#slicer.isReady(slice)) this.#divide(node, this.#slicer.split(slice, page));
    this.#list.fill();
  }

  #divide(node: PageNode, regions: readonly Region[]): void {
    const { sent } = node.slice;
    this.#list.replace(node, ...regions.map((region) => ({ kind: 'region' as const, region, sent })));
  }

  async #take(head: PageNode, { page, error }: Outcome): Promise<Batch | null> {
    if (page === undefined) return this.#failed(head, error);
    const { slice, index, probe } = head;
    if (await this.#isMisread(slice, page)) return this.#refetch(head);
    if (!isInside(slice.span, page)) throw StreamError.rangeIgnored(sliceOf(slice.span));
    if (index === 0) {
      const next = this.#slicer.judge(slice, page, probe);
      if (next === 'refetch') return this.#refetch(head);
      if (next === 'split') {
        this.#divide(head, await this.#slicer.splitAfterAsking(slice, page));
        return null;
      }
      // Without a total any number of rows may be what the server gives at most: a page behind it tells.
      const mayGoOn = page.count > 0 && page.count < (page.range?.total ?? Number.POSITIVE_INFINITY);
      slice.pass.rows = mayGoOn ? page.count : this.#settings.rows;
    }
    return this.#sift(head, page);
  }

  #sift(head: PageNode, page: RawPage): Batch | null {
    const { slice, index } = head;
    const { pass } = slice;
    const { count: offset, mark } = pass;
    const sids = sidsOf(page);
    const sifted = sift(slice, page, index, sids);
    if (sifted.trouble !== undefined) return this.#again(slice, sifted.trouble);
    const isLast = pass.total === null ? page.count < pass.rows : pass.count >= pass.total;
    this.#list.replace(head);
    const next = this.#list.head;
    if (isLast) {
      this.#list.drop(slice);
    } else if (next === undefined || next.kind === 'region' || next.slice !== slice) {
      this.#list.prepend({ kind: 'rest', slice, next: index + 1 });
    }
    const { keep, again, changed } = sifted;
    return { page, sids, keep, slice, index, offset, mark, again, changed, isLast };
  }

  #failed(head: PageNode, error: unknown): null {
    const { slice, index } = head;
    const { query } = this.#settings;
    const hasExclusiveBound = query.hasExclusiveBound || slice.span.to !== null;
    if (index === 0 && this.#slicer.style === null && hasExclusiveBound && isRefusal(error)) {
      this.#slicer.style = 'closed';
      return this.#refetch(head);
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

  async #ask(filter: Parameters<Ask>[0]): Promise<number | null> {
    const request = { filter, rows: 1, start: 0, signal: this.#abort.signal };
    return (await this.#settings.client.fetchPage(request)).range?.total ?? null;
  }

  /** A slice of an earlier run has a cut end before it is known how such ends are read: whether it was misread. */
  async #isMisread({ span }: SliceRead, page: RawPage): Promise<boolean> {
    if (span.to === null || this.#slicer.style !== null || page.count === 0) return false;
    return (await this.#slicer.findStyle(page)) === 'closed';
  }

  #refetch(head: PageNode): null {
    this.#list.replace(head, this.#fetch(head.slice, 0, false));
    return null;
  }

  #fetch(slice: SliceRead, index: number, probe: boolean): PageNode {
    const { query, rows } = this.#settings;
    const filter = query.within(slice.span, this.#slicer.style ?? 'half-open');
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
        if (outcome.page !== undefined) this.#arrived(node, outcome.page);
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
    return { span, sealed, cutFrom, sent, isLearnt: false, passes: 1, pass: newPass(), resume: null };
  }
}
