import type { IncomingHttpHeaders } from 'node:http';

const requestIdNames = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'];

/** The id under which the server knows the request, if it told one. */
export function requestIdOf(headers: IncomingHttpHeaders): string | null {
  for (const name of requestIdNames) {
    const value = headers[name];
    if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value;
  }
  return null;
}

/** Headers as plain texts; a repeated one is joined by commas. Cookies stay out: they are secrets. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name === 'set-cookie') continue;
    plain[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return plain;
}

/** One header as text. Of a repeated header the first counts. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The media type of an answer in lower case, without parameters; empty when none is given. */
export function mediaType(headers: IncomingHttpHeaders): string {
  return (headerText(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
