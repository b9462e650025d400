import type { QuestionError } from '@call-attribution/questions';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** Options of the command line where questions have others. */
const renamed = new Map([
  ...['measures', 'where', 'order', 'limit', 'compare', 'period', 'from', 'to', 'q'].map(
    (name) => [name, `--${name}`] as const,
  ),
  ['groupBy', '--by'],
  ['timeZone', '--time-zone'],
]);

/** The error of a question as the command line shows it. */
export function questionFailure(error: QuestionError): CliError {
  const { hint, said } = error;
  const words = said.map((part) =>
    typeof part === 'string' ? part : (renamed.get(part.option) ?? part.option),
  );
  return new CliError(words.join(''), {
    exitCode: exitCodes.usage,
    hints: hint ? hint.split('\n') : [],
    cause: error,
  });
}
