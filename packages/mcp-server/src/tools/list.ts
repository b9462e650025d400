import { analyzeCalls } from './analyze-calls.ts';
import { countCalls } from './count-calls.ts';
import { describeData } from './describe-data.ts';
import { getCall } from './get-call.ts';
import { listCalls } from './list-calls.ts';
import { listSmsNumbers } from './list-sms-numbers.ts';
import { saveCsvInfo } from './save-csv.ts';
import type { Tool, ToolInfo } from './tool.ts';

/** Every tool, in the order agents see them. The order never changes between two listings. */
export const tools: readonly Tool[] = [
  analyzeCalls,
  listCalls,
  getCall,
  countCalls,
  describeData,
  listSmsNumbers,
];

/** The tools of this package as hosts and agents see them. */
export const toolInfos: readonly ToolInfo[] = [...tools, saveCsvInfo];
