import type { QuestionError } from '@call-attribution/questions';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** Options of the command line where questions have others. */
const renamed = {
  groupBy: '--by',
  timeZone: '--time-zone',
  ...Object.fromEntries(
    ['measures', 'where', 'order', 'limit', 'compare', 'period', 'from', 'to', 'q'].map((name) => [
      name,
      `--${name}`,
    ]),
  ),
};

/** The error of a question as the command line shows it. */
export function questionFailure(error: QuestionError): CliError {
  const { hint } = error;
  return new CliError(error.summaryWith(renamed), {
    exitCode: exitCodes.usage,
    hints: hint ? hint.split('\n') : [],
    cause: error,
  });
}
