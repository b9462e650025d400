import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openBucket, testConditions } from '../src/targets/bucket.ts';
import { type BucketBehavior, type Fault, startBucketServer } from './bucket-server.ts';

const usual: Partial<BucketBehavior> = {
  ignores: [],
  etags: 'md5',
  listsNothing: false,
  before: () => undefined,
};
const server = await startBucketServer();
const secret = server.env.AWS_SECRET_ACCESS_KEY as string;
const open = (env: Record<string, string> = {}) =>
  openBucket(
    `s3://${server.bucket}/out`,
    { ...server.env, ...env },
    { attempts: 4, baseDelay: 1, maxDelay: 2 },
  );
const client = open();
afterAll(async () => {
  client.close();
  await server.close();
});
beforeEach(() => {
  Object.assign(server.behavior, usual);
  server.objects.clear();
  server.requests.length = 0;
});

/** Writes one object while its PUTs meet these faults, one after the other. */
function write(
  faults: readonly (Fault | undefined)[],
  replaces: string | null = null,
  by = client,
) {
  const left = [...faults];
  server.behavior.before = ({ method }) => (method === 'PUT' ? left.shift() : undefined);
  return by.put('a=1/p', Buffer.from('mine'), replaces);
}
const stored = () => server.objects.get('out/a=1/p');
const puts = () => server.requests.filter(({ method }) => method === 'PUT').length;
const others = () => client.put('a=1/p', Buffer.from('of another'), null);
const error = (code: string) => ({ code, name: 'FleetError' });

describe('a write under a condition', () => {
  test('is done once when its response arrives', async () => {
    expect(await write([])).toBe(stored()?.etag);
    expect(puts()).toBe(1);
  });

  test.each<[string, Fault]>([
    ['was lost', 'lose'],
    ['was an error of the server', { after: 500 }],
    ['was 412, since an earlier attempt came through late', { after: 412 }],
  ])('is found by its mark when its response %s', async (_, fault) => {
    expect(await write([fault])).toBe(stored()?.etag);
    expect(stored()?.body.toString()).toBe('mine');
  });

  test.each<[string, Fault[]]>([
    ['the connection ends before it', ['cut', 'cut']],
    ['the server fails', [{ status: 500 }, { status: 503 }]],
    ['there are too many requests', [{ status: 429, headers: { 'retry-after': '0' } }]],
    [
      'two come at the same time',
      [{ status: 409, code: 'ConditionalRequestConflict' }, { status: 409 }],
    ],
    ['it arrives long after it was signed', [{ status: 403, code: 'RequestTimeTooSkewed' }]],
    ['the body was changed on the way', [{ status: 400, code: 'BadDigest' }]],
    ['an attempt that was given up comes through later', [{ late: 400 }]],
  ])('is sent again when %s', async (_, faults) => {
    expect(await write(faults)).toBe(stored()?.etag);
    expect(puts()).toBe(faults.length + 1);
    await server.settled();
    expect(stored()?.body.toString()).toBe('mine');
  });

  test('is refused when somebody else was first, and changes nothing', async () => {
    const first = await others();
    for (const faults of [[], ['lose'], [{ status: 500 }]] as Fault[][]) {
      expect(await write(faults)).toBeNull();
      expect(await write(faults, '"0123456789abcdef0123456789abcdef"')).toBeNull();
    }

    expect(stored()?.etag).toBe(first);
    expect(await write([], first)).toBe(stored()?.etag);
    expect(stored()?.etag).not.toBe(first);
  });

  test('is refused when the object to be replaced is gone', async () => {
    expect(await write([], '"0123456789abcdef0123456789abcdef"')).toBeNull();
    expect(stored()).toBeUndefined();
  });

  test('ends with what may pass when it stays unknown whether it was written', async () => {
    const always = Array.from({ length: 9 }, (): Fault => ({ status: 500, code: 'InternalError' }));
    await expect(write(always)).rejects.toMatchObject({
      ...error('target_unavailable'),
      isRetryable: true,
    });
    await expect(write(always.map(() => 'cut'))).rejects.toThrow(
      /does not answer .*\(UND_ERR_SOCKET\)/,
    );
    const gone = open({ AWS_ENDPOINT_URL: 'http://127.0.0.1:2' });
    await expect(write([], null, gone)).rejects.toThrow(
      /127\.0\.0\.1:2 does not answer .*ECONNREFUSED/,
    );
    gone.close();
  });

  test.each<[string, Fault, string, RegExp]>([
    [
      'access',
      { status: 403, code: 'AccessDenied' },
      'target_unavailable',
      /refused the keys .*AccessDenied/,
    ],
    ['old keys', { status: 400, code: 'ExpiredToken' }, 'target_unavailable', /ExpiredToken/],
    [
      'a missing bucket',
      { status: 404, code: 'NoSuchBucket' },
      'unfit_place',
      /no bucket .*Create it/,
    ],
    [
      'another region',
      { status: 301, code: 'PermanentRedirect', headers: { 'x-amz-bucket-region': 'eu-west-9' } },
      'unfit_place',
      /AWS_REGION=eu-west-9/,
    ],
    [
      'what it does not know',
      { status: 501, code: 'NotImplemented' },
      'unfit_place',
      /501 NotImplemented/,
    ],
  ])('says what a server has against it: %s', async (_, fault, code, words) => {
    const failed = await write([fault]).catch((error: unknown) => error);
    expect(failed).toMatchObject(error(code));
    expect(String(failed)).toMatch(words);
    expect(`${String(failed)} ${JSON.stringify(failed)}`).not.toContain(secret);
    expect(puts()).toBe(1);
  });

  test('with wrong keys, another region or no such bucket is refused by the server itself', async () => {
    const tries: [Record<string, string>, RegExp][] = [
      [{ AWS_SECRET_ACCESS_KEY: 'another' }, /SignatureDoesNotMatch/],
      [{ AWS_ACCESS_KEY_ID: 'AKIDOTHER' }, /InvalidAccessKeyId/],
      [{ AWS_REGION: 'us-east-1' }, /AWS_REGION=eu-north-3/],
    ];
    for (const [env, words] of tries) {
      const other = open(env);
      await expect(write([], null, other)).rejects.toThrow(words);
      other.close();
    }
  });
});

