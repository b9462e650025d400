import { type CallsError, ConfigurationError, NetworkError, TimeoutError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { setupMessages } from '../errors/setup-messages.ts';

const tls = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|HOSTNAME_MISMATCH)/;

/**
 * Turns what the transport throws into one of our errors. The cause keeps its code only: messages of others may quote
 * headers.
 *
 * @param hasBegun the response had begun when the connection failed.
 */
export function networkError(error: unknown, origin: string, hasBegun: boolean): CallsError {
  const given = (error ?? {}) as { code?: unknown; syscall?: string; name?: string };
  const { syscall } = given;
  // The parser of the transport has a name instead of a code when it meets something that is not HTTP.
  const code = typeof given.code === 'string' ? given.code : (given.name ?? 'UNKNOWN');
  const cause = Object.assign(new Error(syscall ? `${syscall} ${code}` : code), { code });
  const retry = { isRetryable: true, cause };
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new TimeoutError('connect_timeout', messages.connectTimeout(origin), retry);
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new ConfigurationError('client_closed', setupMessages.dispatcherClosed(), { cause });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new NetworkError('dns_failed', messages.nameNotFound(origin, code), retry);
  if (tls.test(code)) return new NetworkError('tls_failed', messages.tlsFailed(origin, code), { cause });
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new NetworkError('protocol_error', messages.notHttp(origin, code), retry);
  if (code.startsWith('UND_MOCK_'))
    return new NetworkError('connection_failed', messages.noMock(origin), { cause });
  return hasBegun
    ? new NetworkError('connection_lost', messages.connectionLost(origin, code), retry)
    : new NetworkError('connection_failed', messages.noResponse(origin, code), retry);
}
