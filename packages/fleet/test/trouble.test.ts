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
import { StoreError } from '@call-attribution/store';
import { describe, expect, it } from 'vitest';
import { FleetError } from '../src/index.ts';
import { restWait, type TroubleKind, troubleOf } from '../src/worker/trouble.ts';

/** Errors of a class, one of each code. */
const of = <C extends string>(
  Kind: new (code: C, words: string) => Error,
  ...codes: C[]
): Error[] => codes.map((code) => new Kind(code, 'It went wrong.'));
const atTheApi = (...codes: HttpError['code'][]): Error[] =>
  codes.map((code) => new HttpError(code, 'It said no.', { url: 'https://api.example.com/v3' }));
/** Errors of others, which may quote what they have read. */
const others = (...codes: string[]): Error[] =>
  codes.map((code) => Object.assign(new Error('quoted'), { code }));

/** Errors as the packages make them, by what happens. */
const errors: Readonly<Record<TroubleKind, readonly Error[]>> = {
  lost: [...of(FleetError, 'claim_lost'), ...of(StoreError, 'claim_lost'), ...others('25P03')],
  credential: [
    ...of(HttpError, 'unauthorized'),
    ...of(ConfigurationError, 'invalid_credentials'),
    ...of(FleetError, 'credential_missing'),
  ],
  server: [
    ...atTheApi('rate_limited', 'server_error', 'not_found', 'redirect_refused'),
    ...of(ConnectionError, 'connection_failed', 'proxy_failed'),
    ...of(DeadlineError, 'timeout'),
    ...of(ResponseError, 'wrong_content_type', 'unexpected_shape', 'error_body'),
  ],
  account: [
    ...of(StreamError, 'range_ignored', 'too_many_requests'),
    ...of(
      ResponseError,
      'invalid_record',
      'invalid_json',
      'body_too_large',
      'wrong_page',
      'list_moved',
    ),
    ...of(HttpError, 'bad_request'),
    ...of(ConfigurationError, 'invalid_option', 'client_closed', 'missing_package'),
    ...of(StoreError, 'unfit_record', 'store_failed'),
    ...of(FleetError, 'job_invalid', 'not_whole'),
    ...of(CheckpointError, 'checkpoint_invalid'),
    ...others('23505'),
    new TypeError('x is not a function'),
    new Error('something'),
  ],
  target: [
    ...of(
      StoreError,
      'store_unavailable',
      'not_writable',
      'store_damaged',
      'store_busy',
      'store_url',
    ),
    ...of(StoreError, 'missing_package', 'unknown_account', 'unfit_filter'),
    ...of(FleetError, 'target_unavailable', 'unfit_place'),
    ...others('ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'ENOENT', 'ECONNREFUSED', 'ETIMEDOUT'),
    ...others('53100', '53300', '57P01', '57P03', '08006', '58030'),
    ...others('SQLITE_FULL', 'SQLITE_BUSY', 'SQLITE_IOERR_WRITE', 'UND_ERR_SOCKET'),
  ],
  engine: of(FleetError, 'engine_unavailable'),
};

describe('trouble', () => {
  const rows = Object.entries(errors).flatMap(([kind, list]) =>
    list.map((error) => ({ kind, error })),
  );
  it.each(rows)('$error.name $error.code is of kind $kind', ({ kind, error }) => {
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
    const message = 'The target failed with ENOENT.';
    expect(troubleOf(missing)).toMatchObject({ kind: 'target', code: 'ENOENT', message });
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
    const message = 'The keys are refused.';
    expect(
      troubleOf(new HttpError('unauthorized', { message, serverReason: '… 555-0100' })).message,
    ).toBe(message);
  });

  it('cuts long messages', () => {
    const limited = new HttpError('rate_limited', 'x'.repeat(500));
    expect(troubleOf(limited).message).toBe(`${'x'.repeat(299)}…`);
  });

  it('lets a worker rest longer each time', () => {
    expect([1, 2, 3, 4, 5, 9].map(restWait)).toEqual([
      5000, 10_000, 20_000, 40_000, 60_000, 60_000,
    ]);
  });
});
