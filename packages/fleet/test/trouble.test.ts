import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigurationError,
  ConnectionError,
  DeadlineError,
  HttpError,
  ResponseError,
} from '@call-attribution/core';
import { CheckpointError, StreamError } from '@call-attribution/node-stream';
import { StoreError, type StoreErrorCode } from '@call-attribution/store';
import { describe, expect, it } from 'vitest';
import { FleetError, type FleetErrorCode } from '../src/index.ts';
import { restWait, type TroubleKind, troubleOf } from '../src/worker/trouble.ts';

/** Errors as the packages make them, by what happens. */
const errors: Readonly<Record<TroubleKind, readonly Error[]>> = {
  lost: [
    new FleetError('claim_lost', 'Claimed again.'),
    new StoreError('claim_lost', 'Claimed again.'),
    coded('25P03'),
  ],
  credential: [
    ...ofHttp('unauthorized'),
    ...ofConfiguration('invalid_credentials'),
    ...ofFleet('credential_missing'),
  ],
  server: [
    ...ofHttp('rate_limited', 'server_error', 'not_found', 'redirect_refused'),
    ...ofConnection('connection_failed', 'proxy_failed'),
    ...ofDeadline('timeout'),
    ...ofResponse('wrong_content_type', 'unexpected_shape', 'error_body'),
  ],
  account: [
    new StreamError('range_ignored'),
    new StreamError('too_many_requests'),
    ...ofResponse('invalid_record', 'invalid_json', 'body_too_large', 'wrong_page', 'list_moved'),
    ...ofHttp('bad_request'),
    ...ofConfiguration('invalid_option'),
    ...ofConfiguration('client_closed', 'missing_package'),
    ...ofStore('unfit_record', 'store_failed'),
    ...ofFleet('job_invalid', 'not_whole'),
    new CheckpointError('checkpoint_invalid', 'No state.'),
    coded('23505'),
    new TypeError('x is not a function'),
    new Error('something'),
  ],
  target: [
    ...ofStore(
      'store_unavailable',
      'not_writable',
      'store_damaged',
      'store_busy',
      'store_url',
      'store_url',
      'missing_package',
      'store_url',
      'unknown_account',
      'unfit_filter',
    ),
    ...ofFleet('target_unavailable', 'unfit_place'),
    ...['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'ENOENT', 'ECONNREFUSED', 'ETIMEDOUT'].map(coded),
    ...['53100', '53300', '57P01', '57P03', '08006', '58030'].map(coded),
    ...['SQLITE_FULL', 'SQLITE_BUSY', 'SQLITE_IOERR_WRITE', 'UND_ERR_SOCKET'].map(coded),
  ],
  engine: [...ofFleet('engine_unavailable')],
};

describe('trouble', () => {
  it.each(
    Object.entries(errors).flatMap(([kind, list]) =>
      list.map((error) => ({ kind, error, name: nameOf(error) })),
    ),
  )('$name is of kind $kind', ({ kind, error }) => {
    const trouble = troubleOf(error);
    expect(trouble.kind).toBe(kind);
    expect(trouble.message.length).toBeGreaterThan(5);
    expect(trouble.message.length).toBeLessThanOrEqual(300);
  });

  it('knows the errors of this machine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trouble-'));
    const missing = await readFile(join(folder, 'none')).catch((error: unknown) => error);
    const isFolder = await writeFile(folder, '').catch((error: unknown) => error);
    await rm(folder, { recursive: true });
    expect(troubleOf(missing)).toMatchObject({
      kind: 'target',
      code: 'ENOENT',
      message: 'The target failed with ENOENT.',
    });
    expect(troubleOf(isFolder)).toMatchObject({ kind: 'target', code: 'EISDIR' });
  });

  it('says nothing that an error of others may quote', () => {
    const quoting = Object.assign(new Error('Failing row contains (555-0100)'), { code: '23514' });
    expect(JSON.stringify(troubleOf(quoting))).not.toContain('555');
    expect(troubleOf('text')).toMatchObject({ kind: 'account', code: 'unknown' });
    expect(troubleOf(Object.assign(new Error(), { code: 'a b?' })).code).toBe('unknown');
    expect(troubleOf(null).code).toBe('unknown');
  });

  it('leaves out what the server says', () => {
    const said = new HttpError('unauthorized', {
      message: 'The keys are refused.',
      serverReason: '… 555-0100',
    });
    expect(troubleOf(said).message).toBe('The keys are refused.');
  });

  it('cuts long messages', () => {
    const limited = new HttpError('rate_limited', 'x'.repeat(500));
    expect(troubleOf(limited).message).toBe(`${'x'.repeat(299)}…`);
  });

  it('lets a worker rest longer each time', () => {
    expect([1, 2, 3, 4, 5, 9].map(restWait)).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });
});

function coded(code: string): Error {
  return Object.assign(new Error('quoted'), { code });
}
function ofHttp(...codes: HttpError['code'][]): Error[] {
  return codes.map(
    (code) => new HttpError(code, 'The server said no.', { url: 'https://api.example.com/v3' }),
  );
}
function ofConfiguration(...codes: ConfigurationError['code'][]): Error[] {
  return codes.map((code) => new ConfigurationError(code, 'It is set wrong.'));
}
function ofConnection(...codes: ConnectionError['code'][]): Error[] {
  return codes.map((code) => new ConnectionError(code, 'There is no way.'));
}
function ofDeadline(...codes: DeadlineError['code'][]): Error[] {
  return codes.map((code) => new DeadlineError(code, 'It took too long.'));
}
function ofResponse(...codes: ResponseError['code'][]): Error[] {
  return codes.map((code) => new ResponseError(code, 'It is not right.'));
}
function ofStore(...codes: StoreErrorCode[]): Error[] {
  return codes.map((code) => new StoreError(code, 'The store said no.'));
}
function ofFleet(...codes: FleetErrorCode[]): Error[] {
  return codes.map((code) => new FleetError(code, 'The fleet said no.'));
}
function nameOf(error: Error): string {
  return `${error.name} ${(error as { code?: string }).code ?? ''}`.trim();
}
