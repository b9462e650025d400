import { createTracing, type Trace, type TraceContext } from '@call-attribution/core/tracing';
import type { Trouble } from '../reader/judge.ts';
import type { Batch, RunTrace } from '../reader/run.ts';
import type { Span } from '../reader/span.ts';
import type { Verdict } from '../reader/verdict.ts';
import type { PageClient } from './call-source.ts';
import { type TimeSlice, timeSliceOf } from './time-slice.ts';

/**
 * The message of the tracing channels `tracing:call-attribution:stream:*`: a stream from its first request to its end. What is
 * optional is there once it has ended without an error.
 */
export interface StreamTrace extends TraceContext {
  /** The client that reads. */
  readonly client: PageClient;
  /** The stream continues from a checkpoint. */
  readonly isResumed: boolean;
  /** What was proved, how many records were delivered, and how many slices and requests that took. */
  verdict?: Verdict;
}

/**
 * The message of the tracing channels `tracing:call-attribution:slice:*`: a slice from its first request until its last records are
 * delivered.
 */
export interface SliceTrace extends TraceContext, TimeSlice {
  /** The client that reads. */
  readonly client: PageClient;
  /** How it ended: it was `delivered`, `cut` into smaller slices, `left` because the stream ended, or it `failed`. */
  outcome?: 'delivered' | 'cut' | 'left' | 'failed';
  /** Records of the slice, when it was delivered. */
  records?: number;
  /** How many times it was read until its pages agreed. */
  passes?: number;
  /** Why it was read again, once for each time. */
  troubles?: readonly string[];
}

const streamTracing = createTracing<StreamTrace>('stream');
const sliceTracing = createTracing<SliceTrace>('slice');

interface OpenSlice {
  readonly span: Span;
  readonly context: SliceTrace;
  readonly trace: Trace;
}

/** Publishes the trace of one read: the stream, and in its context the slices, which are open at the same time. */
export class ReadTrace implements RunTrace {
  readonly #context: StreamTrace;
  readonly #stream: Trace;
  readonly #slices = new Map<number, OpenSlice>();

  /** Begins the trace of a stream; null when nobody listens. */
  static begin(client: PageClient, isResumed: boolean): ReadTrace | null {
    return streamTracing.isActive() || sliceTracing.isActive() ? new ReadTrace({ client, isResumed }) : null;
  }

  private constructor(context: StreamTrace) {
    this.#context = context;
    this.#stream = streamTracing.begin(context);
  }

  run<T>(part: () => T): T {
    return this.#stream.run(part);
  }

  inSlice(id: number, span: Span, send: () => void): void {
    let slice = this.#slices.get(id);
    if (slice === undefined) {
      const context: SliceTrace = { client: this.#context.client, ...timeSliceOf(span) };
      // Responses to other slices lead to this one, but the stream is its parent.
      slice = { span, context, trace: this.run(() => sliceTracing.begin(context)) };
      this.#slices.set(id, slice);
    }
    slice.trace.run(send);
  }

  delivered({ span, count: records, passes, isLast }: Batch): void {
    if (isLast) this.#end(this.#withSpan(span), { outcome: 'delivered', records, passes });
  }

  /** The pages of a slice did not agree, and it is read again. */
  reread(span: Span, trouble: Trouble): void {
    const context = this.#slices.get(this.#withSpan(span) ?? Number.NaN)?.context;
    if (context) context.troubles = [...(context.troubles ?? []), trouble];
  }

  failed(span: Span, error: unknown): void {
    this.#end(this.#withSpan(span), { outcome: 'failed' }, { error });
  }

  keepOnly(isOpen: (id: number) => boolean): void {
    for (const id of this.#slices.keys()) if (!isOpen(id)) this.#end(id, { outcome: 'cut' });
  }

  /** The stream has ended, with an error or with what it proved. */
  end(outcome: { readonly error: unknown } | { readonly verdict: Verdict }): void {
    for (const id of this.#slices.keys()) this.#end(id, { outcome: 'left' });
    if ('verdict' in outcome) this.#context.verdict = outcome.verdict;
    this.#stream.end('error' in outcome ? outcome : undefined);
  }

  #withSpan({ from, to }: Span): number | undefined {
    for (const [id, { span }] of this.#slices) if (span.from === from && span.to === to) return id;
    return undefined;
  }

  #end(id: number | undefined, result: Partial<SliceTrace>, failure?: { readonly error: unknown }): void {
    const slice = id === undefined ? undefined : this.#slices.get(id);
    if (id === undefined || slice === undefined) return;
    this.#slices.delete(id);
    Object.assign(slice.context, result);
    slice.trace.end(failure);
  }
}
