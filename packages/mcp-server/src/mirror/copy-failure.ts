import { ToolError } from '../text/failures.ts';
import { questionFailure } from '../text/question-failure.ts';
import { codeOf } from './library.ts';
import { reasonOf } from './mirror.ts';

/** A failure of the copy as one of a tool. */
export function copyFailure(error: unknown): unknown {
  const known = questionFailure(error);
  if (known !== error || !(error instanceof Error) || error.name !== 'WarehouseError') return known;
  const code = String(codeOf(error));
  return new ToolError({
    code: 'copy_failed',
    reason: reasonOf(error),
    mayPass: ['in_use', 'time_limit', 'memory_limit'].includes(code),
  });
}
