import type { Trouble } from './judge.ts';
import { type PlanEvent, step } from './plan.ts';
import type { Source } from './source.ts';
import type { Span } from './span.ts';
import {
  type Outlook,
  type Output,
  outlookOf,
  type Plan,
  type PlanFailure,
  type PlannedBatch,
} from './state.ts';

/** Items to deliver, and the page they are on. */
export interface Batch<P = unknown> extends PlannedBatch {
  readonly page: P;
}

/** What comes of the wish for the next items. */
export type Outcome<P> =
  | { readonly kind: 'batch'; readonly batch: Batch<P> }
  | { readonly kind: 'end' }
  /** `cause` is the error of the request that failed. */
  | { readonly kind: 'failure'; readonly failure: PlanFailure; readonly cause: unknown };

/** Takes what a run finds out. */
export interface RunObserver {
  /** A page came, after so many requests that failed. */
  onPage(retries: number): void;
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

/** Connects the planning to a source: sends its requests and feeds the responses back. The only part that waits. */
export class Run<P> {
  readonly #source: Source<P>;
  readonly #observer: RunObserver;
  readonly #abort = new AbortController();
  /** What the requests brought, for as long as the planning needs it. */
  readonly #pages = new Map<number, P>();
  /** How requests failed, for as long as that may be told. */
  readonly #errors = new Map<number, unknown>();
  #plan: Plan;
  /** Set before the first items are wanted. */
  trace: RunTrace | null = null;
  #waiting: { resolve(outcome: Outcome<P>): void; reject(reason: unknown): void } | null = null;

  constructor(source: Source<P>, plan: Plan, observer: RunObserver) {
    this.#source = source;
    this.#plan = plan;
    this.#observer = observer;
  }

  /** The next records, the end, or why there is neither. One call at a time; rejects when the run was closed. */
  next(): Promise<Outcome<P>> {
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

  /** The source's count of a span, from a request of its own; null when it gives none. */
  async count(span: Span): Promise<number | null> {
    // A closed range is understood by all, so it is right where this source's way was never asked for.
    const style = this.#plan.style ?? 'closed';
    const count = () =>
      this.#source.fetch({ span, style, rows: 1, page: 0, after: null, signal: this.#abort.signal });
    const page = await (this.trace?.run(count) ?? count());
    this.#observer.onPage(this.#source.retriesOf(page));
    return this.#source.view(page).total;
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

  #settle(outcome: Outcome<P>): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(outcome);
  }

  async #send({ id, span, style, rows, start, after }: Extract<Output, { kind: 'request' }>): Promise<void> {
    let event: PlanEvent;
    try {
      const { signal } = this.#abort;
      const page = await this.#source.fetch({ span, style, rows, page: start, after, signal });
      this.#observer.onPage(this.#source.retriesOf(page));
      this.#pages.set(id, page);
      event = { kind: 'arrived', id, page: this.#source.view(page) };
    } catch (error) {
      this.#errors.set(id, error);
      event = { kind: 'failed', id, failure: this.#source.failureOf(error) };
    }
    try {
      this.#handle(event);
    } catch (error) {
      this.close(error);
    }
  }
}
