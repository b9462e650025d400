import { CallsError } from '@call-attribution/core/errors';
import { type CliError, exitCodes, Interrupted } from '../errors.ts';
import { explain } from '../failures.ts';
import { type Io, say } from '../io.ts';
import { duration } from '../terminal/numbers.ts';
import { pause } from '../terminal/waiting.ts';

/** Takes a failure after which something is tried again. */
export type OnFailure = (failure: CliError) => void;

/** Says that something failed, and when it is tried again. */
export const sayRetry =
  (everyMs: number, io: Io): OnFailure =>
  ({ message, hints }) => {
    say(io, `calls: ${message.replace(/\.$/, '')}; retrying in ${duration(everyMs)}`);
    for (const hint of hints) say(io, `  → ${hint}`);
  };

const passing: ReadonlySet<number> = new Set([
  exitCodes.unreachable,
  exitCodes.busy,
  exitCodes.failed,
]);

/** Repeats a run until the signal aborts. An error that may pass is reported. */
export async function again(
  once: () => Promise<unknown>,
  everyMs: number,
  io: Io,
  onFailure = sayRetry(everyMs, io),
): Promise<void> {
  while (!io.signal.aborted) {
    try {
      await once();
    } catch (error) {
      if (io.signal.aborted) return;
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
    await pause(everyMs, io.signal);
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
  io: Io,
  onFailure = sayRetry(everyMs ?? 0, io),
): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (everyMs === null || !CallsError.is(error) || !error.isRetryable) throw error;
      if (!io.signal.aborted) {
        onFailure(explain(error));
        await pause(everyMs, io.signal);
      }
      if (io.signal.aborted) throw new Interrupted();
    }
  }
}
