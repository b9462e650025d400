import {
  CallsError,
  type CodeTable,
  codeTable,
  type ErrorDetails,
  type ErrorWords,
  nameErrors,
} from '@call-attribution/core/errors';

const fleetErrors = codeTable({
  usage: {
    job_invalid:
      'The job file has an invalid setting, a key in clear, or differs from that of other workers; or the engine has no such job or account. The message says which, and what is expected.',
    unfit_place:
      'The engine or the target cannot be used: permissions, an old Node.js, a wrong address, or a server that ignores conditions. The message says what is missing.',
  },
  keys: {
    credential_missing:
      'The credentials of an account are not where the job says. Put them there, then run `calls fleet retry`.',
  },
  busy: {
    claim_lost: 'Another worker has claimed the same since. Nothing is wrong: it does the work.',
  },
  away: {
    engine_unavailable:
      'The engine cannot be reached. Check its address and that it runs; workers wait for it.',
    target_unavailable:
      'The target cannot be reached or written to, or another process works on it without an engine, which is of the kind busy. Check its server, disk and permissions; workers try again.',
  },
  data: {
    not_whole:
      'The calls were read several times and are still not proved to be all there. The message says what is missing.',
  },
});

/** What can go wrong with a fleet. Codes are stable; messages may be reworded. */
export type FleetErrorCode = keyof typeof fleetErrors;

/**
 * Something went wrong in a fleet. The message says what, and what to do; it never holds a secret
 * or data of a caller.
 */
export class FleetError extends CallsError<FleetErrorCode> {
  static override readonly codes: CodeTable = fleetErrors;
  static {
    nameErrors(FleetError, 'FleetError');
  }

  constructor(code: FleetErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
  }
}

/** The error of a job that cannot be used. */
export const jobError = ({ message, hint }: ErrorWords): FleetError =>
  new FleetError('job_invalid', message, hint === undefined ? {} : { hint });

/**
 * Somebody else has claimed the same, so that what was written under the older claim does not
 * count.
 */
export const claimLost = (cause?: unknown): FleetError =>
  new FleetError('claim_lost', 'Another worker has claimed the same since, and continues it.', {
    cause,
  });

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `FleetError` of fleet. */
    FleetError: FleetError;
  }
}
