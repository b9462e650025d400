import {
  type CallsError,
  ConfigurationError,
  ConnectionError,
  DeadlineError,
  HttpError,
  ResponseError,
} from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { ProxyFailure } from './proxy.ts';

const tls = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|HOSTNAME_MISMATCH)/;

/** Names that platforms give to bodies which they could not decode. */
const coding = /^Z_|^ERR__?(?:BROTLI|ZLIB)|^(?:Zlib|Brotli)\w*Error$/;

/**
 * Turns what the transport throws into one of our errors. The cause keeps its code only: messages of others may quote
 * headers.
 *
 * @param hasBegun the response had begun when the connection failed.
 */
export function networkError(error: unknown, origin: string, hasBegun: boolean): CallsError {
  if (error instanceof ProxyFailure) return proxyError(error, origin);
  const given = (error ?? {}) as { code?: unknown; syscall?: string; name?: string };
  const { syscall } = given;
  // The parser of the transport has a name instead of a code when it meets something that is not HTTP.
  const { name = 'Error' } = given;
  const code = typeof given.code === 'string' ? given.code : /^(?:Type)?Error$/.test(name) ? 'UNKNOWN' : name;
  const cause = Object.assign(new Error(syscall ? `${syscall} ${code}` : code), { code });
  const retry = { isRetryable: true, cause };
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new DeadlineError('connect_timeout', messages.connectTimeout(origin), retry);
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new ConfigurationError('client_closed', setupMessages.dispatcherClosed(), { cause });
  if (code === 'UND_ERR_INVALID_ARG')
    return new ConfigurationError('invalid_option', setupMessages.dispatcherRefuses(), { cause });
  if (coding.test(code))
    return new ResponseError('bad_encoding', messages.encodingBroken('compressed'), retry);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConnectionError('dns_failed', messages.nameNotFound(origin, code), retry);
  if (tls.test(code)) return new ConnectionError('tls_failed', messages.tlsFailed(origin, code), { cause });
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new ConnectionError('protocol_error', messages.notHttp(origin, code), retry);
  if (code.startsWith('UND_MOCK_'))
    return new ConnectionError('connection_failed', messages.noMock(origin), { cause });
  return hasBegun
    ? new ConnectionError('connection_lost', messages.connectionLost(origin, code), retry)
    : new ConnectionError('connection_failed', messages.noResponse(origin, code), retry);
}

function proxyError({ origin: proxy, reason }: ProxyFailure, origin: string): CallsError {
  if (reason === 'timeout')
    return new DeadlineError('connect_timeout', messages.proxyTimeout(proxy), { isRetryable: true });
  if (typeof reason === 'number')
    return new HttpError('proxy_refused', messages.proxyRefused(proxy, origin, reason), {
      isRetryable: reason >= 500,
      status: reason,
    });
  const cause = Object.assign(new Error(reason), { code: reason });
  return new ConnectionError('proxy_failed', messages.proxyFailed(proxy, reason), {
    isRetryable: true,
    cause,
  });
}
