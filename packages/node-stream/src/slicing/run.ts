import { type Client, type RawPage, type RequestOptions, ResponseError } from '@call-attribution/core';
import type { Span } from '../query/time-slice.ts';
import type { WindowQuery } from '../query/window-query.ts';
import type { Trouble } from './judge.ts';
import { viewOf } from './page-view.ts';
import { type PlanEvent, step } from './plan.ts';
import {
  type Outlook,
  type Output,
  outlookOf,
  type Plan,
  type PlanFailure,
  type PlannedBatch,
} from './state.ts';
import type { Failure } from './work.ts';

/** The part of core's client that the streams use. Any client with it will do. */
export type PageClient = Pick<Client, 'version' | 'fetchPage'>;

/** What all requests of a read have in common; `signal` is added to it. */
export type RequestSettings = Pick<RequestOptions, 'timeout' | 'retry' | 'headers'>;

/** Records to deliver, and the page they are on. */
export interface Batch extends PlannedBatch {
  readonly page: RawPage;
}

/** What comes of the wish for the next records. */
export type Outcome =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'end' }
  /** `cause` is the error of the request that failed. */
  | { readonly kind: 'failure'; readonly failure: PlanFailure; readonly cause: unknown };

/** Takes what a run finds out. */
export interface RunObserver {
  onPage(page: RawPage): void;
  onTotal(total: number): void;
  onReread(): void;
}

/** Puts what a run does into the context of a trace. */
export interface RunTrace {
  /** Runs in the context of the whole read. */
  run<T>(part: () => T): T;
  /** Sends a request of a slice in its context, and begins that with the first one. */
  inSlice(id: number, span: Span, send: () => void): void;
  delivered(batch: Batch): void;
  reread(span: Span, trouble: Trouble): void;
  failed(span: Span, error: unknown): void;
  /** Slices that are no longer open have been cut. */
  keepOnly(isOpen: (id: number) => boolean): void;
}

/** Connects the planning to a client: sends its requests and feeds the responses back. The only part that waits. */
export class Run {
  readonly #client: PageClient;
  readonly #query: WindowQuery;
  readonly #observer: RunObserver;
  readonly #abort = new AbortController();
  readonly #request: RequestOptions;
  /** What the requests brought, for as long as the planning needs it. */
  readonly #pages = new Map<number, RawPage>();
  /** How requests failed, for as long as that may be told. */
  readonly #errors = new Map<number, unknown>();
  #plan: Plan;
  /** Set before the first records are wanted. */
  trace: RunTrace | null = null;
  #waiting: { resolve(outcome: Outcome): void; reject(reason: unknown): void } | null = null;

  constructor(
    client: PageClient,
    query: WindowQuery,
    plan: Plan,
    observer: RunObserver,
    { timeout, retry, headers }: RequestSettings = {},
  ) {
    this.#client = client;
    this.#request = { timeout, retry, headers, signal: this.#abort.signal };
    this.#query = query;
    this.#plan = plan;
    this.#observer = observer;
  }

  /** The next records, the end, or why there is neither. One call at a time; rejects when the run was closed. */
  next(): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#abort.signal.aborted) return reject(this.#abort.signal.reason);
      this.#waiting = { resolve, reject };
      this.#handle({ kind: 'wanted' });
    });
  }

  /** What a later read may begin with. */
  get outlook(): Outlook {
    return outlookOf(this.#plan);
  }

  /** The server's count of a span, from a request of its own; null when it gives none. */
  async count(span: Span): Promise<number | null> {
    // `closed` is documented for both versions, so it is right where this server's way was never asked for.
    const filter = this.#query.within(span, this.#plan.style ?? 'closed');
    const count = () => this.#client.fetchPage({ ...this.#request, filter, rows: 1, page: 0 });
    const page = await (this.trace?.run(count) ?? count());
    this.#observer.onPage(page);
    return page.range?.total ?? null;
  }

  /** Throws the reason when the run was closed. */
  throwIfClosed(): void {
    this.#abort.signal.throwIfAborted();
  }

  /** Ends all requests in flight. */
  close(reason?: unknown): void {
    this.#abort.abort(reason);
    this.#pages.clear();
    this.#errors.clear();
    this.#waiting?.reject(this.#abort.signal.reason);
    this.#waiting = null;
  }

  #handle(event: PlanEvent): void {
    if (this.#abort.signal.aborted) return;
    const { plan, outputs } = step(this.#plan, event);
    this.#plan = plan;
    for (const output of outputs) this.#carryOut(output);
    this.trace?.keepOnly((id) => this.#plan.work.some((piece) => piece.id === id));
  }

  #carryOut(output: Output): void {
    switch (output.kind) {
      case 'request':
        if (this.trace) this.trace.inSlice(output.slice, output.span, () => void this.#send(output));
        else void this.#send(output);
        break;
      case 'forget':
        this.#pages.delete(output.id);
        this.#errors.delete(output.id);
        break;
      case 'batch': {
        const page = this.#pages.get(output.batch.id);
        if (page === undefined) throw new Error(`The page of request ${output.batch.id} is not held.`);
        this.#pages.delete(output.batch.id);
        const batch = { ...output.batch, page };
        this.trace?.delivered(batch);
        this.#settle({ kind: 'batch', batch });
        break;
      }
      case 'end':
        this.#settle({ kind: 'end' });
        break;
      case 'failure': {
        const { failure } = output;
        const cause = failure.kind === 'request' ? this.#errors.get(failure.id) : undefined;
        this.trace?.failed(failure.span, cause ?? failure);
        this.#settle({ kind: 'failure', failure, cause });
        break;
      }
      case 'total':
        this.#observer.onTotal(output.total);
        break;
      case 'reread':
        this.trace?.reread(output.span, output.trouble);
        this.#observer.onReread();
        break;
    }
  }

  #settle(outcome: Outcome): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(outcome);
  }

  async #send({ id, span, style, rows, start }: Extract<Output, { kind: 'request' }>): Promise<void> {
    let event: PlanEvent;
    try {
      const filter = this.#query.within(span, style);
      const page = await this.#client.fetchPage({ ...this.#request, filter, rows, page: start });
      this.#observer.onPage(page);
      this.#pages.set(id, page);
      event = { kind: 'arrived', id, page: viewOf(page) };
    } catch (error) {
      this.#errors.set(id, error);
      event = { kind: 'failed', id, failure: failureOf(error) };
    }
    try {
      this.#handle(event);
    } catch (error) {
      this.close(error);
    }
  }
}

// Codes of the client's errors for pages that are not what their place in the list says.
const misplaced: ReadonlySet<string> = new Set([
  'wrong_page',
  'range_mismatch',
  'list_short',
  'page_clamped',
]);

/** What the error of a request means for the planning. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ResponseError && misplaced.has(error.code)) return 'misplaced';
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return status === 400 || status === 422 ? 'refused' : 'failed';
}
