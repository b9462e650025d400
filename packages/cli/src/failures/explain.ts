import type { CallsError } from '@call-attribution/core/errors';
import type { FilterSyntaxError } from '@call-attribution/query-dsl';
import type { QuestionError } from '@call-attribution/questions';
import { CliError, filterMistake, systemCode, UsageError } from '../errors.ts';
import { exitOf } from '../exit-codes.ts';
import { type Io, outputError, say } from '../io.ts';
import { styleFor } from '../terminal/style.ts';
import { fleetFailure } from './fleet.ts';
import { questionFailure } from './question.ts';
import { explainRequest, type HasOption } from './request.ts';

/** Says on stderr what failed and what to do, and resolves with the exit status. */
export async function report(
  error: unknown,
  io: Io,
  { debug, has }: { readonly debug: boolean; readonly has?: HasOption },
): Promise<number> {
  const shown = await explain(error, has);
  const style = styleFor(io.stderr, io.env);
  say(io, `${style.red('calls:')} ${shown.message}`);
  if (shown.detail) for (const line of shown.detail.split('\n')) say(io, `  ${line}`);
  for (const hint of shown.hints) say(io, `  ${style.dim('→')} ${hint}`);
  if (debug) await trace(error, io);
  return shown.exitCode;
}

/** The message for any error, what to do about it, and the exit status. */
export async function explain(error: unknown, has: HasOption = () => false): Promise<CliError> {
  if (error instanceof CliError) return error;
  const { CallsError } = await import('@call-attribution/core/errors');
  return CallsError.is(error) ? explainCallsError(error, has) : unexpected(error);
}

function unexpected(error: unknown): CliError {
  const code = systemCode(error);
  if (code !== null && error instanceof Error && 'path' in error) {
    const written = outputError(error, String(error.path));
    if (written instanceof CliError) return written;
  }
  return new CliError(error instanceof Error ? error.message : String(error), {
    cause: error,
    hints: ['this is an unexpected error; --debug shows where it happened'],
  });
}

// Classes are told apart by name, so that no package is loaded for an error that it did not throw.
async function explainCallsError(error: CallsError, has: HasOption): Promise<CliError> {
  switch (error.name) {
    case 'FilterSyntaxError':
      return filterMistake((error as FilterSyntaxError).problem);
    case 'InputError':
      return new UsageError(error.summary, {
        hints: error.hint === undefined ? [] : [error.hint],
        cause: error,
      });
    case 'FileLockedError':
    case 'CheckpointError':
      return new CliError(error.message, { exitCode: exitOf(error), cause: error });
    case 'QuestionError':
      return questionFailure(error as QuestionError);
    case 'StoreError':
      return storeFailure(error);
    case 'FleetError':
      return fleetFailure(error);
    default:
      return explainRequest(error, has);
  }
}

function storeFailure(error: CallsError): CliError {
  const { code, message, summary, hint } = error;
  if (code === 'time_limit')
    return new CliError('the question took longer than its time limit and was stopped', {
      hints: ['--timeout 5m raises the limit; or ask for a shorter time'],
      cause: error,
    });
  if (code === 'invalid_sql')
    return new UsageError(summary, {
      hints: hint === undefined ? [] : [`${hint.charAt(0).toLowerCase()}${hint.slice(1).replace(/\.$/, '')}`],
      cause: error,
    });
  if (code === 'unknown_account')
    return new UsageError(summary, {
      hints: ['calls store accounts lists those it has; calls store accounts add --account 101 adds one'],
      cause: error,
    });
  if (code === 'store_missing')
    return new UsageError(summary, { hints: hint === undefined ? [] : [hint], cause: error });
  return new CliError(message, { exitCode: exitOf(error), cause: error });
}

async function trace(error: unknown, io: Io): Promise<void> {
  const { redact } = await import('@call-attribution/core');
  let cause: unknown = error;
  for (let depth = 0; cause !== undefined && depth < 5; depth++) {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    for (const line of redact(text).split('\n')) say(io, `  ${depth === 0 ? '' : 'cause: '}${line}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
}
