import type { IncomingHttpHeaders } from 'node:http';

const requestIdNames = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-amz-cf-id',
  'x-ms-request-id',
  'x-cloud-trace-context',
  'x-trace-id',
  'cf-ray',
];

/** The id under which the server knows the request, if it sends one. */
export function requestIdOf(headers: IncomingHttpHeaders): string | null {
  for (const name of requestIdNames) {
    const value = headers[name];
    if (typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)) return value;
  }
  return null;
}

/** Headers as strings; values of a repeated one are joined by commas. Cookies are left out: they are secrets. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || name === 'set-cookie') continue;
    plain[name] = typeof value === 'string' ? value : value.join(', ');
  }
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
