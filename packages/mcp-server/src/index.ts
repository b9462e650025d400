// MCP server that gives AI assistants right answers from the call-attribution API, at few tokens.
// createServer wraps a client; serveStdio and serveHttp connect it to assistants; callTool calls a
// tool in process. Personal data is masked and text from visitors is fenced unless the options say
// otherwise.

export type { AuthMetadata, HttpAuth } from './auth.ts';
export type { Configured, FilesByName } from './configured.ts';
export type { Cell, RecordView } from './fields.ts';
export {
  type HttpEndpoint,
  type HttpMount,
  type HttpOptions,
  type MountOptions,
  mountHttp,
  serveHttp,
} from './http.ts';
export type { McpChoices } from './options.ts';
export type { Reveal } from './privacy/mask.ts';
export { type ServedAccount, type ServeIo, serveProgram } from './program.ts';
export {
  type CallsMcpOptions,
  type CallsMcpServer,
  callTool,
  createServer,
  type McpAccount,
} from './server.ts';
export { type StdioConnection, type StdioStreams, serveStdio } from './stdio.ts';
export type { CallRequest, ToolCaller, ToolContent, ToolResult, ToolTrace } from './tools/call.ts';
export { type CustomTool, defineTool } from './tools/custom-tool.ts';
export { toolInfos as tools } from './tools/list.ts';
export type { CustomToolContext, ObjectSchema, OutputOf, ToolInfo } from './tools/tool.ts';
