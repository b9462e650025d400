import type { CallsMcpServer } from '../../src/index.ts';

/** Sends a request to a server in this process, past the transports. */
export async function request(
  server: CallsMcpServer,
  method: string,
  params: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const handler = server.definition.handlers[method];
  if (!handler) throw new Error(`no handler for ${method}`);
  return handler(params, {
    signal: new AbortController().signal,
    notify: () => undefined,
    clientCapabilities: {},
  });
}
