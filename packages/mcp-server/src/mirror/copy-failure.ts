import { CallsError } from '@call-attribution/core/errors';
import { isObject } from '../protocol/messages.ts';
import { ToolError } from '../text/failures.ts';
import { codeOf } from './library.ts';
import { reasonOf } from './mirror.ts';

/** Questions of the agent that the warehouse refuses: another question helps. */
const questions = new Set([
  'invalid_question',
  'invalid_condition',
  'unknown_name',
  'ambiguous_name',
  'invalid_period',
  'unknown_account',
  'personal_data',
]);

/** Names of arguments where the warehouse has options. */
const renamed: Readonly<Record<string, string>> = {
  groupBy: 'group_by',
  topPer: 'top_per',
  inZone: 'time_zone',
  timeZone: 'CALLS_TIME_ZONE',
};

/** A failure of the copy as one of a tool. */
export function copyFailure(error: unknown): unknown {
  if (
    error instanceof ToolError ||
    !(error instanceof Error) ||
    !['WarehouseError', 'QuestionError'].includes(error.name)
  )
    return error;
  const code = String(codeOf(error));
  if (CallsError.is(error) && 'problem' in error && isObject(error.problem)) {
    const { corrected } = error.problem;
    return new ToolError({
      code: 'invalid_having',
      message: error.summary,
      corrected: typeof corrected === 'string' ? corrected : undefined,
    });
  }
  const message = error.message.replace(
    /`?\b(groupBy|topPer|inZone|timeZone)\b`?/g,
    (_, name: string) => renamed[name] ?? name,
  );
  if (questions.has(code)) return new ToolError({ code: 'invalid_question', message });
  return new ToolError({
    code: 'copy_failed',
    reason: reasonOf(error),
    mayPass: ['in_use', 'time_limit', 'memory_limit'].includes(code),
  });
}
