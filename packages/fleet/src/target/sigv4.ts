import { createHash, createHmac } from 'node:crypto';

/** Keys of a bucket. */
export interface BucketKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For keys that end after some time. */
  readonly sessionToken: string | null;
}

/** A request before it is signed. */
export interface UnsignedRequest {
  readonly method: string;
  /** Host, with a port unless it is the usual one. */
  readonly host: string;
  /** Path, already written with `uriPath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** All of them are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hex. */
  readonly bodySha256: string;
}

/** SHA-256 of no bytes. */
export const emptySha256 = createHash('sha256').digest('hex');

/**
 * The headers of a request with its signature, as version 4 of the process for S3 has it. The body is always signed by its hash.
 *
 * @param time milliseconds since 1970.
 */
export function signedHeaders(
  { method, host, path, query = {}, headers = {}, bodySha256 }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: BucketKeys,
  region: string,
  time: number,
): Record<string, string> {
  const stamp = new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
  const all: Record<string, string> = {
    host,
    'x-amz-content-sha256': bodySha256,
    'x-amz-date': stamp,
    ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
  };
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  const names = Object.keys(all).sort();
  const request = [
    method,
    path,
    uriQuery(query),
    ...names.map((name) => `${name}:${(all[name] as string).trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    bodySha256,
  ].join('\n');
  const scope = `${stamp.slice(0, 8)}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, scope, sha256(request)].join('\n');
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of scope.split('/')) key = hmac(key, part);
  const signature = hmac(key, text).toString('hex');
  const credential = `Credential=${accessKeyId}/${scope}`;
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 ${credential},SignedHeaders=${names.join(';')},Signature=${signature}`,
  };
}

/** A path from a bucket and a key: every character but letters, digits and `-._~/` as the bytes of its UTF-8. */
export const uriPath = (text: string): string => text.split('/').map(uriPart).join('/');

/** A query in the order of its names. */
export const uriQuery = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => [uriPart(name), uriPart(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');

/** `encodeURIComponent` leaves five characters that the signature does not. */
const uriPart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
