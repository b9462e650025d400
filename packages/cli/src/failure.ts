import type { CallsError } from '@call-attribution/core';
import { CliError, isStoreError, systemCode, UsageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { type Io, outputError, say } from './io.ts';
import { styleFor } from './term/style.ts';
import { isWarehouseError, warehouseFailure } from './warehouse-failure.ts';

/** Says on stderr what failed and what to do, and resolves with the exit status. */
export async function report(error: unknown, io: Io, debug: boolean): Promise<number> {
  const shown = await explain(error);
  const style = styleFor(io.stderr, io.env);
  say(io, `${style.red('calls:')} ${shown.message}`);
  if (shown.detail) for (const line of shown.detail.split('\n')) say(io, `  ${line}`);
  for (const hint of shown.hints) say(io, `  ${style.dim('→')} ${hint}`);
  if (debug) await trace(error, io);
  return shown.exitCode;
}

/** The message for any error, what to do about it, and the exit status. */
export async function explain(error: unknown): Promise<CliError> {
  if (error instanceof CliError) return error;
  const { FilterSyntaxError } = await import('@call-attribution/query-dsl');
  if (error instanceof FilterSyntaxError) {
    const { filterProblem } = await import('./calls/filter.ts');
    return filterProblem(error.problem, null);
  }
  const { CallsError } = await import('@call-attribution/core');
  if (error instanceof CallsError) return explainCallsError(error);
  const { CheckpointError, FileLockedError, IncompleteError, StreamError } = await import(
    '@call-attribution/node-stream'
  );
  if (error instanceof FileLockedError)
    return new CliError(error.message, { exitCode: exitCodes.output, cause: error });
  if (error instanceof CheckpointError) return new UsageError(error.message, { cause: error });
  if (error instanceof IncompleteError) {
    return new CliError(error.message, {
      exitCode: exitCodes.incomplete,
      cause: error,
      hints: ['run the same command again with --resume'],
    });
  }
  if (error instanceof StreamError) {
    const { exitCode, hints } = await explain(error.cause);
    return new CliError(error.message, { exitCode, hints, cause: error });
  }
  if (isStoreError(error)) {
    const exitCode = error.code === 'disk_full' ? exitCodes.output : exitCodes.failed;
    return new CliError(error.message, { exitCode, cause: error });
  }
  if (isWarehouseError(error)) return warehouseFailure(error);
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

// Error codes of core, grouped by what the user can do about them.
const refused = new Set([
  'unauthorized',
  'forbidden',
  'invalid_credentials',
  'auth_mismatch',
  'missing_auth',
]);
const usage = new Set(['invalid_option', 'invalid_argument', 'missing_legacy_url']);
const unreachable = new Set([
  'dns_failed',
  'connection_failed',
  'connection_lost',
  'tls_failed',
  'connect_timeout',
  'idle_timeout',
  'attempt_timeout',
  'total_timeout',
]);

function explainCallsError(error: CallsError): CliError {
  const { code } = error;
  const exitCode = refused.has(code)
    ? exitCodes.refused
    : usage.has(code)
      ? exitCodes.usage
      : unreachable.has(code)
        ? exitCodes.unreachable
        : code === 'not_found'
          ? exitCodes.notFound
          : exitCodes.failed;
  const hints = [
    ...(error.hint ? [error.hint] : []),
    ...(exitCode === exitCodes.refused || exitCode === exitCodes.unreachable
      ? ['run calls check to try the configuration item by item']
      : []),
    ...(error.retryAfterMs === undefined
      ? []
      : [`the server asks you to wait ${Math.ceil(error.retryAfterMs / 1000)} s`]),
    ...(error.requestId === undefined
      ? []
      : [`request ID, for the support of the server: ${error.requestId}`]),
  ];
  return new CliError(error.message, { exitCode, hints, cause: error });
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
