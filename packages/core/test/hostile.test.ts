import {
  apiKeys,
  CallsError,
  type ClientOptions,
  createClient,
  type ErrorCode,
  type RawPage,
} from '@call-attribution/core';
import { fastRetry, faults, type HostileFault, startHostileServer } from '@call-attribution/core/testing';
import { describe, expect, test } from 'vitest';

interface Row {
  readonly name: string;
  readonly faults: readonly HostileFault[];
  readonly options?: Partial<ClientOptions>;
  /** Attempts after which the read succeeds, or the code of the error and the attempts it took. */
  readonly outcome:
    | { readonly ok: number }
    | {
        readonly error: ErrorCode;
        readonly limit?: CallsError['limit'];
        readonly withFetch?: ErrorCode;
        readonly attempts: number;
      };
}

const always = (fault: HostileFault): HostileFault[] => [fault, fault, fault, fault];
// Deadlines that each attempt meets, and one that the second attempt keeps on a busy machine, too.
const total = 60_000;
const twice = {
  timeout: { connect: 5000, idle: 250, attempt: 600, total },
  retry: { attempts: 2, baseDelay: 1 },
};
const once = { timeout: { connect: 5000, idle: 2_000, attempt: 30_000, total } };
const large = (): HostileFault => faults.body((bytes) => Buffer.concat([bytes, Buffer.alloc(200_000, 0x20)]));

