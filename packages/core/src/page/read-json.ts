import { isAscii, isUtf8 } from 'node:buffer';
import { bodyExcerpt, serverReason } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/classes.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { mediaType } from '../http/headers.ts';

const json = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/;

// A server can write anything into a header, also what it knows about a caller. Only these are
// repeated in a message.
const usualTypes =
  /^(?:application\/(?:octet-stream|pdf|x-ndjson|x-www-form-urlencoded|xml|zip)|image\/(?:gif|jpeg|png)|text\/(?:css|csv|javascript|plain|xml))$/;

const checkBaseUrl = 'Check that the base URL points to the call-attribution API.';

/**
 * Refuses a response that does not claim to be JSON, or is a page all the same: login pages come
 * with status 200.
 */
export function expectJson({ headers, body }: HttpResponse): void {
  const type = mediaType(headers);
  const isHtml = type === 'text/html' || startsWith(body, '<');
  if (!isHtml && (json.test(type) || type === '')) return;
  const shown = usualTypes.test(type) ? type : 'of another type';
  throw new ResponseError(
    'wrong_content_type',
    isHtml
      ? 'Got an HTML page where JSON was expected.'
      : `The response is ${shown} where JSON was expected.`,
    {
      hint: isHtml
        ? 'A login page or a proxy may have responded instead of the API; check the base URL.'
        : checkBaseUrl,
      body: bodyExcerpt(body),
    },
  );
}

/** Does the text start with this, apart from spaces and a byte order mark? */
export function startsWith(body: Buffer, text: string): boolean {
  return body
    .toString('latin1', 0, 64)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .startsWith(text);
}

/**
 * The body as a value. A cut or broken one is worth another try; the error does not show what it
 * holds.
 */
export function parseJson({ body }: HttpResponse): unknown {
  const text = decodeText(body);
  try {
    return JSON.parse(text);
  } catch {
    throw new ResponseError(
      'invalid_json',
      `The body of ${body.length} bytes is cut, or is not JSON.`,
      {
        hint: 'A proxy may have cut the response; fewer rows may help.',
        isRetryable: true,
        body: bodyExcerpt(body),
      },
    );
  }
}

/**
 * Bytes as text. Broken UTF-8 is refused, because decoders silently put U+FFFD into names and
 * addresses.
 */
export function decodeText(body: Uint8Array): string {
  let bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);

  // A byte order mark is not part of the text, and JSON.parse refuses it.
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);

  // For plain ASCII the two decoders agree, and this one is many times as fast.
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw brokenUtf8();
}

/** The error for bytes that are not UTF-8. */
export function brokenUtf8(): ResponseError {
  const hint = 'The response may have been cut or converted on the way.';
  return new ResponseError('invalid_json', 'The body is not valid UTF-8.', {
    hint,
    isRetryable: true,
  });
}

/** The array of a list response. An object instead is an error with a good status. */
export function expectArray(value: unknown, response: HttpResponse): unknown[] {
  if (Array.isArray(value)) return value;
  throw unexpectedBody(value, response, 'a JSON array of calls');
}

const errorKeys = new Set(['error', 'errors', 'fault', 'message', 'detail', 'exception']);

/** The error for a good status with something unexpected in the body. */
export function unexpectedBody(
  value: unknown,
  response: HttpResponse,
  expected: string,
): ResponseError {
  const { status } = response;
  const details = { status, body: bodyExcerpt(response.body), isRetryable: false };
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (!keys.some((key) => errorKeys.has(key.toLowerCase())))
    return new ResponseError('unexpected_shape', `The response is not ${expected}.`, {
      ...details,
      hint: checkBaseUrl,
    });

  const words = {
    message: `The server responded with status ${status}, but with an error in the body.`,
    serverReason: serverReason(response.body),
    hint: 'Check the credentials and the parameters.',
  };
  return new ResponseError('error_body', words, details);
}
