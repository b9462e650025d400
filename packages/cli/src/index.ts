// calls: list, export, sync, report and upload call records from the terminal.
// The program is the bin `calls`; as a module there is only `run`, for tests and for programs that embed it.
// It is thin: reading is core's and node-stream's, serving is service's, tools for assistants are mcp-server's.
export type { Input, Io, Output } from './io.ts';
export { run } from './run.ts';
