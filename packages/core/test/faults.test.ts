import { apiKeys, ConfigurationError, createClient } from '@call-attribution/core';
import { fakeApi, mergeFaults, parseFaults } from '@call-attribution/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterwards, serve } from './support.ts';

describe('the text form of faults', () => {
  test.each([
    ['status=429, retry-after=2, times=2', [{ status: 429, retryAfter: '2', times: 2 }]],
    ['latency=200ms; cut', [{ latency: '200ms' }, { cut: 0.5 }]],
    ['stall=0.25, on=list', [{ stall: 0.25, on: 'list' }]],
    ['html, status=502', [{ html: true, status: 502 }]],
    [
      'clamp=10; shift=-1; single=array; count=text',
      [{ clamp: 10 }, { shift: -1 }, { single: 'array' }, { count: 'text' }],
    ],
    ['retry-after=Wed, status=503', [{ retryAfter: 'Wed', status: 503 }]],
    ['redirect=https://x.example/?a=b', [{ redirect: 'https://x.example/?a=b' }]],
    ['reset, share=0.5, every=3, after=1', [{ reset: true, share: 0.5, every: 3, after: 1 }]],
    [
      'drip=64, drip-every=15ms; encoding=cut-gzip',
      [{ drip: 64, dripEvery: '15ms' }, { encoding: 'cut-gzip' }],
    ],
    [
      'error-body; sms-failed=No account',
      [{ errorBody: 'invalid session' }, { smsFailed: 'No account' }],
    ],
    [' ; ', []],
  ])('%j is read', (text, faults) => expect(parseFaults(text)).toEqual(faults));
  test.each([
    ['explode', '"explode" is not a fault: expected one of latency, status'],
    ['constructor', '"constructor" is not a fault'],
    ['staus=503', '"staus=503" is not a fault: did you mean status?'],
    [
      'status=999',
      '"status=999" cannot be read: expected a whole number from 200 to 599 after "="',
    ],
    ['status', '"status" cannot be read'],
    ['cut=2', '"cut=2" cannot be read: expected a number from 0 to 1'],
    ['latency=15', 'expected a duration'],
    ['latency=11m', 'expected a duration of up to 10m'],
    ['count=many', 'expected one of number, text, object, array, header'],
    ['retry-after', 'expected seconds or a date'],
  ])('%j is refused and the word is quoted', (text, message) => {
    expect(() => parseFaults(text)).toThrow(ConfigurationError);
    expect(() => parseFaults(text)).toThrow(message);
  });
  test('every string is read or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseFaults(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigurationError);
        }
      }),
    );
  });
  test('waits add up and the later fault wins', () => {
    expect(mergeFaults([{ latency: 20, status: 500 }, { latency: 5, status: 503 }, {}])).toEqual({
      latency: 25,
      status: 503,
    });
  });
});

describe('the hostile server carries out', () => {
  test.each([
    ['status=503', 'server_error'],
    ['status=429, retry-after=0', 'rate_limited'],
    ['html', 'wrong_content_type'],
    ['redirect=https://elsewhere.example/', 'redirect_refused'],
    ['error-body', 'error_body'],
    ['type=text/csv', 'wrong_content_type'],
    ['range=other-page', 'wrong_page'],
    ['range=too-long', 'wrong_page'],
    ['broken-utf8', 'invalid_json'],
    ['quiet-cut', 'invalid_json'],
    ['cut', 'connection_failed'],
    ['encoding=cut-gzip', 'invalid_json'],
    ['bomb=5000000', 'body_too_large'],
    ['reset', 'connection_failed'],
    ['not-http', 'connection_failed'],
    ['stall', 'timeout'],
    ['silent', 'timeout'],
  ])('%s, which a client takes for %s', async (text, code) => {
    // Only silence may meet the deadline: on a busy machine, 500 ms pass in the other rows, too.
    const idle = code === 'timeout' ? 500 : 60_000;
    const { server, client } = await serve(
      {},
      { retry: { attempts: 1 }, timeout: { idle }, maxBodyBytes: 1_000_000 },
    );
    server.next(text);
    await expect(client.listCalls()).rejects.toMatchObject({ code });
  });
  test.each([
    'latency=5ms',
    'range=none',
    'encoding=gzip',
    'encoding=br',
    'drip=4096, drip-every=1ms',
    'clamp=5',
  ])('%s, which a client survives', async (text) => {
    const { server, client } = await serve();
    server.next(text);
    expect((await client.listCalls()).records).toHaveLength(text === 'clamp=5' ? 5 : 20);
  });
  test('forms of a count and of a single record, and a failed SMS listing', async () => {
    const server = await fakeApi().listen();
    const client = createClient({
      baseUrl: server.url,
      legacyBaseUrl: server.url,
      auth: apiKeys('a', 'b'),
    });
    afterwards(() => Promise.all([client.close(), server.close()]));
    server.next('single=array', 'sms-failed=No account');
    expect((await client.getCall('S1-0000003')).sid).toBe('S1-0000003');
    await expect(client.listSmsNumbers()).rejects.toMatchObject({ code: 'error_body' });
    server.next('shift=1');
    expect((await client.listCalls({ rows: 1 })).records[0]?.sid).toBe('S1-0000002');
    for (const form of ['number', 'text', 'object', 'array', 'header']) {
      server.next(`count=${form}`);
      const response = await fetch(`${server.url}/v2/user/bid-management/count`);
      expect([await response.json(), response.headers.get('content-range')]).toEqual(
        {
          number: [20, null],
          text: ['20', null],
          object: [{ count: 20 }, null],
          array: [[{ count: 20 }], null],
          header: [[], '*/20'],
        }[form],
      );
    }
  });
});
