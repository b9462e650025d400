import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '@call-attribution/core/listen';
import { type StatusSource, statusPaths, statusReply } from '@call-attribution/node-stream/status';
import { UsageError } from '../errors.ts';

/** The status of a command that repeats, as it is served. */
export interface StatusServer {
  readonly url: string;
  stop(): void;
}

/** Serves the status of a command that repeats. */
export async function serveStatusAt(
  { host, port }: { readonly host: string; readonly port: number },
  source: StatusSource,
): Promise<StatusServer> {
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
  return { url: server.url, stop: () => void server.close() };
}
