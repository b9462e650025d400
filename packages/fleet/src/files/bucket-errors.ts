import { FleetError } from '../errors.ts';
import type { BucketReply, NoAnswer } from './bucket-http.ts';

// What a server refuses, in words. Its own sentences are not repeated: they may quote keys.

/** The error for a response that was not expected. */
export function refusedBy(name: string, host: string, answer: BucketReply): FleetError {
  const { status } = answer;
  const code = codeIn(answer);
  const said = code === null ? `${status}` : `${status} ${code}`;
  if (code === 'RequestTimeTooSkewed')
    return unavailable(`${host} refused a request to ${name} (${said}).`, 'Set the clock of this machine.');
  if (code === 'NoSuchBucket')
    return unfit(`${host} has no bucket for ${name}.`, 'Create it, or correct the name.');
  if ((status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed') {
    const region = answer.headers['x-amz-bucket-region'];
    const known = typeof region === 'string' && /^[\w-]{1,40}$/.test(region);
    return unfit(
      `${host} does not have ${name} in this region (${said}).`,
      known ? `Set AWS_REGION=${region}.` : 'Set AWS_REGION to the region of the bucket.',
    );
  }
  if (status === 401 || status === 403 || (code !== null && keyCodes.has(code)))
    return unavailable(
      `${host} refused the keys for ${name} (${said}).`,
      'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and that they may list the bucket, and get and put its objects.',
    );
  if ((status >= 500 && status !== 501) || status === 429 || status === 408 || status === 409)
    return unavailable(`${host} could not do what ${name} needs (${said}).`, 'It will be tried again.');
  return unfit(
    `${host} refused a request for ${name} (${said}).`,
    'Use a server that knows the requests of S3, or another target.',
  );
}

/** The error when all attempts remained without a response. */
export const unansweredBy = (name: string, host: string, { code }: NoAnswer): FleetError =>
  unavailable(
    `${host} does not answer requests for ${name} (${code}).`,
    'Check the network, and AWS_ENDPOINT_URL when it is not the server of AWS.',
  );

/** The error when what came is not what was asked for. */
export const unreadable = (name: string, host: string, what: string): FleetError =>
  unfit(
    `${host} sent something for ${name} that is not ${what}.`,
    'Use a server that knows the requests of S3.',
  );

/** The stable name of an error of S3, when there is one. */
function codeIn({ body }: BucketReply): string | null {
  return /<Code>([A-Za-z.]{1,64})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? null;
}

const keyCodes: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
]);

const unavailable = (message: string, hint: string) =>
  new FleetError('target_unavailable', message, { hint });
const unfit = (message: string, hint: string) => new FleetError('target_unfit', message, { hint });
