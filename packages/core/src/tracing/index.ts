// Tracing channels of node:diagnostics_channel. All packages publish through this, so that spans of
// one become parents of spans of another, and call the callbacks of a program in a way in which
// none of them can end anything.
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

/** What came of an operation. */
export type TraceOutcome<T> = { readonly value: T } | { readonly error: unknown };

/** One kind of operation, as subscribers see it. */
export interface Tracing<Context extends TraceContext> {
  /**
   * Runs an operation. Where somebody listens, on the channels or as `ended`, `contextOf` makes its
   * context, and `note` completes that with what came of it before it is published. An error that
   * `note` sets is published instead of the one that was thrown.
   */
  run<T>(
    contextOf: () => Context,
    operation: () => Promise<T>,
    note?: (context: Context, outcome: TraceOutcome<T>) => void,
    ended?: (context: Context) => void,
  ): Promise<T>;
}

/**
 * Publishes on `tracing:call-attribution:<name>:start`, `end`, `asyncStart`, `asyncEnd` and
 * `error`, as `tracePromise` of Node.js does, except that results, which hold personal data, are
 * left out.
 *
 * @example
 * const tracing = createTracing<ToolTrace>('tool');
 * await tracing.run(() => ({ tool: 'count_calls' }), () => count());
 */
export function createTracing<Context extends TraceContext>(name: string): Tracing<Context> {
  const { start, end, asyncStart, asyncEnd, error } = tracingChannel(`call-attribution:${name}`);
  const all = [start, end, asyncStart, asyncEnd, error];
  return {
    run(contextOf, operation, note, ended) {
      // TracingChannel.hasSubscribers is not in Node.js 20.
      if (!ended && !all.some(({ hasSubscribers }) => hasSubscribers)) return operation();
      const context = contextOf();
      const began = performance.now();

      // All of it runs in the context of what subscribers bound to `start`.
      const within = start.runStores(context, () => AsyncLocalStorage.snapshot());
      end.publish(context);

      const finish = (outcome: Parameters<NonNullable<typeof note>>[1]) => {
        note?.(context, outcome);
        context.durationMs = performance.now() - began;
        if ('error' in outcome) {
          context.error ??= outcome.error;
          within(() => error.publish(context));
        }

        within(() => asyncStart.publish(context));
        within(() => asyncEnd.publish(context));
        ended?.(context);
      };

      return within(operation).then(
        (value) => {
          finish({ value });
          return value;
        },
        (thrown: unknown) => {
          finish({ error: thrown });
          throw thrown;
        },
      );
    },
  };
}