describe('the test of a server', () => {
  test('accepts one that obeys conditions, also with lost responses, and leaves nothing', async () => {
    await testConditions(client);
    let count = 0;
    server.behavior.before = () => {
      count += 1;
      return count % 2 ? 'lose' : undefined;
    };
    await testConditions(client);
    server.behavior.before = () => undefined;
    expect([...server.objects.keys()]).toEqual([]);
  });

  test.each<[string, Partial<BucketBehavior>, RegExp]>([
    [
      'drops If-None-Match',
      { ignores: ['if-none-match'] },
      /only to be created \(If-None-Match: \*\)/,
    ],
    ['drops If-Match', { ignores: ['if-match'] }, /although it was another one \(If-Match\)/],
    ['drops both', { ignores: ['if-none-match', 'if-match'] }, /only to be created/],
    ['has no etags', { etags: 'none' }, /no ETag/],
    ['has one etag for all', { etags: 'fixed' }, /still has its old ETag/],
    ['does not list what it has', { listsNothing: true }, /a list of keys does not have/],
    [
      'refuses each If-Match',
      { before: ({ headers }) => (headers['if-match'] ? { status: 412 } : undefined) },
      /would not replace an object that was the right one/,
    ],
    [
      'does not know If-None-Match',
      { before: ({ headers }) => (headers['if-none-match'] ? { status: 501 } : undefined) },
      /refused a request .*501/,
    ],
  ])('refuses one that %s', async (_, behavior, words) => {
    Object.assign(server.behavior, behavior);
    const other = open();
    const failed = await testConditions(other).catch((error: unknown) => error);
    other.close();
    expect(failed).toMatchObject(error('unfit_place'));
    expect(String(failed)).toMatch(words);
  });
});

describe('the address of a bucket', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'hidden' };

  test('is refused without keys, with the names of what is missing', () => {
    const hint = expect.stringContaining('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
    const missing = expect.objectContaining({ ...error('credential_missing'), hint });
    expect(() => openBucket('s3://calls', {})).toThrow(missing);
    const half = () => openBucket('s3://calls', { ...keys, AWS_SECRET_ACCESS_KEY: ' ' });
    expect(half).toThrow(/There are no keys for s3:\/\/calls/);
  });

  const strange = ['s3://Calls', 's3:calls', 's3://calls/../other', 's3://calls/x?versionId=1'];
  test.each(['s3://AKID:hidden@calls/x', ...strange])(
    'is refused as %s, without repeating a secret',
    (into) => {
      const failed = () => openBucket(into, keys);
      expect(failed).toThrow(expect.objectContaining(error('unfit_place')));
      expect(failed).not.toThrow(/hidden/);
    },
  );

  test.each(['localhost:9000', 'https://user:hidden@host', 'ftp://host', 'https://host/minio'])(
    'is refused with the server %s',
    (url) => {
      const failed = () => openBucket('s3://calls', { ...keys, AWS_ENDPOINT_URL: url });
      expect(failed).toThrow(/AWS_ENDPOINT_URL is not the address of a server/);
      expect(failed).not.toThrow(/hidden/);
    },
  );
});
