import { type CallsError, ConfigurationError, NetworkError, TimeoutError } from '../errors/calls-error.ts';

const tls = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|HOSTNAME_MISMATCH)/;

/** Turns what the transport throws into one of our errors. The cause keeps its code only: texts of others may quote headers. */
export function networkError(error: unknown, origin: string, answering: boolean): CallsError {
  const given = (error ?? {}) as { code?: unknown; syscall?: string; name?: string };
  // The parser of the transport gives a name instead of a code when it meets something else than HTTP.
  const { syscall } = given;
  const code = typeof given.code === 'string' ? given.code : (given.name ?? 'UNKNOWN');
  const cause = Object.assign(new Error(syscall ? `${syscall} ${code}` : code), { code });
  const retry = { isRetryable: true, cause };
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new TimeoutError('connect_timeout', `No connection to ${origin} within the connect deadline.`, {
      ...retry,
      hint: 'Is the server running, and is the base URL right?',
    });
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new ConfigurationError('client_closed', 'The client or its dispatcher has been closed.', {
      cause,
      hint: 'Create a new client.',
    });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new NetworkError('dns_failed', `The name of ${origin} was not found (${code}).`, {
      ...retry,
      hint: 'Check the spelling of the base URL and the network.',
    });
  if (tls.test(code))
    return new NetworkError('tls_failed', `No trusted TLS connection to ${origin} (${code}).`, {
      cause,
      hint: 'Check the certificate, and whether the base URL should be https or http.',
    });
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new NetworkError('protocol_error', `${origin} does not answer in HTTP/1.1 (${code}).`, {
      ...retry,
      hint: 'Is the port right, and should the base URL be https?',
    });
  if (code.startsWith('UND_MOCK_'))
    return new NetworkError('connection_failed', `No mock answers this request to ${origin}.`, { cause });
  if (answering)
    return new NetworkError(
      'connection_lost',
      `The connection to ${origin} ended in the middle of an answer (${code}).`,
      retry,
    );
  return new NetworkError('connection_failed', `No answer from ${origin} (${code}).`, {
    ...retry,
    hint: 'Is the server running, and is the base URL right?',
  });
}
