import { callAxis } from '../calls/call-axis.ts';
import { failureOf, type PageClient, type RequestSettings } from '../calls/call-source.ts';
import { viewOf } from '../calls/call-view.ts';
import { errorOf, IncompleteError, StreamError } from '../calls/errors.ts';
import { timeSliceOf } from '../calls/time-slice.ts';
import type { WindowQuery } from '../calls/window-query.ts';
import { isAstray } from '../reader/first-page.ts';
import type { PageView } from '../reader/page-view.ts';
import {
  afterDoubt,
  type NewQuestion,
  nextLower,
  rangeOf,
  searchLower,
  styleOf,
} from '../reader/questions.ts';
import type { BoundStyle, Span } from '../reader/span.ts';
import type { KnownCount } from './known-counts.ts';

const day = 86_400_000;

/** A total, and the time of the one record that came with it; NaN when none did. */
export interface CountedTotal {
  readonly total: number;
  readonly sample: number;
}

/** Asks a server for totals, and finds out how it reads ranges. */
export class Totals {
  readonly #client: PageClient;
  readonly #query: WindowQuery;
  readonly #settings: RequestSettings & { signal?: AbortSignal | undefined };
  /** Whether the server filters by `date_added`; null while nothing casts doubt on it. */
  #obeysRanges: boolean | null = null;
  #style: BoundStyle | null = null;
  /** Requests so far. */
  requests = 0;

  constructor(
    client: PageClient,
    query: WindowQuery,
    settings: RequestSettings & { signal?: AbortSignal | undefined },
  ) {
    this.#client = client;
    this.#query = query;
    this.#settings = settings;
  }

  /** How upper ends are written. `closed` is documented for both versions, so it is right until the server was asked. */
  get style(): BoundStyle {
    return this.#style ?? 'closed';
  }

  /** The total of a span. */
  async of(span: Span): Promise<CountedTotal> {
    const page = await this.#ask(span, this.style);
    const isForeign = () =>
      isAstray(
        { obeysRanges: this.#obeysRanges, settings: { axis: callAxis, lower: null, upper: null } },
        { span },
        page,
      );
    if (isForeign()) {
      await this.doubt(span);
      if (isForeign()) throw errorOf({ kind: 'ranges_ignored', span }, undefined);
    }
    return { total: page.total as number, sample: page.positionOf(0) };
  }

  /** Finds out how this server reads upper ends, with the time of a known record. */
  async findStyle(known: number): Promise<void> {
    const total = await this.#answer({ kind: 'style', known });
    this.#style = styleOf(total);
    // It knows no `}`, or does not filter by date_added at all.
    if (total !== null && total > 0) await this.doubt({ from: known, to: known });
  }

  /** Finds a time before which at most a few records lie, and counts on the way. */
  async findLower(known: number, few: number): Promise<KnownCount[]> {
    const counts: KnownCount[] = [];
    for (let question = searchLower(known, 180 * day, few, callAxis); question.kind === 'lower'; ) {
      const { total } = await this.of(rangeOf(question, this.style, callAxis).span);
      counts.unshift({ at: question.at, count: total });
      const next = nextLower(question, total, callAxis);
      if (next === callAxis.first) counts.unshift({ at: callAxis.first, count: 0 });
      if (typeof next === 'number') break;
      question = next;
    }
    return counts;
  }

  /** Asks for calls where there cannot be any. Throws when the server returns some: then it does not filter. */
  async doubt(span: Span): Promise<void> {
    for (let question: NewQuestion | boolean = { kind: 'past' }; this.#obeysRanges === null; ) {
      if (typeof question === 'boolean') this.#obeysRanges = question;
      else if (question.kind === 'past' || question.kind === 'future')
        question = afterDoubt(question.kind, await this.#answer(question));
    }
    if (!this.#obeysRanges) throw errorOf({ kind: 'ranges_ignored', span }, undefined);
  }

  /** The total that answers a question; null when the server refuses its range. */
  async #answer(question: NewQuestion): Promise<number | null> {
    const { span, style } = rangeOf(question, this.style, callAxis);
    try {
      return (await this.#ask(span, style)).total;
    } catch (error) {
      if (error instanceof Error && failureOf(error.cause) === 'refused') return null;
      throw error;
    }
  }

  async #ask(span: Span, style: BoundStyle): Promise<PageView> {
    const slice = timeSliceOf(span);
    this.#settings.signal?.throwIfAborted();
    this.requests += 1;
    const filter = this.#query.within(span, style);
    const request = this.#client.fetchPage({ ...this.#settings, filter, rows: 1, page: 0 });
    const page = viewOf(
      await request.catch((error: unknown) => {
        throw StreamError.from(error, { slice, page: 0 });
      }),
    );
    if (page.total === null)
      throw new IncompleteError({ slice, expected: null, got: page.count, trouble: 'no_total', tries: 1 });
    return page;
  }
}
