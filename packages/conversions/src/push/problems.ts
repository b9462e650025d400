import { CallsError, type CodeTable, codeTable, nameErrors } from '@call-attribution/core/errors';

/** Why conversions could not be sent, as facts. `PushError` has a sentence for each. */
export type PushProblem =
  | { readonly code: 'no_credentials'; readonly looked: readonly string[] }
  | { readonly code: 'key_file_unreadable'; readonly file: string; readonly reason: string }
  | { readonly code: 'bad_destination'; readonly name: string; readonly expected: string }
  | { readonly code: 'unreachable'; readonly host: string; readonly reason: string }
  | { readonly code: 'unreadable_response'; readonly host: string; readonly status: number }
  | {
      readonly code: 'refused';
      readonly host: string;
      readonly status: number;
      /** Name of the error at the tool, such as `PERMISSION_DENIED`. */
      readonly reason: string;
      /** What the tool says, without personal data. */
      readonly detail: string;
      /** May the same request succeed later? */
      readonly mayPass: boolean;
    };

const pushErrors = codeTable({
  usage: {
    no_credentials: 'No credentials were found. Set them in one of the places that the message lists.',
    key_file_unreadable: 'The key file cannot be read. Check its path and permissions.',
    bad_destination:
      'The destination or the endpoint lacks something, or has it in the wrong form. Write it as the message shows.',
  },
  away: { unreachable: 'The tool cannot be reached. Check the network and try again.' },
  data: {
    unreadable_response: 'The response of the tool cannot be read. Try again later.',
    refused:
      "The tool refused the request. The message has the tool's own reason; `isRetryable` says whether it may pass later.",
  },
});

/** Conversions could not be sent. It holds no credential and nothing about a caller. */
export class PushError extends CallsError<PushProblem['code']> {
  static override readonly codes: CodeTable = pushErrors;
  /** What happened, as facts. */
  readonly problem: PushProblem;
  /** May the tool have taken the request all the same? */
  readonly mayBeTaken: boolean;

  static {
    nameErrors(PushError, 'PushError');
  }

  constructor(problem: PushProblem, { mayBeTaken = false }: { readonly mayBeTaken?: boolean } = {}) {
    const [message, hint] = pushProblemText(problem);
    super(problem.code, hint === undefined ? message : { message, hint }, {
      ...(problem.code === 'refused' ? { isRetryable: problem.mayPass } : {}),
      ...('status' in problem && (problem.status === 401 || problem.status === 403) ? { kind: 'keys' } : {}),
      ...('status' in problem ? { status: problem.status } : {}),
    });
    this.problem = problem;
    this.mayBeTaken = mayBeTaken;
  }
}

/** Says why conversions could not be sent: the message, then what to do. */
function pushProblemText(problem: PushProblem): [message: string, hint?: string] {
  switch (problem.code) {
    case 'no_credentials':
      return [
        `no Google credentials were found (looked at ${problem.looked.join(', ')})`,
        'set GOOGLE_APPLICATION_CREDENTIALS to a key file, or run gcloud auth application-default login',
      ];
    case 'key_file_unreadable':
      return [`the key file ${problem.file} cannot be read: ${problem.reason}`];
    case 'bad_destination':
      return [`${problem.name} must be ${problem.expected}`];
    case 'unreachable':
      return [
        `${problem.host} cannot be reached: ${problem.reason}`,
        'what was not sent is sent by the next run',
      ];
    case 'unreadable_response':
      return [
        `${problem.host} sent a response with status ${problem.status} that cannot be read`,
        'what was not sent is sent by the next run',
      ];
    case 'refused':
      return [
        `${problem.host} refused the request: ${problem.reason} (status ${problem.status})${problem.detail === '' ? '' : `: ${problem.detail}`}`,
        ...(refusalHint(problem.reason) ?? []),
      ];
  }
}

function refusalHint(reason: string): [string] | undefined {
  switch (reason) {
    case 'PERMISSION_DENIED':
      return ['give the user of the credentials access to the account, and enable the API in its project'];
    case 'UNAUTHENTICATED':
    case 'invalid_grant':
      return ['the credentials have expired or were revoked; create new ones'];
    default:
      return undefined;
  }
}

declare module '@call-attribution/core/errors' {
  interface ErrorFamily {
    /** See `PushError` of conversions. */
    PushError: PushError;
  }
}
