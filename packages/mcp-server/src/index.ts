// MCP server that gives AI assistants right answers from the call-attribution API, at few tokens.
// createServer wraps a client; serveStdio and serveHttp connect it to assistants; callTool calls a tool in process.
// Personal data is masked and text from visitors is fenced unless the options say otherwise.

export type { JsonSchema, ObjectSchema, OutputOf } from './arguments/schema.ts';
export type { Cell, RecordView } from './fields/view.ts';
export type {
  AuthMetadata,
  HttpAuth,
  HttpEndpoint,
  HttpMount,
  HttpOptions,
  MountOptions,
} from './http/options.ts';
export type { Reveal } from './privacy/mask.ts';
export type { MethodHandler, RequestContext, ServerDefinition } from './protocol/definition.ts';
export { type CallsMcpServer, createServer } from './server/create-server.ts';
export type { McpAccount } from './server/lane.ts';
export type { CallsMcpOptions } from './server/options.ts';
export { callTool, mountHttp, serveHttp, serveStdio } from './server/serve.ts';
export type { McpChoices } from './setup/options.ts';
export { type ServedAccount, type ServeIo, serveProgram } from './setup/serve-program.ts';
export type { StdioConnection, StdioStreams } from './stdio/streams.ts';
export type { CallRequest, ToolCaller, ToolContent, ToolResult } from './tools/call.ts';
export { type CustomTool, defineTool } from './tools/custom-tool.ts';
export { toolInfos as tools } from './tools/index.ts';
export type { CustomToolContext, ToolInfo } from './tools/tool.ts';
export type { ToolTrace } from './tools/trace.ts';
