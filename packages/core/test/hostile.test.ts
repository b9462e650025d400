import {
  apiKeys,
  CallsError,
  type ClientOptions,
  createClient,
  type ErrorCode,
} from '@call-attribution/core';
import { type ApiFault, fakeApi, fastRetry, faults } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';

interface Row {
  readonly name: string;
  readonly faults: readonly ApiFault[];
  readonly options?: Partial<ClientOptions> | undefined;
  /** How many times the request is sent. */
  readonly attempts: number;
  /** The code of the error, where the read does not succeed, and the deadline that passed. */
  readonly error?: Failure;
}

type Failure = ErrorCode | `timeout ${NonNullable<CallsError['limit']>}`;

/** A read that succeeds with this attempt. */
const good = (
  name: string,
  faults: ApiFault[],
  attempts: number,
  options?: Partial<ClientOptions>,
): Row => ({
  name,
  faults,
  attempts,
  options,
});

/** A read that fails with this code after so many attempts. */
const bad = (
  name: string,
  fault: ApiFault,
  error: Failure,
  attempts: number,
  options?: Partial<ClientOptions>,
): Row => ({ name, faults: [fault, fault, fault, fault], error, attempts, options });

/** What the second attempt heals, and the fourth gives up. */
const passing = (name: string, fault: ApiFault, error: Failure): Row[] => [
  good(name, [fault], 2),
  bad(`${name}, each time`, fault, error, 4),
];

// Deadlines that each attempt meets, and one that the second attempt keeps on a busy machine, too.
const total = 60_000;
const twice = {
  timeout: { connect: 5000, idle: 250, attempt: 600, total },
  retry: { attempts: 2, baseDelay: 1 },
};
const once = { timeout: { connect: 5000, idle: 2_000, attempt: 30_000, total } };
const slow = { ...twice, timeout: { ...twice.timeout, idle: 5_000 } };
const short = { timeout: { idle: 5000, attempt: 5000, total: 200 } };
const small = { maxBodyBytes: 100_000 };
const drip = { drip: 64, dripEvery: 15 };
const large = faults.body((bytes) => Buffer.concat([bytes, Buffer.alloc(200_000, 0x20)]));
const packed: ApiFault = {
  change: (right) => ({ ...right, headers: { ...right.headers, 'content-encoding': 'compress' } }),
};
const after = (status: number, name: string, value: string): ApiFault => ({
  status,
  headers: { [name]: value },
});

