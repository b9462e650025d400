import { createServer } from 'node:http';
import { portOf } from '@call-attribution/core/errors';
import { type StatusSource, statusPaths, statusReply } from '@call-attribution/node-stream/status';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/**
 * Serves the status of a command that repeats where --status-port says. Returns the function that stops it.
 */
export async function serveStatus(args: Args, source: StatusSource, io: Io): Promise<() => void> {
  const port = args.integer('status-port', { min: 0, max: 65_535 });
  if (port === null) return () => undefined;
  const host = args.text('status-host') ?? '127.0.0.1';
  const limits = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 };
  const server = createServer(limits, async (request, response) => {
    const path = (request.url ?? '').replace(/[?#].*$/, '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const reply = isRead ? await statusReply(path, source) : null;
    const headers = reply?.headers ?? { 'content-type': 'text/plain; charset=utf-8' };
    // A probe comes every few seconds, so that a kept connection gains nothing and may hold up the end.
    response.writeHead(reply?.status ?? 404, { ...headers, connection: 'close' });
    response.end(reply?.body ?? `Not found. There are ${statusPaths.join(', ')}.\n`);
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is in use' : error.message;
      reject(new UsageError(`--status-port: cannot listen on ${host}:${port}: ${reason}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const shown = host.includes(':') ? `[${host}]` : host;
  say(io, `health and metrics on http://${shown}:${portOf(server)}`);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
