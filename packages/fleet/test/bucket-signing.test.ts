import { describe, expect, test } from 'vitest';
import { emptySha256, signedHeaders, uriPath, uriQuery } from '../src/target/sigv4.ts';

// The keys and requests that AWS publishes with their signatures.
const keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const host = 'examplebucket.s3.amazonaws.com';
const time = Date.UTC(2013, 4, 24);

describe('a signature', () => {
  test('is that which AWS publishes for three requests', () => {
    const get = signedHeaders(
      {
        method: 'GET',
        host,
        path: uriPath('/test.txt'),
        headers: { Range: 'bytes=0-9' },
        bodySha256: emptySha256,
      },
      keys,
      'us-east-1',
      time,
    );
    expect(get.authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    const put = signedHeaders(
      {
        method: 'PUT',
        host,
        path: uriPath('/test$file.text'),
        headers: { Date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        bodySha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      },
      keys,
      'us-east-1',
      time,
    );
    expect(put.authorization).toContain(
      'Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    );
    const lifecycle = signedHeaders(
      { method: 'GET', host, path: '/', query: { lifecycle: '' }, bodySha256: emptySha256 },
      keys,
      'us-east-1',
      time,
    );
    expect(lifecycle.authorization).toContain(
      'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
  });

  test('covers the session token, and holds no secret', () => {
    const { authorization = '', ...headers } = signedHeaders(
      { method: 'GET', host, path: '/', bodySha256: emptySha256 },
      { ...keys, sessionToken: 'token' },
      'us-east-1',
      time,
    );
    expect(headers['x-amz-security-token']).toBe('token');
    expect(authorization).toContain(
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
    );
    expect(JSON.stringify({ authorization, ...headers })).not.toContain(keys.secretAccessKey);
  });

  test('is over paths and queries in the one form that S3 knows', () => {
    expect(uriPath("/b/account=1/a b+c/ü~*'()!.json")).toBe(
      '/b/account%3D1/a%20b%2Bc/%C3%BC~%2A%27%28%29%21.json',
    );
    expect(uriQuery({ prefix: 'a=b&c', 'list-type': '2', list: '/' })).toBe(
      'list=%2F&list-type=2&prefix=a%3Db%26c',
    );
  });
});
