import { CallsError, ConfigurationError, HttpError, ResponseError } from '@call-attribution/core';
import { faults } from '@call-attribution/core/testing';
import {
  type FilterArgumentError,
  type FilterSyntaxError,
  parse,
} from '@call-attribution/query-dsl';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { failure, serve } from './support.ts';

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

describe('the family', () => {
  const limited = new HttpError(
    'rate_limited',
    { message: 'Too fast.', hint: 'Wait.' },
    { retryAfterMs: 5 },
  );

  test('an error is recognized by its code', () => {
    expect(CallsError.is(limited)).toBe(true);
    expect(CallsError.is(limited, 'rate_limited')).toBe(true);
    expect(CallsError.is(limited, 'not_found', 'rate_limited')).toBe(true);
    expect(CallsError.is(limited, 'not_found')).toBe(false);
    for (const other of [new Error('x'), { code: 'rate_limited' }, null, undefined, 'rate_limited'])
      expect(CallsError.is(other)).toBe(false);
  });

  test('errors of filters belong to the family, although their package does not import core', () => {
    const syntax = thrownBy(() => parse('talk_minutes:[1')) as FilterSyntaxError;
    const argument = thrownBy(() => parse(7 as never)) as FilterArgumentError;
    for (const error of [syntax, argument]) {
      expect(CallsError.is(error)).toBe(true);
      expect(error).toBeInstanceOf(CallsError);
      expect(error).not.toBeInstanceOf(HttpError);
      expect(error.isRetryable).toBe(false);
      expect(error.toJSON()).toEqual({
        name: error.name,
        code: error.code,
        kind: 'usage',
        message: error.message,
        isRetryable: false,
      });
    }

    expect(CallsError.is(syntax, 'syntax')).toBe(true);
    expect(CallsError.is(argument, 'invalid_filter_argument')).toBe(true);
  });

  test('errors of another copy of the package are recognized', async () => {
    const { outputFiles } = await build({
      entryPoints: [new URL('../src/errors/classes.ts', import.meta.url).pathname],
      bundle: true,
      write: false,
      format: 'esm',
      minify: true,
    });
    const url = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`;
    const other = (await import(url)) as { HttpError: typeof HttpError };
    const error = new other.HttpError('not_found', 'Nothing here.');
    expect(error).not.toBeInstanceOf(HttpError);
    expect(error).toBeInstanceOf(CallsError);
    expect(CallsError.is(error, 'not_found')).toBe(true);
    expect(error.name).toBe('HttpError');
  });

  test('the message says what to do, and the summary leaves it out', () => {
    expect(limited).toMatchObject({
      message: 'Too fast. Wait.',
      summary: 'Too fast.',
      hint: 'Wait.',
    });
    expect(new ResponseError('wrong_page', 'No hint.').summary).toBe('No hint.');
    expect(
      new ConfigurationError('invalid_option', { message: 'a:\nb', hint: 'Do c.' }).message,
    ).toBe('a:\nb; Do c.');
  });
});

describe("the server's own reason", () => {
  const reasonFor = async (type: string, body: string) => {
    const { client } = await serve({
      faults: () => faults.replace(400, body, { 'content-type': type, 'x-request-id': 'r-1' }),
    });
    return (await failure(client.listCalls())) as CallsError;
  };

  test.each([
    [
      'application/json',
      '{"detail":"rows must be at most 100","title":"Bad Request"}',
      'rows must be at most [number]',
    ],
    [
      'application/json',
      '{"error":{"code":7,"message":"unknown field in q."}}',
      'unknown field in q',
    ],
    ['application/json', '{"errors":[{"message":"start is too large"}]}', 'start is too large'],
    ['application/json', '{"error":"no\\u0000 filter\\r\\n given \\u202e"}', 'no filter given'],
    [
      'application/json',
      '{"message":"number 555-555-0100 of jane@example.com"}',
      'number [number] of [email]',
    ],
    [
      'application/json',
      '{"message":"access_key=abcdef1234 is unknown"}',
      'access_key=[number] is unknown',
    ],
    ['text/xml', '<r><result>failed</result><message>too many rows</message></r>', 'too many rows'],
    ['text/plain', 'invalid filter', 'invalid filter'],
    [
      'application/json',
      '{"error":"These credentials do not belong to an account. Ask Jane Doe, ref 7A-22, about account 12345 of 2026-10-01 at 10:30."}',
      'These credentials do not belong to an account. … … …, ref [number], about account [number] of 2026-10-01 at 10:30',
    ],
    [
      'application/json',
      '{"error":"Jane Doe of Zürich has no calls. Try jane@localhost"}',
      '… … of … has no calls. Try [email]',
    ],
    ['text/plain', 'Invalid access key', 'Invalid access key'],
  ])('%s: %s', async (type, body, reason) => {
    const error = await reasonFor(type, body);
    expect(error.message).toContain(`The server says: "${reason}".`);
    expect(error).toMatchObject({ code: 'bad_request', status: 400, requestId: 'r-1' });
  });

  test('a reason has at most 200 characters', async () => {
    const { message } = await reasonFor(
      'application/json',
      JSON.stringify({ detail: 'too long '.repeat(500) }),
    );
    expect(message.length).toBeLessThan(400);
    expect(message).toContain('…".');
  });

  test('a page and an empty body say nothing about the request', async () => {
    for (const body of [
      '<html><title>Error</title><message>x y</message></html>',
      '',
      '{}',
      '[]',
      '{"id":"ab"}',
      '{',
    ])
      expect((await reasonFor('text/html', body)).message).not.toContain('The server says');
  });
});

test.each([
  [
    new HttpError('rate_limited'),
    'The server asks the client to slow down (status 429).',
    'Wait for retryAfterMs, or set a limiter.',
  ],
  [
    new ConfigurationError('client_closed'),
    'The client or its dispatcher has been closed.',
    'Create a new client.',
  ],
])('an error without words says those of its code: %s', (error, summary, hint) => {
  expect(error).toMatchObject({ summary, hint, message: `${summary} ${hint}` });
});
