import type { CallsError } from '@call-attribution/core/errors';
import type { QuestionError } from '@call-attribution/questions';
import type { WarehouseErrorCode } from '@call-attribution/warehouse';
import { CliError } from '../errors.ts';
import { exitCodes, exitOf } from '../exit-codes.ts';
import { sqlFailure } from './sql.ts';

/** The error of a warehouse, recognized without loading the package. */
export function isWarehouseError(error: unknown): error is CallsError<WarehouseErrorCode> {
  return error instanceof Error && error.name === 'WarehouseError';
}

/** A question that cannot be answered, wherever it was asked. */
export function isQuestionError(error: unknown): error is QuestionError {
  return error instanceof Error && error.name === 'QuestionError';
}

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

/** The error of a warehouse as the command line shows it. */
export function warehouseFailure(error: CallsError<WarehouseErrorCode>): CliError {
  const { code, hint, summary: message } = error;
  if (code === 'invalid_sql') return sqlFailure(message, hint, error);
  const exitCode = exitOf(error);
  if (code === 'time_limit') {
    return new CliError('the question took longer than its time limit and was stopped', {
      exitCode,
      hints: [
        'CALLS_TIMEOUT=5m raises the limit, as --timeout of calls sql does; or choose a shorter time or fewer groups',
      ],
      cause: error,
    });
  }
  if (code === 'memory_limit') {
    // No option raises the limit, so the advice for programs is of no use here. Of a load, the question is the cause.
    const isLoad = isWarehouseError(error.cause);
    return new CliError(
      `${isLoad ? 'storing the calls' : 'the question'} needs more memory than a warehouse may use`,
      {
        exitCode,
        hints: [
          isLoad
            ? 'the calls that were read are kept; openWarehouse(file, { memory }) in a program stores them'
            : 'choose a shorter time or fewer groups',
        ],
        cause: error,
      },
    );
  }
  return new CliError(message, { exitCode, hints: hint ? hint.split('\n') : [], cause: error });
}
