import { InvalidCondition, QuestionError } from '@call-attribution/questions';
import { ToolError } from './failures.ts';

/** Names of arguments where questions have options. */
const renamed: ReadonlyMap<string, string> = new Map([
  ['groupBy', 'group_by'],
  ['topPer', 'top_per'],
  ['inZone', 'time_zone'],
  ['timeZone', 'CALLS_TIME_ZONE'],
]);

/** An error of a question as one of a tool; any other as it is. */
export function questionFailure(error: unknown): unknown {
  if (error instanceof InvalidCondition) {
    const { argument, problem } = error;
    const { message, frame, corrected } = problem;
    return new ToolError({ code: 'invalid_where', argument, message, frame, corrected });
  }
  if (!(error instanceof QuestionError)) return error;
  const words = error.said.map((part) =>
    typeof part === 'string' ? part : (renamed.get(part.option) ?? part.option),
  );
  return new ToolError({ code: 'invalid_question', message: words.join('') });
}
