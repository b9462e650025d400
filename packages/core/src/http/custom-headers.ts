import { ConfigurationError } from '../errors/calls-error.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { checkOption } from '../options/check.ts';
import { option } from '../options/option.ts';

/** Headers of a program, by name. `undefined` leaves a header out. */
export type CustomHeaders = Readonly<Record<string, string | undefined>>;

/** Names that other options set, with those options, and names that only the client can set. */
const reserved: Readonly<Record<string, string | null>> = {
  authorization: 'auth',
  access_key: 'auth',
  secret_key: 'auth',
  'user-agent': 'userAgent',
  'accept-encoding': 'compress',
  accept: null,
  connection: null,
  'content-length': null,
  'content-type': null,
  expect: null,
  host: null,
  'keep-alive': null,
  'transfer-encoding': null,
  upgrade: null,
};

const headerValue = option.of<string>(
  'a string without line breaks and other control characters',
  (value) => typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
);

/** Refuses names and values that a header cannot have, and those that would replace what the client sends. */
export function checkHeaders(headers: CustomHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw new ConfigurationError('invalid_option', setupMessages.headerNameInvalid());
    const option = reserved[name.toLowerCase()];
    if (option !== undefined)
      throw new ConfigurationError('invalid_option', setupMessages.headerReserved(name, option));
    if (value !== undefined) checkOption(`headers.${name}`, headerValue, value);
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