const table: Row[] = [
  { name: 'a good answer', faults: [], outcome: { ok: 1 } },
  { name: 'a connection reset before the answer', faults: [{ reset: true }], outcome: { ok: 2 } },
  { name: 'a body cut by a closed connection', faults: [{ cut: 0.5 }], outcome: { ok: 2 } },
  {
    name: 'a body cut by a closed connection, each time',
    faults: always({ cut: 0.5 }),
    outcome: { error: 'connection_failed', attempts: 4 },
  },
  { name: 'a cut body whose length seems right', faults: [{ quietCut: 0.5 }], outcome: { ok: 2 } },
  {
    name: 'a cut body whose length seems right, each time',
    faults: always({ quietCut: 0.5 }),
    outcome: { error: 'invalid_json', attempts: 4 },
  },
  { name: 'silence', faults: [{ silent: true }], options: once, outcome: { ok: 2 } },
  {
    name: 'silence, each time',
    faults: always({ silent: true }),
    options: twice,
    outcome: { error: 'timeout', limit: 'idle', attempts: 2 },
  },
  { name: 'a stalled body', faults: [{ stall: 0.5 }], options: once, outcome: { ok: 2 } },
  {
    name: 'a stalled body, each time',
    faults: always({ stall: 0.5 }),
    options: twice,
    outcome: { error: 'timeout', limit: 'idle', attempts: 2 },
  },
  {
    name: 'a dripping body that beats the idle deadline but not that of the attempt',
    faults: always({ drip: 64, dripEvery: 15 }),
    options: { ...twice, timeout: { ...twice.timeout, idle: 5_000 } },
    outcome: { error: 'timeout', limit: 'attempt', attempts: 2 },
  },
  {
    name: 'a total deadline that passes first',
    faults: always({ drip: 64, dripEvery: 15 }),
    options: { timeout: { idle: 5000, attempt: 5000, total: 200 } },
    outcome: { error: 'timeout', limit: 'total', attempts: 1 },
  },
  { name: 'a slow body within all deadlines', faults: [{ drip: 16_384, dripEvery: 5 }], outcome: { ok: 1 } },
  {
    name: 'no HTTP',
    faults: always({ notHttp: true }),
    outcome: { error: 'connection_failed', attempts: 4 },
  },
  { name: 'another content type', faults: [{ contentType: 'text/csv' }], outcome: { ok: 2 } },
  {
    name: 'another content type, each time',
    faults: always({ contentType: 'text/csv' }),
    outcome: { error: 'wrong_content_type', attempts: 4 },
  },
  { name: 'no content type, good JSON', faults: [{ contentType: '' }], outcome: { ok: 1 } },
  {
    name: 'a vendor JSON type',
    faults: [{ contentType: 'application/vnd.calls+json' }],
    outcome: { ok: 1 },
  },
  {
    name: 'a login page with status 200',
    faults: always({ html: true }),
    outcome: { error: 'wrong_content_type', attempts: 4 },
  },
  {
    name: 'a login page that claims to be JSON',
    faults: always(faults.replace(200, '<html><title>Sign in</title></html>')),
    outcome: { error: 'wrong_content_type', attempts: 4 },
  },
  {
    name: 'a gateway page with status 502, then fine',
    faults: [{ html: true, status: 502 }],
    outcome: { ok: 2 },
  },
  {
    name: 'an error with status 200',
    faults: [{ errorBody: 'invalid session' }],
    outcome: { error: 'error_body', attempts: 1 },
  },
  {
    name: 'an object that is no error',
    faults: [faults.replace(200, '{"calls":[]}')],
    outcome: { error: 'unexpected_shape', attempts: 1 },
  },
  {
    name: 'an array of something else',
    faults: [faults.replace(200, '["a"]')],
    outcome: { error: 'invalid_record', attempts: 1 },
  },
  {
    name: 'an array with an error in it',
    faults: [faults.replace(200, '[{"error":"x"}]')],
    outcome: { error: 'invalid_record', attempts: 1 },
  },
  {
    name: 'an empty body',
    faults: always(faults.replace(200)),
    outcome: { error: 'invalid_json', attempts: 4 },
  },
  { name: 'status 204', faults: [faults.replace(204)], outcome: { error: 'unexpected_shape', attempts: 1 } },
  { name: '400', faults: [{ status: 400 }], outcome: { error: 'bad_request', attempts: 1 } },
  { name: '401', faults: [{ status: 401 }], outcome: { error: 'unauthorized', attempts: 1 } },
  { name: '403', faults: [{ status: 403 }], outcome: { error: 'unauthorized', attempts: 1 } },
  { name: '404', faults: [{ status: 404 }], outcome: { error: 'not_found', attempts: 1 } },
  { name: '408, then fine', faults: [{ status: 408 }], outcome: { ok: 2 } },
  { name: '409', faults: [{ status: 409 }], outcome: { error: 'bad_request', attempts: 1 } },
  { name: '414', faults: [{ status: 414 }], outcome: { error: 'bad_request', attempts: 1 } },
  { name: '429 that does not say when to try again', faults: [{ status: 429 }], outcome: { ok: 2 } },
  { name: '429 with Retry-After in seconds', faults: [{ status: 429, retryAfter: '0' }], outcome: { ok: 2 } },
  {
    name: '429 with Retry-After as a date',
    faults: [{ status: 429, headers: { 'retry-after': new Date().toUTCString() } }],
    outcome: { ok: 2 },
  },
  {
    name: '429 with RateLimit-Reset',
    faults: [{ status: 429, headers: { 'ratelimit-reset': '0' } }],
    outcome: { ok: 2 },
  },
  {
    name: '429 with a wait past the total deadline',
    faults: [{ status: 429, retryAfter: '3600' }],
    outcome: { error: 'rate_limited', attempts: 1 },
  },
  {
    name: '500 three times, then fine',
    faults: [500, 503, 504].map((status) => ({ status })),
    outcome: { ok: 4 },
  },
  {
    name: '500, each time',
    faults: always({ status: 500 }),
    outcome: { error: 'server_error', attempts: 4 },
  },
  {
    name: 'a redirect to another origin',
    faults: [{ redirect: 'https://elsewhere.example/login' }],
    outcome: { error: 'redirect_refused', attempts: 1 },
  },
  {
    name: 'a redirect within the server',
    faults: [{ redirect: '/v3/user/bid-management?rows=250' }],
    outcome: { ok: 1 },
  },
  {
    name: 'redirects without end',
    faults: always({ redirect: '/v3/user/bid-management' }),
    outcome: { error: 'redirect_refused', attempts: 1 },
  },
  {
    name: 'a redirect without a target',
    faults: [faults.replace(302)],
    outcome: { error: 'redirect_refused', attempts: 1 },
  },
  { name: 'gzip', faults: [{ encoding: 'gzip' }], outcome: { ok: 1 } },
  { name: 'br', faults: [{ encoding: 'br' }], outcome: { ok: 1 } },
  { name: 'gzip that is cut inside', faults: [{ encoding: 'cut-gzip' }], outcome: { ok: 2 } },
  {
    name: 'gzip that is cut inside, each time',
    faults: always({ encoding: 'cut-gzip' }),
    // The fetch of Node.js takes the end of what it got for the end of the body.
    outcome: { error: 'invalid_json', withFetch: 'invalid_json', attempts: 4 },
  },
  {
    name: 'an unknown packing',
    faults: [
      { change: (right) => ({ ...right, headers: { ...right.headers, 'content-encoding': 'compress' } }) },
    ],
    outcome: { error: 'invalid_json', attempts: 1 },
  },
  {
    name: 'a body over the cap',
    faults: [large()],
    options: { maxBodyBytes: 100_000 },
    outcome: { error: 'body_too_large', attempts: 1 },
  },
  {
    name: 'a small body that unpacks over the cap',
    faults: [{ bomb: 5_000_000 }],
    options: { maxBodyBytes: 100_000 },
    outcome: { error: 'body_too_large', attempts: 1 },
  },
  { name: 'broken UTF-8', faults: [{ brokenUtf8: true }], outcome: { ok: 2 } },
  {
    name: 'broken UTF-8, each time',
    faults: always({ brokenUtf8: true }),
    outcome: { error: 'invalid_json', attempts: 4 },
  },
  {
    name: 'a byte order mark',
    faults: [faults.body((bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]))],
    outcome: { ok: 1 },
  },
  { name: 'no Content-Range', faults: [{ range: 'none' }], outcome: { ok: 1 } },
  {
    name: 'a Content-Range with a unit',
    faults: [faults.range((a, b, n) => `items ${a}-${b}/${n}`)],
    outcome: { ok: 1 },
  },
  {
    name: 'a Content-Range without a total',
    faults: [faults.range((a, b) => `${a}-${b}/*`)],
    outcome: { ok: 1 },
  },
  { name: 'a Content-Range that tells more than came', faults: [{ range: 'too-long' }], outcome: { ok: 2 } },
  {
    name: 'a Content-Range that tells more than came, each time',
    faults: always({ range: 'too-long' }),
    outcome: { error: 'wrong_page', attempts: 4 },
  },
  { name: 'another page, as a wrong cache gives it', faults: [{ range: 'other-page' }], outcome: { ok: 2 } },
  {
    name: 'another page, each time',
    faults: always({ range: 'other-page' }),
    outcome: { error: 'wrong_page', attempts: 4 },
  },
  {
    name: 'an empty page of a list that is not empty',
    faults: always(faults.replace(200, '[]', { 'content-range': '*/20' })),
    outcome: { error: 'list_moved', attempts: 4 },
  },
  {
    name: 'more rows than asked',
    faults: [faults.replace(200, JSON.stringify(Array(300).fill({ sid: 'x' })))],
    outcome: { error: 'wrong_page', attempts: 1 },
  },
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
    test.each(rows)('$name', async ({ faults: queued, options, outcome }) => {
      const server = await startHostileServer();
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
        if ('ok' in outcome) {
          const page = await work;
          const records = Array.isArray(page.records) ? page.records : (page as RawPage).records();
          expect([page.meta.attempts, records]).toEqual([outcome.ok, server.calls]);
        } else {
          // Raw pages are checked as far as their boundaries; what a record itself holds shows when it is read.
          const error = await work
            .then((page) => typeof page.records === 'function' && page.records())
            .catch((thrown: CallsError) => thrown);
          expect(error).toBeInstanceOf(CallsError);
          const { code, limit, attempts = 1 } = error as CallsError;
          const expected = 'fetch' in own ? (outcome.withFetch ?? outcome.error) : outcome.error;
          expect([code, limit, attempts]).toEqual([expected, outcome.limit, outcome.attempts]);
        }
      } finally {
        await client.close();
        await server.close();
      }
    });
  },
);
