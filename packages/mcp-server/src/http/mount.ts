import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConfigurationError } from '@call-attribution/core/errors';
import { fetchHandler } from '@call-attribution/core/mount';
import { rpcCodes } from '../protocol/messages.ts';
import type { ProtocolServer } from '../protocol/sdk-server.ts';
import { checkToken, createHandler } from './handler.ts';
import { sendError } from './json.ts';
import { type HttpMount, type MountOptions, mountOptions } from './options.ts';

/** Makes the handlers of an endpoint for another server. */
export function mount(server: ProtocolServer, options: MountOptions): HttpMount {
  const { auth, ...rest } = mountOptions.read(options);
  if (auth !== false && auth?.token === undefined && auth?.verify === undefined) {
    throw new ConfigurationError(
      'invalid_option',
      'A mounted endpoint needs auth: pass { token } or { verify }, or false when your application checks who sends a request. ' +
        'Otherwise everybody who reaches your server could read call records.',
    );
  }
  if (auth !== false) checkToken(auth);
  const handle = createHandler(server, null, { ...rest, auth: auth === false ? undefined : auth });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= handle.close());
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    if (closed === undefined) void handle.request(request, response);
    else
      sendError(response, 503, { code: rpcCodes.internalError, message: 'This endpoint has been closed.' });
  };
  return { handler, fetch: fetchHandler(handler), close, [Symbol.asyncDispose]: close };
}
