import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '@call-attribution/core/listen';
import { type StatusSource, statusPaths, statusReply } from '@call-attribution/node-stream/status';
import type { Args } from '../args.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';

/**
 * Serves the status of a command that repeats where --status-port says. Returns the function that
 * stops it.
 */
export async function serveStatus(args: Args, source: StatusSource, io: Io): Promise<() => void> {
  const port = args.integer('status-port');
  if (port === null) return () => undefined;
  const host = args.text('status-host') ?? '127.0.0.1';
  const limits = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').replace(/[?#].*$/, '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const reply = isRead ? await statusReply(path, source) : null;
    const headers = reply?.headers ?? { 'content-type': 'text/plain; charset=utf-8' };

    // A probe comes every few seconds, so that a kept connection gains nothing and may hold up the
    // end.
    response.writeHead(reply?.status ?? 404, { ...headers, connection: 'close' });
    response.end(reply?.body ?? `Not found. There are ${statusPaths.join(', ')}.\n`);
  };

  const server = await listen((request, response) => void handle(request, response), {
    ...limits,
    host,
    port,
    connections: 64,
  }).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`--status-port: ${error.message}`, [], { cause: error });
  });
  say(io, `health and metrics on ${server.url}`);
  return () => void server.close();
}
