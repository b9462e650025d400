import { escapeControls } from '@call-attribution/core/errors';
import { listenHttp, mount } from '../http/endpoint.ts';
import type { HttpEndpoint, HttpMount, HttpOptions, MountOptions } from '../http/options.ts';
import { createProtocolServer } from '../protocol/sdk-server.ts';
import { connectStdio } from '../stdio/connection.ts';
import type { StdioConnection, StdioStreams } from '../stdio/streams.ts';
import type { ToolResult } from '../tools/call.ts';
import type { CallsMcpServer } from './create-server.ts';

/**
 * Serves one client over stdio: reads stdin, writes stdout and logs to stderr, or uses the streams given.
 *
 * @example
 * const connection = serveStdio(createServer(client));
 * await connection.closed;
 */
export function serveStdio(server: CallsMcpServer, streams: Partial<StdioStreams> = {}): StdioConnection {
  return connectStdio(createProtocolServer(server.definition).factory, {
    input: streams.input ?? process.stdin,
    write: streams.write ?? ((line) => void process.stdout.write(line)),
    log: streams.log ?? ((line) => void process.stderr.write(`${escapeControls(line)}\n`)),
  });
}

/**
 * Serves over Streamable HTTP, by default on `http://127.0.0.1:3000/mcp`. Rejects when the port is taken, and when
 * other machines could connect without a token.
 *
 * @example
 * const endpoint = await serveHttp(createServer(client), { port: 0, auth: { token: process.env.CALLS_MCP_TOKEN } });
 * console.log(endpoint.url);
 */
export async function serveHttp(server: CallsMcpServer, options: HttpOptions = {}): Promise<HttpEndpoint> {
  return listenHttp(createProtocolServer(server.definition), options);
}

/**
 * The same endpoint inside an application that listens itself: `handler` for Node.js, Express and Fastify, `fetch` for Hono and
 * other places that pass a `Request`. The application chooses the path.
 *
 * @example
 * const mcp = mountHttp(createServer(client), { auth: { token: process.env.CALLS_MCP_TOKEN }, allowedHosts: ['calls.example'] });
 * app.all('/mcp', mcp.handler); // Express; in Hono: app.all('/mcp', (c) => mcp.fetch(c.req.raw))
 */
export function mountHttp(server: CallsMcpServer, options: MountOptions): HttpMount {
  return mount(createProtocolServer(server.definition), options);
}

/**
 * Calls a tool in this process, without a protocol. A failure is a result with `isError`; the promise does not reject.
 *
 * @example
 * const { structuredContent } = await callTool(server, 'count_calls', { from: '2026-10-01', to: '2026-10-31' });
 */
export function callTool(
  server: CallsMcpServer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<ToolResult> {
  return server.call(name, args, options);
}
