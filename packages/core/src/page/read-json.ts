import { isAscii, isUtf8 } from 'node:buffer';
import { bodyExcerpt, serverReason } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import type { HttpResponse } from '../http/dispatch.ts';
import { mediaType } from '../http/headers.ts';

const json = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/;

// A server can write anything into a header, also what it knows about a caller. Only these are repeated in a message.
const usualTypes = new Set([
  'application/octet-stream',
  'application/pdf',
  'application/x-ndjson',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/zip',
  'image/gif',
  'image/jpeg',
  'image/png',
  'text/css',
  'text/csv',
  'text/javascript',
  'text/plain',
  'text/xml',
]);

/** Refuses a response that does not claim to be JSON, or is a page all the same: login pages come with status 200. */
export function expectJson({ headers, body }: HttpResponse): void {
  const type = mediaType(headers);
  const isHtml = type === 'text/html' || startsWith(body, '<');
  if (!isHtml && (json.test(type) || type === '')) return;
  const details = { body: bodyExcerpt(body) };
  if (isHtml) throw new ResponseError('wrong_content_type', messages.htmlPage('JSON'), details);
  throw new ResponseError(
    'wrong_content_type',
    messages.contentTypeWrong(usualTypes.has(type) ? type : undefined),
    details,
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

/** The body as a value. A cut or broken one is worth another try; the error does not show what it holds. */
export function parseJson({ body }: HttpResponse): unknown {
  const text = decodeText(body);
  try {
    return JSON.parse(text);
  } catch {
    throw new ResponseError('invalid_json', messages.jsonInvalid(body.length), {
      isRetryable: true,
      body: bodyExcerpt(body),
    });
  }
}

/** Bytes as text. Broken UTF-8 is refused, because decoders silently put U+FFFD into names and addresses. */
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
  return new ResponseError('invalid_json', messages.notUtf8(), { isRetryable: true });
}

/** The array of a list response. An object instead is an error with a good status. */
export function expectArray(value: unknown, response: HttpResponse): unknown[] {
  if (Array.isArray(value)) return value;
  throw unexpectedBody(value, response, 'a JSON array of calls');
}

const errorKeys = new Set(['error', 'errors', 'fault', 'message', 'detail', 'exception']);

/** The error for a good status with something unexpected in the body. */
export function unexpectedBody(value: unknown, response: HttpResponse, expected: string): ResponseError {
  const { status } = response;
  const body = bodyExcerpt(response.body);
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return keys.some((key) => errorKeys.has(key.toLowerCase()))
    ? new ResponseError('error_body', messages.errorBody(status, serverReason(response.body)), {
        status,
        body,
        isRetryable: false,
      })
    : new ResponseError('unexpected_shape', messages.shapeUnexpected(expected), { body, isRetryable: false });
}
