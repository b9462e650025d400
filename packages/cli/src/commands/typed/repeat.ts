import type { StatusSource } from '@call-attribution/node-stream/status';
import type { Args } from '../../args.ts';
import { type Io, say } from '../../io.ts';
import type { OnFailure } from '../../syncing/repeat.ts';
import { serveStatusAt } from '../../syncing/status-server.ts';
import { duration } from '../../terminal/numbers.ts';

/** Says that something failed, and when it is tried again. */
export const sayRetry =
  (everyMs: number, io: Io): OnFailure =>
  ({ message, hints }) => {
    say(io, `calls: ${message.replace(/\.$/, '')}; retrying in ${duration(everyMs)}`);
    for (const hint of hints) say(io, `  → ${hint}`);
  };

/**
 * Serves the status of a command that repeats where --status-port says. Returns the function that
 * stops it.
 */
export async function serveStatus(args: Args, source: StatusSource, io: Io): Promise<() => void> {
  const port = args.integer('status-port');
  if (port === null) return () => undefined;
  const host = args.text('status-host') ?? '127.0.0.1';
  const { url, stop } = await serveStatusAt({ host, port }, source);
  say(io, `health and metrics on ${url}`);
  return stop;
}
