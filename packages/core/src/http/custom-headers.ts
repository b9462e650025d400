import { ConfigurationError } from '../errors/calls-error.ts';

/** Headers of a program, by name. `undefined` leaves a header out. */
export type CustomHeaders = Readonly<Record<string, string | undefined>>;

/** Names that the client sets itself. */
const reserved =
  /^(?:authorization|access_key|secret_key|accept|accept-encoding|connection|content-length|content-type|expect|host|keep-alive|transfer-encoding|upgrade)$/i;

/** Refuses names and values that a header cannot have, and those that would replace what the client sends. */
export function checkHeaders(headers: CustomHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new ConfigurationError('invalid_option', 'headers has a name that an HTTP header cannot have.', {
        hint: 'Names have letters, digits and hyphens, without a colon.',
      });
    if (reserved.test(name))
      throw new ConfigurationError('invalid_option', `headers must not set ${name}.`, {
        hint: 'The client sets it itself; credentials are passed as auth.',
      });
    if (value !== undefined && (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)))
      throw new ConfigurationError(
        'invalid_option',
        `headers.${name} must be a string without line breaks and other control characters.`,
      );
  }
}

/** Two sets of headers as one; those of `later` come first. Names are in lower case. */
export function mergeHeaders(earlier: CustomHeaders, later: CustomHeaders): CustomHeaders {
  const lower = (headers: CustomHeaders) =>
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries([...lower(earlier), ...lower(later)]);
}

/** Header names and values, flat, as the transport takes them. */
export const flatHeaders = (headers: CustomHeaders): string[] =>
  Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));

/** Values that may be credentials, by the names of their headers: they must not be in messages. */
export const secretValues = (headers: CustomHeaders): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value !== undefined && /key|token|secret|auth|cookie|password|signature/i.test(name) ? [value] : [],
  );
