import type { HttpOptions } from './http/options.ts';
import { type HttpEndpoint, listenHttp } from './http/serve.ts';
import { frontOf } from './protocol/front.ts';
import type { CallsMcpServer } from './server.ts';
import { connectStdio, type StdioConnection, type StdioStreams } from './stdio/serve.ts';
import type { ToolResult } from './tools/call.ts';

/** Serves over stdio: reads stdin, writes stdout, logs to stderr, or whatever streams are given. */
export function serveStdio(server: CallsMcpServer, streams: Partial<StdioStreams> = {}): StdioConnection {
  return connectStdio(frontOf(server.definition), {
    input: streams.input ?? process.stdin,
    write: streams.write ?? ((line) => void process.stdout.write(line)),
    log: streams.log ?? ((line) => void process.stderr.write(`${line}\n`)),
  });
}

/** Serves over Streamable HTTP. */
export function serveHttp(server: CallsMcpServer, options: HttpOptions = {}): Promise<HttpEndpoint> {
  return listenHttp(frontOf(server.definition), options);
}

/** Calls a tool in this process, without any protocol. */
export function callTool(
  server: CallsMcpServer,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<ToolResult> {
  return server.call(name, args, options);
}
