import { CallsError } from '@call-attribution/core/errors';
import { type CliError, exitCodes, Interrupted } from '../errors.ts';
import { explain } from '../failures.ts';
import { pause } from '../terminal/waiting.ts';

/** Takes a failure after which something is tried again. */
export type OnFailure = (failure: CliError) => void;

const passing: ReadonlySet<number> = new Set([
  exitCodes.unreachable,
  exitCodes.busy,
  exitCodes.failed,
]);

/** Repeats a run until the signal aborts. An error that may pass is reported. */
export async function again(
  once: () => Promise<unknown>,
  everyMs: number,
  signal: AbortSignal,
  onFailure: OnFailure,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await once();
    } catch (error) {
      if (signal.aborted) return;
      const failure = explain(error);
      // A server that is down may come back, and a disk may get space again; a wrong key or a lost
      // file stays wrong.
      const mayPass =
        CallsError.is(error) && error.kind === 'disk'
          ? error.isRetryable
          : passing.has(failure.exitCode);
      if (!mayPass) throw error;
      onFailure(failure);
    }
    await pause(everyMs, signal);
  }
}

/**
 * Opens what a command works on. One that repeats, which has an `everyMs`, waits for what another
 * process uses or a server that is down, at its start as later. What is wrong with the place itself
 * ends it.
 */
export async function untilOpen<T>(
  open: () => Promise<T>,
  everyMs: number | null,
  signal: AbortSignal,
  onFailure: OnFailure,
): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (everyMs === null || !CallsError.is(error) || !error.isRetryable) throw error;
      if (!signal.aborted) {
        onFailure(explain(error));
        await pause(everyMs, signal);
      }
      if (signal.aborted) throw new Interrupted();
    }
  }
}
