import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorWords,
  nameErrors,
} from '@call-attribution/core/errors';

const fleetErrors = codeTable({
  job_invalid:
    'The job file has a setting that cannot be used, or names a key in clear. The message says which, and what is expected.',
  job_differs:
    'A job of this name was planned with other settings. Use another name, or the settings it was planned with.',
  job_newer: 'A later release planned the job. Update this program.',
  unknown_job: 'The board has no such job. Plan it first.',
  unknown_account: 'The job has no such account. `calls fleet status --all` lists them.',
  credential_missing:
    'The credentials of an account are not where the job says. Put them there, then run `calls fleet retry`.',
  board_unavailable: 'The board cannot be reached. Check its address and that it runs; workers wait for it.',
  board_unfit:
    'The board cannot be used: no JetStream, no permission, or an address that is not one. The message says what is missing.',
  target_unavailable:
    'The target cannot be reached or written to for now. Check its server, disk and permissions; workers try again.',
  target_unfit:
    'The target does not keep what the fleet relies on, or holds something else. The message says what, and what to use instead.',
  claim_lost: 'Another worker has claimed the same since. Nothing is wrong: it does the work.',
});

/** What can go wrong with a fleet. Codes are stable; messages may be reworded. */
export type FleetErrorCode = keyof typeof fleetErrors;

/** Something went wrong in a fleet. The message says what, and what to do; it never holds a secret or data of a caller. */
export class FleetError extends CallsError<FleetErrorCode> {
  static override readonly codes: CodeTable = fleetErrors;
  static {
    nameErrors(FleetError, 'FleetError');
  }

  constructor(code: FleetErrorCode, message: string, details: { hint?: string; cause?: unknown } = {}) {
    super(code, message, { ...details, isRetryable: passing.has(code) });
  }
}

/** The error of a job that cannot be used. */
export const jobError = ({ message, hint }: ErrorWords): FleetError =>
  new FleetError('job_invalid', message, hint === undefined ? {} : { hint });

/** What ends by itself. */
const passing: ReadonlySet<FleetErrorCode> = new Set(['board_unavailable', 'target_unavailable']);

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `FleetError` of fleet. */
    FleetError: FleetError;
  }
}
