import type { Environment } from '@call-attribution/core/settings';
import { FleetError } from '../errors.ts';

/** Keys of a bucket. */
export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For keys that end after some time. */
  readonly sessionToken: string | null;
}

/** Where a bucket is and who asks. */
export interface BucketAddress {
  /** Scheme, host and port of the server. */
  readonly endpoint: URL;
  readonly region: string;
  readonly bucket: string;
  /** What all keys begin with: empty, or with a slash at its end. */
  readonly prefix: string;
  readonly keys: BucketKeys;
}

/**
 * Reads `s3://bucket/prefix`, and the server and the keys from the variables that other programs use for S3, too.
 *
 * @throws {FleetError} `target_unfit` when the address is not one, `credential_missing` when there are no keys.
 */
export function bucketAddress(into: string, env: Environment): BucketAddress {
  const { bucket, prefix } = bucketPlace(into);
  const named = (name: string) => env[name]?.trim() || null;
  const accessKeyId = named('AWS_ACCESS_KEY_ID');
  const secretAccessKey = named('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === null || secretAccessKey === null) {
    const missing = [
      ...(accessKeyId === null ? ['AWS_ACCESS_KEY_ID'] : []),
      ...(secretAccessKey === null ? ['AWS_SECRET_ACCESS_KEY'] : []),
    ];
    throw new FleetError('credential_missing', `There are no keys for ${bucketName(bucket, prefix)}.`, {
      hint: `Set ${missing.join(' and ')}. For another server than that of AWS, also set AWS_ENDPOINT_URL.`,
    });
  }
  const region = named('AWS_REGION') ?? named('AWS_DEFAULT_REGION') ?? 'us-east-1';
  const variable = named('AWS_ENDPOINT_URL_S3') === null ? 'AWS_ENDPOINT_URL' : 'AWS_ENDPOINT_URL_S3';
  const url = named(variable) ?? `https://s3.${region}.amazonaws.com`;
  const endpoint = URL.canParse(url) ? new URL(url) : null;
  if (
    endpoint === null ||
    !/^https?:$/.test(endpoint.protocol) ||
    endpoint.username + endpoint.password + endpoint.search + endpoint.hash !== '' ||
    endpoint.pathname !== '/'
  )
    throw new FleetError('target_unfit', `${variable} is not the address of a server.`, {
      hint: 'Write it as https://host or https://host:port, without a path or a user name.',
    });
  const keys = { accessKeyId, secretAccessKey, sessionToken: named('AWS_SESSION_TOKEN') };
  return { endpoint, region, bucket, prefix, keys };
}

/** The bucket with its prefix, for people. */
export const bucketName = (bucket: string, prefix: string): string =>
  `s3://${bucket}/${prefix}`.replace(/\/$/, '');

const form = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s;

function bucketPlace(into: string): { bucket: string; prefix: string } {
  const [, bucket, rest = ''] = form.exec(into) ?? [];
  // The text itself is not repeated: somebody may have written a key into it.
  if (bucket === undefined)
    throw new FleetError('target_unfit', 'This address of a bucket cannot be used.', {
      hint: 'Write it as s3://bucket or s3://bucket/prefix. Names of buckets have 3 to 63 small letters, digits, dots and hyphens.',
    });
  const folders = rest.split('/').filter((part) => part !== '');
  if (folders.some((part) => part === '.' || part === '..' || /[\p{Cc}?#]/u.test(part)))
    throw new FleetError('target_unfit', `The prefix of s3://${bucket} cannot be used.`, {
      hint: 'Folders of a prefix may not be . or .., and may not have ?, # or control characters.',
    });
  return { bucket, prefix: folders.map((part) => `${part}/`).join('') };
}
