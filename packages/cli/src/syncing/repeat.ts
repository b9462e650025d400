import { CallsError } from '@call-attribution/core/errors';
import { type CliError, Interrupted } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures.ts';
import { type Io, say } from '../io.ts';
import { duration } from '../terminal/numbers.ts';
import { pause } from '../terminal/waiting.ts';

/** Takes the message of a failure after which something is tried again. */
type OnFailure = (message: string) => void;

const passing: ReadonlySet<number> = new Set([exitCodes.unreachable, exitCodes.busy, exitCodes.failed]);

/** Repeats a run until the signal aborts. An error that may pass is reported: by `onFailure`, or in a sentence on stderr. */
export async function again(
  once: () => Promise<unknown>,
  everyMs: number,
  io: Io,
  onFailure?: OnFailure,
): Promise<void> {
  while (!io.signal.aborted) {
    try {
      await once();
    } catch (error) {
      if (io.signal.aborted) return;
      const failure = await explain(error);
      // A server that is down may come back, and a disk may get space again; a wrong key or a lost file stays wrong.
      const mayPass =
        CallsError.is(error) && error.kind === 'disk' ? error.isRetryable : passing.has(failure.exitCode);
      if (!mayPass) throw error;
      report(failure, everyMs, io, onFailure);
    }
    await pause(everyMs, io.signal);
  }
}

/**
 * Opens what a command works on. One that repeats, which has an `everyMs`, waits for what another process uses or a server that
 * is down, at its start as later. What is wrong with the place itself ends it.
 */
export async function untilOpen<T>(
  open: () => Promise<T>,
  { everyMs, onFailure }: { readonly everyMs: number | null; readonly onFailure?: OnFailure },
  io: Io,
): Promise<T> {
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (everyMs === null || !CallsError.is(error) || !error.isRetryable) throw error;
      if (!io.signal.aborted) {
        report(await explain(error), everyMs, io, onFailure);
        await pause(everyMs, io.signal);
      }
      if (io.signal.aborted) throw new Interrupted();
    }
  }
}

/** Says that something failed, and when it is tried again. */
export function sayRetry(message: string, everyMs: number, io: Io): void {
  say(io, `calls: ${message.replace(/\.$/, '')}; retrying in ${duration(everyMs)}`);
}

function report(
  { message, hints }: CliError,
  everyMs: number,
  io: Io,
  onFailure: OnFailure = (message) => sayRetry(message, everyMs, io),
): void {
  onFailure(message);
  for (const hint of hints) say(io, `  → ${hint}`);
}
