import { isAscii, isUtf8 } from 'node:buffer';
import { bodyExcerpt } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/calls-error.ts';
import { mediaType } from '../http/headers.ts';
import type { Answer } from '../http/transport.ts';

const json = /^(?:application|text)\/(?:[\w.+-]+\+)?json$/;

/** Refuses an answer that does not claim to be JSON, or is a page all the same: login pages come with status 200. */
export function expectJson(answer: Answer): void {
  const type = mediaType(answer.headers);
  const html = type === 'text/html' || startsWith(answer.body, '<');
  if (!html && (json.test(type) || type === '')) return;
  const body = bodyExcerpt(answer.body);
  if (html)
    throw new ResponseError('html_page', 'An HTML page came where JSON was expected.', {
      isRetryable: true,
      body,
      hint: 'A login page or a proxy may stand in between; check the base URL.',
    });
  const shown = /^[\w.+-]{1,40}\/[\w.+-]{1,60}$/.test(type) ? type : 'an unreadable type';
  throw new ResponseError('wrong_content_type', `The answer is ${shown} where JSON was expected.`, {
    isRetryable: true,
    body,
    hint: 'Check that the base URL points at the call-attribution API.',
  });
}

/** Does the text begin with this, blanks and a byte order mark aside? */
export function startsWith(body: Buffer, text: string): boolean {
  return body
    .toString('latin1', 0, 64)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .startsWith(text);
}

/** The body as a value. A cut or broken one is worth another try; what it holds stays out of the error. */
export function parseJson(answer: Answer): unknown {
  const text = decodeText(answer.body);
  try {
    return JSON.parse(text);
  } catch {
    throw new ResponseError('invalid_json', `The body of ${answer.body.length} bytes is cut or no JSON.`, {
      isRetryable: true,
      body: bodyExcerpt(answer.body),
      hint: 'A proxy may have cut the answer; fewer rows may help.',
    });
  }
}

/** Bytes to text. Broken UTF-8 is refused: decoders would put U+FFFD into names and addresses without a word. */
export function decodeText(body: Uint8Array): string {
  let bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // A byte order mark is no part of the text, and JSON.parse refuses it.
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  // For plain ASCII the two decoders agree, and this one is many times as fast.
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw brokenUtf8();
}

/** For bytes that are not what they claim to be. */
export function brokenUtf8(): ResponseError {
  return new ResponseError('bad_encoding', 'The body is not valid UTF-8.', {
    isRetryable: true,
    hint: 'It may have been cut or converted on the way.',
  });
}

/** The array of a list answer. An object instead is an error the server tells with a good status. */
export function expectArray(value: unknown, answer: Answer): unknown[] {
  if (Array.isArray(value)) return value;
  throw notWhatWasAsked(value, answer, 'a JSON array of calls');
}

/** The error for a good status with something else in the body. */
export function notWhatWasAsked(value: unknown, answer: Answer, expected: string): ResponseError {
  const body = bodyExcerpt(answer.body);
  const keys =
    typeof value === 'object' && value !== null ? Object.keys(value).map((key) => key.toLowerCase()) : [];
  if (keys.some((key) => ['error', 'errors', 'fault', 'message', 'detail', 'exception'].includes(key)))
    return new ResponseError(
      'error_body',
      `The server answered ${answer.status}, but with an error in the body.`,
      {
        status: answer.status,
        body,
        hint: 'Read the body for the reason; check credentials and parameters.',
      },
    );
  return new ResponseError('unexpected_shape', `The answer is not ${expected}.`, {
    body,
    hint: 'Check that the base URL points at the call-attribution API.',
  });
}
