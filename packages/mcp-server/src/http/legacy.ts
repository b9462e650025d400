import {
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isObject } from '../protocol/messages.ts';

/**
 * Answers a request of the revisions that begin with `initialize`, with a server of its own. The SDK's own way always opens a stream of
 * events; one response in JSON is half the work, and enough for a client that requested no progress.
 */
export async function answerLegacy(
  factory: McpServerFactory,
  request: Request,
  body: unknown,
): Promise<Response> {
  const server = await factory({ era: 'legacy' });
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !wantsProgress(body),
  });
  await server.connect(transport);
  // A client may have left while its body was read.
  if (request.signal.aborted) {
    await server.close();
    return new Response(null, { status: 499 });
  }
  const gone = new Promise<Response>((resolve) => {
    request.signal.addEventListener('abort', () => {
      void server.close();
      resolve(new Response(null, { status: 499 }));
    });
  });
  const response = await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone]);
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) await server.close();
  return response;
}

function wantsProgress(body: unknown): boolean {
  const params = isObject(body) ? body.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && meta.progressToken !== undefined;
}
