// Tracing channels of node:diagnostics_channel. All packages publish through this, so that spans of one become parents of
// spans of another, and call the callbacks of a program in a way in which none of them can end anything.
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';

export { type CallSafely, safeCaller } from './safe-caller.ts';

/** What every tracing event carries; the same object in all events of one operation. */
export interface TraceContext {
  /** What the operation failed with. Set before the `error` event is published. */
  error?: unknown;
  /** Milliseconds that the operation took. Set once it has ended. */
  durationMs?: number;
}

/** An operation that has begun. */
export interface Trace {
  /** Runs a part of the operation in its context, which is that of what subscribers bound to `start`. */
  run<T>(part: () => T): T;
  /** Publishes that the operation has succeeded, or `failure.error` and that it has failed. A second call does nothing. */
  end(failure?: { readonly error: unknown }): void;
}

/** What came of an operation. */
export type TraceOutcome<T> = { readonly value: T } | { readonly error: unknown };

/** One kind of operation, as subscribers see it. */
export interface Tracing<Context extends TraceContext> {
  /** Whether anybody listens. Without a subscriber, contexts need not be made. */
  isActive(): boolean;
  /** Begins an operation that is not one promise, such as a stream. */
  begin(context: Context): Trace;
  /**
   * Runs an operation. Where somebody listens, on the channels or as `ended`, `contextOf` makes its context, and `note` completes that with
   * what came of it before it is published.
   */
  run<T>(
    contextOf: () => Context,
    operation: () => Promise<T>,
    note?: (context: Context, outcome: TraceOutcome<T>) => void,
    ended?: (context: Context) => void,
  ): Promise<T>;
}

/**
 * Publishes on `tracing:call-attribution:<name>:start`, `end`, `asyncStart`, `asyncEnd` and `error`, as `tracePromise` of Node.js
 * does, except that results, which hold personal data, are left out.
 *
 * @example
 * const tracing = createTracing<ToolTrace>('tool');
 * await tracing.run(() => ({ tool: 'count_calls' }), () => count());
 */
export function createTracing<Context extends TraceContext>(name: string): Tracing<Context> {
  const { start, end, asyncStart, asyncEnd, error } = tracingChannel(`call-attribution:${name}`);
  // TracingChannel.hasSubscribers is not in Node.js 20.
  const isActive = () =>
    start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    error.hasSubscribers;
  const begin = (context: Context): Trace => {
    const began = performance.now();
    const run = start.runStores(context, () => AsyncLocalStorage.snapshot());
    end.publish(context);
    let hasEnded = false;
    return {
      run,
      end(failure) {
        if (hasEnded) return;
        hasEnded = true;
        context.durationMs = performance.now() - began;
        if (failure) {
          context.error = failure.error;
          run(() => error.publish(context));
        }
        run(() => asyncStart.publish(context));
        run(() => asyncEnd.publish(context));
      },
    };
  };
  return {
    isActive,
    begin,
    run: (contextOf, operation, note, ended) =>
      isActive() || ended ? traced(begin, contextOf(), operation, note, ended) : operation(),
  };
}

async function traced<Context extends TraceContext, T>(
  begin: (context: Context) => Trace,
  context: Context,
  operation: () => Promise<T>,
  note: ((context: Context, outcome: TraceOutcome<T>) => void) | undefined,
  ended: ((context: Context) => void) | undefined,
): Promise<T> {
  const trace = begin(context);
  try {
    const value = await trace.run(operation);
    note?.(context, { value });
    trace.end();
    return value;
  } catch (error) {
    note?.(context, { error });
    trace.end({ error });
    throw error;
  } finally {
    ended?.(context);
  }
}
