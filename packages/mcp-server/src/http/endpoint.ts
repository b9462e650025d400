import { createServer, type Server } from 'node:http';
import { isLoopback } from '@call-attribution/core';
import { ConfigurationError, portOf } from '@call-attribution/core/errors';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { checkToken, createHandler } from './handler.ts';
import { type HttpEndpoint, type HttpOptions, httpOptions } from './options.ts';

/** How long a client may take to send its headers and its request, and how often Node.js looks. */
const slowest = { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 2_000 };

/** Serves over Streamable HTTP. */
export async function listenHttp(server: ProtocolServer, options: HttpOptions = {}): Promise<HttpEndpoint> {
  const { port, host, path, drainTimeout, ...settings } = httpOptions.read(options);
  const { auth } = settings;
  const protectedByToken = auth?.token !== undefined || auth?.verify !== undefined;
  if (!isLoopback(host) && !protectedByToken) {
    throw new ConfigurationError(
      'invalid_option',
      `Refusing to listen on ${host} without a token: other machines could read call records. ` +
        'Set a token (CALLS_MCP_TOKEN or auth.token), or listen on 127.0.0.1.',
    );
  }
  checkToken(auth);
  const handle = createHandler(server, path, settings);
  const listener = createServer(slowest, (request, response) => {
    response.once('close', () => {
      // Clients keep connections open after a response, which would delay a stop for seconds.
      if (!listener.listening) listener.closeIdleConnections();
    });
    void handle.request(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, resolve);
  });
  const name = host.includes(':') ? `[${host}]` : host;
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop(listener, handle.close, drainTimeout));
  return { url: `http://${name}:${portOf(listener)}${path}`, close, [Symbol.asyncDispose]: close };
}

async function stop(
  listener: Server,
  closeSessions: () => Promise<void>,
  drainTimeout: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  listener.closeIdleConnections();
  // Streams of sessions stay open by design, so they are ended instead of waited for.
  await closeSessions();
  const timer = setTimeout(() => listener.closeAllConnections(), drainTimeout);
  await closed;
  clearTimeout(timer);
}
