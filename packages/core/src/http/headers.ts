import type { IncomingHttpHeaders } from 'node:http';
import { ConfigurationError } from '../errors/classes.ts';

/** Headers of a program, by name. `undefined` leaves a header out. */
export type CustomHeaders = Readonly<Record<string, string | undefined>>;

/** Names that the client sets itself. */
const reserved =
  /^(?:authorization|access_key|secret_key|accept|accept-encoding|connection|content-length|content-type|expect|host|keep-alive|transfer-encoding|upgrade)$/i;

/**
 * Refuses names and values that a header cannot have, and those that would replace what the client
 * sends.
 */
export function checkHeaders(headers: CustomHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new ConfigurationError(
        'invalid_option',
        'headers has a name that an HTTP header cannot have.',
        {
          hint: 'Names have letters, digits and hyphens, without a colon.',
        },
      );
    if (reserved.test(name))
      throw new ConfigurationError('invalid_option', `headers must not set ${name}.`, {
        hint: 'The client sets it itself; credentials are passed as auth.',
      });
    if (
      value !== undefined &&
      (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    )
      throw new ConfigurationError(
        'invalid_option',
        `headers.${name} must be a string without line breaks and other control characters.`,
      );
  }
}

/**
 * Two sets of headers as one; those of `later` come first, and `undefined` leaves one out. Names
 * are in lower case.
 */
export function mergedHeaders(
  earlier: CustomHeaders,
  later: CustomHeaders,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [given, value] of Object.entries({ ...earlier, ...later })) {
    const name = given.toLowerCase();
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  }

  return headers;
}

/** Values that may be credentials, by the names of their headers: they must not be in messages. */
export const secretValues = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers)
    .filter(([name]) => /key|token|secret|auth|cookie|password|signature/i.test(name))
    .map(([, value]) => value);

const requestIdNames =
  'x-request-id request-id x-correlation-id x-amzn-requestid x-amz-request-id x-amz-cf-id x-ms-request-id x-cloud-trace-context x-trace-id cf-ray'.split(
    ' ',
  );

/** The id under which the server knows the request, if it sends one. */
export function requestIdOf(headers: IncomingHttpHeaders): string | null {
  for (const name of requestIdNames) {
    const value = headers[name];
    if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value;
  }
  return null;
}

/**
 * Headers as strings; values of a repeated one are joined by commas. Cookies are left out: they are
 * secrets.
 */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) if (name !== 'set-cookie') plain[name] = String(headers[name]);
  return plain;
}

/** One header; the first value of a repeated one. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The media type of a response in lower case, without parameters; empty when there is none. */
export function mediaType(headers: IncomingHttpHeaders): string {
  return (headerText(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
