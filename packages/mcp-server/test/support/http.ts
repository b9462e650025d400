import { request as httpRequest } from 'node:http';
import { afterEach } from 'vitest';
import { createServer, type HttpEndpoint, type HttpOptions, serveHttp } from '../../src/index.ts';
import { type FakeOptions, fakeClient, websiteCalls } from './fake-client.ts';
import { revision, rpc } from './rpc.ts';

// An endpoint for each test, and requests with any header.

/** A bearer token for the endpoint. */
export const token = 'a-token-of-the-endpoint';

/** Headers of a request of the older revisions. */
export const plain = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** Headers of a request of the stateless revision. */
export const stateless = (method: string, extra: Record<string, string> = {}) => ({
  ...plain,
  'mcp-protocol-version': revision,
  'mcp-method': method,
  ...extra,
});

/** A request that any endpoint answers. */
export const ping = { headers: plain, body: rpc('ping') };

/**
 * Starts endpoints over thirty calls; each is stopped after its test. Call it once per test file.
 */
export function useEndpoint() {
  let endpoint: HttpEndpoint | undefined;

  const stop = async (): Promise<void> => {
    await endpoint?.close();
    endpoint = undefined;
  };

  afterEach(stop);

  const start = async (options: HttpOptions = {}, fake: FakeOptions = {}): Promise<string> => {
    endpoint = await serveHttp(createServer(fakeClient(websiteCalls(30), fake)), {
      port: 0,
      drainTimeout: 200,
      ...options,
    });
    return endpoint.url;
  };

  return { start, stop };
}

/** A response. */
export interface Received {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The body, or the last event of a stream. */
  readonly json: Record<string, never>;
  readonly events: readonly { readonly id?: unknown }[];
}

/** Sends a request with any header, including Host and Origin, which `fetch` would not send. */
export function send(
  url: string,
  { method = 'POST', headers = {}, body = '' as unknown },
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        // The rest of a refused body may still be on its way when the server ends the connection.
        if (!request.writableFinished) request.socket?.on('error', () => undefined);
        const isJson = response.headers['content-type']?.startsWith('application/json');
        const events = text.split('\n').filter((line) => line.startsWith('data: {'));
        const received = events.map((line) => JSON.parse(line.slice(6)));
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : received.at(-1),
          events: received,
        });
      });
    });
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}
