import type { PushProblem } from './problems.ts';

/** Says why conversions could not be sent: the message, then what to do. */
export function pushProblemText(problem: PushProblem): [message: string, hint?: string] {
  switch (problem.code) {
    case 'no_credentials':
      return [
        `no Google credentials were found (looked at ${problem.looked.join(', ')})`,
        'set GOOGLE_APPLICATION_CREDENTIALS to a key file, or run gcloud auth application-default login',
      ];
    case 'key_file_unreadable':
      return [`the key file ${problem.file} cannot be read: ${problem.reason}`];
    case 'key_file_incomplete':
      return [`the key file ${problem.file} has no ${problem.missing}`, 'download it again'];
    case 'key_file_kind':
      return [
        `the key file ${problem.file} is of the kind ${JSON.stringify(problem.kind)}, which is not supported`,
        'use a service account, an authorized user or an impersonated service account',
      ];
    case 'strange_token_server':
      return [
        `the key file ${problem.file} sends its key to ${problem.host}, which is not a server of Google`,
        'use only key files that you have downloaded yourself',
      ];
    case 'bad_endpoint':
      return [
        `the endpoint ${JSON.stringify(problem.endpoint)} must be an https URL; plain http is for this machine only`,
      ];
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
