// MCP server that gives AI assistants right answers from the call-attribution API, at few tokens.
// createServer wraps a client; serveStdio and serveHttp connect it to assistants; callTool calls a tool in process.
// Personal data is masked and text from visitors is fenced unless the options say otherwise.

export { pseudonymKeyFrom } from '@call-attribution/core/privacy';
export type { HttpAuth, HttpEndpoint, HttpOptions, SessionOptions } from './http/options.ts';
export type { Reveal } from './privacy/masking.ts';
export { type CallsMcpOptions, type CallsMcpServer, createServer } from './server/create-server.ts';
export { callTool, serveHttp, serveStdio } from './server/serve.ts';
export type { StdioConnection, StdioStreams } from './stdio/streams.ts';
export type { ToolResult } from './tools/call.ts';
export { tools } from './tools/index.ts';
export type { Tool, ToolContext } from './tools/tool.ts';
