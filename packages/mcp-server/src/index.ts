// MCP server that gives AI assistants right answers from the call-attribution API, at few tokens.
// createServer wraps a client; serveStdio and serveHttp put it on a wire; callTool calls a tool in process.
// Personal data is masked and visitor text is fenced unless options say otherwise.
export type { HttpAuth, HttpOptions, SessionOptions } from './http/options.ts';
export type { HttpEndpoint } from './http/serve.ts';
export type { CallsMcpOptions } from './options.ts';
export type { Reveal } from './privacy/classes.ts';
export { pseudonymKeyFrom } from './privacy/pseudonym.ts';
export { callTool, serveHttp, serveStdio } from './serve.ts';
export type { CallsMcpServer } from './server.ts';
export { createServer } from './server.ts';
export type { StdioConnection, StdioStreams } from './stdio/serve.ts';
export type { ToolResult } from './tools/call.ts';
export { tools } from './tools/index.ts';
export type { Tool, ToolContext } from './tools/tool.ts';
