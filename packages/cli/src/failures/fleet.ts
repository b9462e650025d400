import type { CallsError } from '@call-attribution/core/errors';
import type { FleetErrorCode } from '@call-attribution/fleet';
import { CliError } from '../errors.ts';
import { exitOf } from '../exit-codes.ts';

const hints: Readonly<Partial<Record<FleetErrorCode, string>>> = {
  engine_unavailable: 'check the address of --engine (CALLS_FLEET), and that the server runs',
};

/** The same where the error has none of its own. */
const otherHints: Readonly<Partial<Record<FleetErrorCode, string>>> = {
  credential_missing: '--keys (CALLS_FLEET_KEYS) names the folder with the credentials',
};

/** The error of a fleet, or of the store that a job writes into, as the command line shows it. */
export function fleetFailure(error: CallsError): CliError {
  const code = error.code as FleetErrorCode;
  const next = hints[code] ?? error.hint ?? otherHints[code];
  return new CliError(error.summary.replace(/\.$/, ''), {
    exitCode: exitOf(error),
    hints: next ? next.split('\n') : [],
    cause: error,
  });
}
