// Tracing channels of node:diagnostics_channel. All packages publish through this, so that spans of one become parents of
// spans of another.
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';

/** What every tracing event carries; the same object in all events of one operation. */
export interface TraceContext {
  /** What the operation failed with. Set before the `error` event is published. */
  error?: unknown;
}

/** An operation that has begun. */
export interface Trace {
  /** Runs a part of the operation in its context, which is that of what subscribers bound to `start`. */
  run<T>(part: () => T): T;
  /** Publishes that the operation has succeeded, or `failure.error` and that it has failed. A second call does nothing. */
  end(failure?: { readonly error: unknown }): void;
}

/** One kind of operation, as subscribers see it. */
export interface Tracing<Context extends TraceContext> {
  /** Whether anybody listens. Without a subscriber, contexts need not be made. */
  isActive(): boolean;
  /** Begins an operation that is not one promise, such as a stream. */
  begin(context: Context): Trace;
  /** Runs an operation. `note` completes the context with what came of it, before that is published. */
  run<T>(
    context: Context,
    operation: () => Promise<T>,
    note?: (outcome: { readonly value: T } | { readonly error: unknown }) => void,
  ): Promise<T>;
}

/**
 * Publishes on `tracing:call-attribution:<name>:start`, `end`, `asyncStart`, `asyncEnd` and `error`, as `tracePromise` of Node.js
 * does, except that results, which hold personal data, are left out.
 *
 * @example
 * const tracing = createTracing<ToolTrace>('tool');
 * await tracing.run({ tool: 'count_calls' }, () => count());
 */
export function createTracing<Context extends TraceContext>(name: string): Tracing<Context> {
  const { start, end, asyncStart, asyncEnd, error } = tracingChannel(`call-attribution:${name}`);
  const begin = (context: Context): Trace => {
    const run = start.runStores(context, () => AsyncLocalStorage.snapshot());
    end.publish(context);
    let hasEnded = false;
    return {
      run,
      end(failure) {
        if (hasEnded) return;
        hasEnded = true;
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
    // TracingChannel.hasSubscribers is not in Node.js 20.
    isActive: () =>
      start.hasSubscribers ||
      end.hasSubscribers ||
      asyncStart.hasSubscribers ||
      asyncEnd.hasSubscribers ||
      error.hasSubscribers,
    begin,
    async run(context, operation, note) {
      const trace = begin(context);
      try {
        const value = await trace.run(operation);
        note?.({ value });
        trace.end();
        return value;
      } catch (thrown) {
        note?.({ error: thrown });
        trace.end({ error: thrown });
        throw thrown;
      }
    },
  };
}
