import { checkFilter } from './check-filter.ts';
import { countCalls } from './count-calls.ts';
import { getCall } from './get-call.ts';
import { listCalls } from './list-calls.ts';
import { listSmsNumbers } from './list-sms-numbers.ts';
import { summarizeCalls } from './summarize-calls.ts';
import type { Tool } from './tool.ts';

/** Every tool, in the order agents see them. The order never changes between two listings. */
export const tools: readonly Tool[] = [
  listCalls,
  getCall,
  countCalls,
  summarizeCalls,
  listSmsNumbers,
  checkFilter,
];
