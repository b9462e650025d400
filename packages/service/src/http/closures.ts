import type { Clock } from '@call-attribution/core';
import type { ClosedFor } from '../connections/connection.ts';
import type { LogEntry } from './front.ts';
import type { Metrics } from './metrics.ts';

/** The log has at most one entry per reason in this time, however many connections are closed. */
const entryMs = 10_000;

const reasons: Readonly<Record<ClosedFor, string>> = {
  address:
    'more than limits.connectionsPerAddress came from one address. If it is your proxy, name it in proxies',
  total: 'there were more than limits.connections',
  handshakes: 'more than limits.handshakes TLS handshakes were in progress',
  handshake_timeout: 'they did not complete their TLS handshake within limits.handshakeTimeout',
  slow_reader: 'their clients did not read the response for limits.sendTimeout',
  unsent_bytes:
    'they read more slowly than others, and responses took more than limits.unsentBytes of memory',
};

/** Counts the connections that are closed to keep a limit, and logs them together. */
export function createClosureLog(
  metrics: Metrics,
  log: ((entry: LogEntry) => void) | null,
  clock: Pick<Clock, 'now'>,
): { readonly add: (reason: ClosedFor) => void; close(): void } {
  const counts = new Map<ClosedFor, number>();
  let timer: NodeJS.Timeout | null = null;
  const write = (): void => {
    timer = null;
    for (const [reason, count] of counts) {
      const connections = count === 1 ? '1 connection was' : `${count} connections were`;
      log?.({
        time: new Date(clock.now()).toISOString(),
        level: 'info',
        message: `${connections} closed: ${reasons[reason]}.`,
      });
    }
    counts.clear();
  };
  return {
    add(reason) {
      metrics.closed(reason);
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      timer ??= setTimeout(write, entryMs).unref();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      write();
    },
  };
}
