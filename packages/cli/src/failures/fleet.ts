import type { CallsError } from '@call-attribution/core/errors';
import type { FleetErrorCode } from '@call-attribution/fleet';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

const exits: Readonly<Partial<Record<FleetErrorCode, number>>> = {
  job_invalid: exitCodes.usage,
  job_differs: exitCodes.usage,
  unknown_job: exitCodes.usage,
  unknown_account: exitCodes.usage,
  engine_unfit: exitCodes.usage,
  target_unfit: exitCodes.usage,
  credential_missing: exitCodes.refused,
  engine_unavailable: exitCodes.unreachable,
  target_unavailable: exitCodes.unreachable,
  target_locked: exitCodes.busy,
};

const hints: Readonly<Partial<Record<FleetErrorCode, string>>> = {
  unknown_job: 'calls fleet work JOB.json starts it',
  engine_unavailable: 'check the address of --engine (CALLS_FLEET), and that the server runs',
};

/** The same where the error has none of its own. */
const otherHints: Readonly<Partial<Record<FleetErrorCode, string>>> = {
  credential_missing: '--keys (CALLS_FLEET_KEYS) names the folder with the credentials',
};

/** Codes of keys that are missing or do not open an account. */
export const refusedCodes: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'missing_auth',
  'auth_mismatch',
  'invalid_credentials',
  'credential_missing',
]);

/** The same for a store that a job writes into: what is wrong with the job, and what may pass. */
export function targetFailure(error: CallsError): CliError | null {
  const exitCode = ofStore[error.code];
  if (error.name !== 'StoreError' || exitCode === undefined) return null;
  return new CliError(error.summary.replace(/\.$/, ''), {
    exitCode,
    hints: error.hint ? error.hint.split('\n') : [],
    cause: error,
  });
}

const ofStore: Readonly<Record<string, number>> = {
  store_url: exitCodes.usage,
  missing_package: exitCodes.usage,
  store_version: exitCodes.usage,
  store_unavailable: exitCodes.unreachable,
  store_busy: exitCodes.unreachable,
  disk_full: exitCodes.output,
  not_writable: exitCodes.output,
};

/** The error of a fleet as the command line shows it. */
export function fleetFailure(error: CallsError<FleetErrorCode>): CliError {
  const { code, hint, summary } = error;
  const next = hints[code] ?? hint ?? otherHints[code];
  return new CliError(summary.replace(/\.$/, ''), {
    exitCode: exits[code] ?? exitCodes.failed,
    hints: next ? next.split('\n') : [],
    cause: error,
  });
}