const table: Row[] = [
  good('a good answer', [], 1),
  good('a connection reset before the answer', [{ reset: true }], 2),
  ...passing('a body cut by a closed connection', { cut: 0.5 }, 'connection_failed'),
  ...passing('a cut body whose length seems right', { quietCut: 0.5 }, 'invalid_json'),
  good('silence', [{ silent: true }], 2, once),
  bad('silence, each time', { silent: true }, 'timeout idle', 2, twice),
  good('a stalled body', [{ stall: 0.5 }], 2, once),
  bad('a stalled body, each time', { stall: 0.5 }, 'timeout idle', 2, twice),
  bad(
    'a dripping body that beats the idle deadline but not that of the attempt',
    drip,
    'timeout attempt',
    2,
    slow,
  ),
  bad('a total deadline that passes first', drip, 'timeout total', 1, short),
  good('a slow body within all deadlines', [{ drip: 16_384, dripEvery: 5 }], 1),
  bad('no HTTP', { notHttp: true }, 'connection_failed', 4),
  ...passing('another content type', { contentType: 'text/csv' }, 'wrong_content_type'),
  good('no content type, good JSON', [{ contentType: '' }], 1),
  good('a vendor JSON type', [{ contentType: 'application/vnd.calls+json' }], 1),
  bad('a login page with status 200', { html: true }, 'wrong_content_type', 4),
  bad(
    'a login page that claims to be JSON',
    faults.replace(200, '<html><title>Sign in</title></html>'),
    'wrong_content_type',
    4,
  ),
  good('a gateway page with status 502, then fine', [{ html: true, status: 502 }], 2),
  bad('an error with status 200', { errorBody: 'invalid session' }, 'error_body', 1),
  bad('an object that is no error', faults.replace(200, '{"calls":[]}'), 'unexpected_shape', 1),
  bad('an array of something else', faults.replace(200, '["a"]'), 'invalid_record', 1),
  bad('an array with an error in it', faults.replace(200, '[{"error":"x"}]'), 'invalid_record', 1),
  bad('an empty body', faults.replace(200), 'invalid_json', 4),
  bad('status 204', faults.replace(204), 'unexpected_shape', 1),
  bad('400', { status: 400 }, 'bad_request', 1),
  bad('401', { status: 401 }, 'unauthorized', 1),
  bad('403', { status: 403 }, 'unauthorized', 1),
  bad('404', { status: 404 }, 'not_found', 1),
  good('408, then fine', [{ status: 408 }], 2),
  bad('409', { status: 409 }, 'bad_request', 1),
  bad('414', { status: 414 }, 'bad_request', 1),
  good('429 that does not say when to try again', [{ status: 429 }], 2),
  good('429 with Retry-After in seconds', [{ status: 429, retryAfter: '0' }], 2),
  good('429 with Retry-After as a date', [after(429, 'retry-after', new Date().toUTCString())], 2),
  good('429 with RateLimit-Reset', [after(429, 'ratelimit-reset', '0')], 2),
  bad(
    '429 with a wait past the total deadline',
    { status: 429, retryAfter: '3600' },
    'rate_limited',
    1,
  ),
  good('500 three times, then fine', [{ status: 500 }, { status: 503 }, { status: 504 }], 4),
  bad('500, each time', { status: 500 }, 'server_error', 4),
  bad(
    'a redirect to another origin',
    { redirect: 'https://elsewhere.example/login' },
    'redirect_refused',
    1,
  ),
  good('a redirect within the server', [{ redirect: '/v3/user/bid-management?rows=250' }], 1),
  bad('redirects without end', { redirect: '/v3/user/bid-management' }, 'redirect_refused', 1),
  bad('a redirect without a target', faults.replace(302), 'redirect_refused', 1),
  good('gzip', [{ encoding: 'gzip' }], 1),
  good('br', [{ encoding: 'br' }], 1),
  ...passing('gzip that is cut inside', { encoding: 'cut-gzip' }, 'invalid_json'),
  bad('an unknown packing', packed, 'invalid_json', 1),
  bad('a body over the cap', large, 'body_too_large', 1, small),
  bad('a small body that unpacks over the cap', { bomb: 5_000_000 }, 'body_too_large', 1, small),
  ...passing('broken UTF-8', { brokenUtf8: true }, 'invalid_json'),
  good(
    'a byte order mark',
    [faults.body((bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]))],
    1,
  ),
  good('no Content-Range', [{ range: 'none' }], 1),
  good('a Content-Range with a unit', [faults.range((a, b, n) => `items ${a}-${b}/${n}`)], 1),
  good('a Content-Range without a total', [faults.range((a, b) => `${a}-${b}/*`)], 1),
  ...passing('a Content-Range that tells more than came', { range: 'too-long' }, 'wrong_page'),
  ...passing('another page, as a wrong cache gives it', { range: 'other-page' }, 'wrong_page'),
  bad(
    'an empty page of a list that is not empty',
    faults.replace(200, '[]', { 'content-range': '*/20' }),
    'list_moved',
    4,
  ),
  bad(
    'more rows than asked',
    faults.replace(200, JSON.stringify(Array(300).fill({ sid: 'x' }))),
    'wrong_page',
    1,
  ),
];

const methods = ['listCalls', 'fetchPage'] as const;
const overUndici = methods.map((method) => ({ method, through: 'undici', own: {}, rows: table }));
// Deadlines are the same code for both, so the rows that wait are left out here.
const overFetch = {
  method: 'listCalls' as const,
  through: 'fetch',
  own: { fetch: globalThis.fetch },
  rows: table.filter(({ options }) => options?.timeout === undefined),
};

describe.each([...overUndici, overFetch])(
  '$method over real sockets with $through',
  ({ method, own, rows }) => {
    test.each(rows)(
      '$name',
      async ({ faults: queued, options, attempts: sent, error: expected }) => {
        const server = await fakeApi().listen();
        server.next(...queued);
        const client = createClient({
          baseUrl: server.url,
          auth: apiKeys('key-one', 'key-two'),
          retry: fastRetry,
          ...options,
          ...own,
        });
        try {
          const work = client[method]();
          if (expected === undefined) {
            const page = await work;
            const records =
              'records' in page ? page.records : page.items().map((item) => item.read());
            expect([page.meta.attempts, records]).toEqual([sent, server.calls]);
          } else {
            // Raw pages are checked as far as their boundaries; what a record itself holds shows
            // when it is read.
            const error = await work
              .then((page) => 'items' in page && page.items().map((item) => item.read()))
              .catch((thrown: CallsError) => thrown);
            expect(error).toBeInstanceOf(CallsError);
            const { code, limit, attempts = 1 } = error as CallsError;
            expect([limit === undefined ? code : `${code} ${limit}`, attempts]).toEqual([
              expected,
              sent,
            ]);
          }
        } finally {
          await client.close();
          await server.close();
        }
      },
    );
  },
);
