import { type Secret, secret } from '../auth/secret.ts';
import { codeOf } from '../errors/calls-error.ts';
import { ConfigurationError } from '../errors/classes.ts';
import { lookupTimeout } from './lookup.ts';

/** A proxy between the client and a server. */
export interface ProxyServer {
  /** Scheme, host and port: what messages may show. */
  readonly origin: string;
  /** User name and password, as basic authentication sends them. */
  readonly credentials: Secret | undefined;
}

/**
 * Why there is no connection through a proxy. An agent passes one such error to all requests that
 * wait for the connection, so each request makes an error of its own from it.
 */
export class ProxyFailure extends Error {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The status of its response, `timeout`, or the code of what happened on the way to it. */
  readonly reason: number | string;
  constructor(origin: string, reason: number | string) {
    super(`proxy: ${reason}`);
    this.origin = origin;
    this.reason = reason;
  }
  /** A proxy to which no connection could be made. */
  static connecting({ origin }: ProxyServer, error: Error): ProxyFailure {
    const code = codeOf(error) ?? error.name;
    const isLate = code === lookupTimeout || code === 'UND_ERR_CONNECT_TIMEOUT';
    return new ProxyFailure(origin, isLate ? 'timeout' : code);
  }
}

/**
 * The proxy for a server, as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name it. Names in lower
 * case come first, as with curl.
 *
 * @param origin scheme, host and port of the server.
 */
export function proxyFor(
  origin: string,
  env: Readonly<Record<string, string | undefined>>,
): ProxyServer | undefined {
  const server = new URL(origin);
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = (env[variable.toLowerCase()] ?? env[variable] ?? '').trim();
  if (text === '' || isExcepted(server, env.no_proxy ?? env.NO_PROXY ?? '')) return undefined;
  return readProxy(text, variable);
}

const tooMuch = 'has more than scheme, credentials, host and port';
const proxyForm =
  'Expected http://host:port or http://user:password@host:port, with characters such as @ / # ? % of the password percent-encoded.';

/**
 * A proxy from its URL, with or without a scheme.
 *
 * @param variable where the URL is from, for errors.
 */
export function readProxy(text: string, variable: string): ProxyServer {
  const fail = (problem: string, hint = proxyForm): never => {
    throw new ConfigurationError('invalid_option', `${variable} ${problem}.`, { hint });
  };

  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) return fail('is not a URL');
  const { protocol, origin, username, password, pathname, search, hash } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:')
    return fail(
      'must begin with http:// or https://',
      'Other kinds of proxies, such as SOCKS, need a dispatcher of undici.',
    );

  // A password that is not encoded makes another host of its end, which would then be shown.
  if (pathname !== '/' || search !== '' || hash !== '') return fail(tooMuch);
  if (username === '' && password === '') return { origin, credentials: undefined };
  let user: string;
  try {
    user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return fail(tooMuch);
  }

  return { origin, credentials: secret(Buffer.from(user).toString('base64')) };
}

/**
 * Does `NO_PROXY` name the server: `*`, a host and its subdomains, a host with a port, or an
 * address?
 */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const serverPort = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .some((entry) => {
      if (entry === '' || entry === '*') return entry === '*';
      const [, bracketed, plain, entryPort] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
      const name = (bracketed ?? plain ?? entry).replace(/^\*?\./, '');
      if (entryPort !== undefined && entryPort !== serverPort) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}
