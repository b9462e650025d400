// calls: list, export, sync, report and upload call records from the command line. The program is
// the bin `calls`. The module has only `run`, for programs that embed the command line.
export type { Input, Io, Output } from './io.ts';
export { run } from './run.ts';
