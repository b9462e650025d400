import { PassThrough } from 'node:stream';
import { type CallsMcpServer, serveStdio } from '../../src/index.ts';
import { initialize, rpc } from './rpc.ts';

/**
 * Sends a request to a server as a client of the older revisions does. Rejects with the error of a
 * response.
 */
export async function request(
  server: CallsMcpServer,
  method: string,
  params: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const input = new PassThrough();
  const responses: { id?: unknown; result?: Record<string, unknown>; error?: object }[] = [];
  const { closed } = serveStdio(server, {
    input,
    write: (line) => responses.push(JSON.parse(line)),
    log: () => undefined,
  });
  const first = method === 'initialize' ? [] : [initialize()];
  for (const each of [...first, rpc(method, params, 'asked')])
    input.write(`${JSON.stringify(each)}\n`);
  input.end();
  await closed;
  const { result, error } = responses.find(({ id }) => id === 'asked') ?? {};
  if (error) throw error;
  return result ?? {};
}
