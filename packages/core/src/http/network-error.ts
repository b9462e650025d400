import { serverWords } from '../errors/body-excerpt.ts';
import { type CallsError, codeOf, type ErrorDetails } from '../errors/calls-error.ts';
import {
  ConfigurationError,
  ConnectionError,
  DeadlineError,
  ResponseError,
} from '../errors/classes.ts';
import { framesOf } from '../tracing/safe-caller.ts';
import { lookupTimeout } from './lookup.ts';
import { ProxyFailure } from './proxy.ts';

/** Names that platforms give to bodies which they could not decode. */
const coding = /^Z_|^ERR__?(?:BROTLI|ZLIB)|^(?:Zlib|Brotli)\w*Error$/;

/**
 * Turns what the transport throws into one of our errors. The cause has what is safe to show: of an
 * error with a code, as those of Node.js are, only that, since its message may quote headers; of
 * any other its name, its frames and the words of its message that are safe.
 *
 * @param hasBegun the response had begun when the connection failed.
 */
export function networkError(error: unknown, origin: string, hasBegun: boolean): CallsError {
  if (error instanceof ProxyFailure) return proxyError(error, origin);
  const name = error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error';

  // The parser of the transport has a name instead of a code when it meets something that is not
  // HTTP, and so have decoders.
  const isNamed = name === 'HTTPParserError' || coding.test(name);
  const code = codeOf(error) ?? (isNamed ? name : undefined);
  if (code !== undefined) return codeError(code, error, origin, hasBegun);
  const cause = new Error(
    error instanceof Error ? serverWords(error.message) : 'something that is not an error',
  );
  cause.name = name;
  cause.stack = `${name}: ${cause.message}\n${framesOf(error)}`;
  if (hasBegun) return connectionLost(origin, name, cause);
  return new ConnectionError(
    'connection_failed',
    `No response from ${origin}: what sends the requests threw an error (${name}).`,
    { hint: 'The cause has its name and its frames.', cause },
  );
}

const connectionLost = (origin: string, code: string, cause: Error): ConnectionError =>
  new ConnectionError(
    'connection_failed',
    `The connection to ${origin} ended in the middle of a response (${code}).`,
    { hint: 'Send the request again; fewer rows may help.', cause },
  );

/** The error for a name whose address was not found before a deadline. */
export const lookupTimedOut = (host: string, details: ErrorDetails): DeadlineError =>
  new DeadlineError(
    'timeout',
    `The address of ${host} was not found in time: DNS did not answer.`,
    {
      hint: 'Check the name in the base URL, and the DNS servers and the network of this machine.',
      limit: 'connect',
      ...details,
    },
  );

/** The error for a body that cannot be decoded. */
export const bodyDamaged = (encoding: string, cause?: Error): ResponseError =>
  new ResponseError('invalid_json', `The ${encoding} body is cut or damaged.`, {
    hint: 'The response may have been cut or converted on the way.',
    isRetryable: true,
    ...(cause && { cause }),
  });

function codeError(code: string, error: unknown, origin: string, hasBegun: boolean): CallsError {
  const syscall = error instanceof Error && 'syscall' in error ? `${error.syscall} ` : '';
  const cause = Object.assign(new Error(syscall + code), { code });
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new DeadlineError('timeout', `No connection to ${origin} within the connect deadline.`, {
      hint: checkServer,
      cause,
      limit: 'connect',
    });

  if (code === lookupTimeout) return lookupTimedOut(new URL(origin).hostname, { cause });
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new ConfigurationError('client_closed', undefined, { cause });
  if (code === 'UND_ERR_INVALID_ARG')
    return new ConfigurationError(
      'invalid_option',
      'The dispatcher does not accept the request or its handler.',
      { hint: 'Pass a dispatcher of undici 7 or 8; those of undici 6 need other handlers.', cause },
    );

  if (coding.test(code)) return bodyDamaged('compressed', cause);
  const known = failures.find(({ codes }) => codes.test(code));
  if (known === undefined && hasBegun) return connectionLost(origin, code, cause);
  const {
    what = 'No response from ORIGIN (CODE).',
    hint = checkServer,
    isRetryable = true,
  } = known ?? {};
  const message = what.replace('ORIGIN', origin).replace('CODE', code);
  return new ConnectionError('connection_failed', message, { hint, cause, isRetryable });
}

const checkServer = 'Check that the server is running, and the base URL.';

const noTls = { what: 'No trusted TLS connection to ORIGIN (CODE).', isRetryable: false };

/** What some codes of Node.js and undici mean, and what helps. */
const failures: readonly { codes: RegExp; what: string; hint: string; isRetryable?: boolean }[] = [
  {
    codes: /^(?:ENOTFOUND|EAI_AGAIN)$/,
    what: 'The host name in ORIGIN was not found (CODE).',
    hint: 'Check the spelling of the base URL, and the network.',
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    ...noTls,
    hint: 'The certificate has expired: whoever runs the server, or a proxy that reads TLS, has to renew it. Check the clock of this machine too.',
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    ...noTls,
    hint: 'The certificate is not valid yet: check the clock of this machine.',
  },
  {
    codes: /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    ...noTls,
    hint: 'The certificate is for other host names: check the base URL.',
  },
  {
    codes: /^(?:EPROTO|ERR_SSL)/,
    ...noTls,
    hint: 'The server may not speak TLS on this port: check whether the base URL should be http, and its port.',
  },
  {
    codes: /^(?:CERT_|ERR_TLS|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED)/,
    ...noTls,
    hint: 'The authority that signed the certificate is not trusted. For a private authority or a proxy that reads TLS, name its certificate in NODE_EXTRA_CA_CERTS.',
  },
  {
    codes: /^(?:HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$)/,
    what: 'ORIGIN does not speak HTTP/1.1 (CODE).',
    hint: 'Check the port, and whether the base URL should be https.',
  },
  {
    codes: /^UND_MOCK_/,
    what: 'No mock responds to this request to ORIGIN.',
    hint: 'Add an intercept for it to the MockAgent.',
    isRetryable: false,
  },
];

const checkProxy =
  'HTTPS_PROXY and HTTP_PROXY name the proxy; NO_PROXY names hosts that are reached without it.';

function proxyError({ origin: proxy, reason }: ProxyFailure, origin: string): CallsError {
  if (reason === 'timeout')
    return new DeadlineError(
      'timeout',
      `The proxy ${proxy} did not connect within the connect deadline.`,
      {
        hint: checkProxy,
        limit: 'connect',
      },
    );

  if (reason === 407) return proxyRefused(`The proxy ${proxy}`);
  if (typeof reason === 'number')
    return new ConnectionError(
      'proxy_failed',
      `The proxy ${proxy} does not connect to ${origin} (status ${reason}).`,
      {
        hint: `Ask whoever runs the proxy. ${checkProxy}`,
        isRetryable: reason >= 500,
        status: reason,
      },
    );

  const cause = Object.assign(new Error(reason), { code: reason });
  return new ConnectionError('proxy_failed', `No connection to the proxy ${proxy} (${reason}).`, {
    hint: `Is the proxy running? ${checkProxy}`,
    cause,
  });
}

/** The error for a proxy that wants other credentials, on the way to a server or instead of it. */
export const proxyRefused = (proxy = 'A proxy'): ConnectionError =>
  new ConnectionError('proxy_failed', `${proxy} does not accept its credentials (status 407).`, {
    hint: 'Put the user name and the password into HTTPS_PROXY or HTTP_PROXY, percent-encoded: http://user:password@host:port.',
    isRetryable: false,
    status: 407,
  });
