import { serverWords } from '../errors/body-excerpt.ts';
import {
  type CallsError,
  ConfigurationError,
  ConnectionError,
  codeOf,
  DeadlineError,
  ResponseError,
} from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { setupMessages } from '../errors/setup-messages.ts';
import { framesOf } from '../tracing/safe-caller.ts';
import { lookupTimeout } from './lookup.ts';
import { ProxyFailure } from './proxy.ts';

const tls = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|HOSTNAME_MISMATCH)/;

/** Names that platforms give to bodies which they could not decode. */
const coding = /^Z_|^ERR__?(?:BROTLI|ZLIB)|^(?:Zlib|Brotli)\w*Error$/;

/**
 * Turns what the transport throws into one of our errors. The cause has what is safe to show: of an error with a code, as those of
 * Node.js are, only that, since its message may quote headers; of any other its name, its frames and the words of its message that are safe.
 *
 * @param hasBegun the response had begun when the connection failed.
 */
export function networkError(error: unknown, origin: string, hasBegun: boolean): CallsError {
  if (error instanceof ProxyFailure) return proxyError(error, origin);
  // Within a body only the platform throws, in words of its own.
  if (!hasBegun && isMistake(error))
    return new ConfigurationError('invalid_option', messages.senderBroken(), {
      kind: 'bug',
      cause: bareError(error),
    });
  const code = codeOf(error) ?? parserNameOf(error);
  if (code !== undefined) return codeError(code, error, origin, hasBegun);
  const bare = { cause: bareError(error) };
  return hasBegun
    ? new ConnectionError('connection_lost', messages.connectionLost(origin, nameOf(error)), bare)
    : new ConnectionError('connection_failed', messages.senderThrew(origin, nameOf(error)), bare);
}

/** What `fetch` of the platforms throws without a code when there is no response: of the same type as a mistake in a program. */
const fetchFailure =
  /^(?:fetch failed|failed to fetch|load failed|networkerror|network connection lost|error (?:sending|reading)|terminated)/i;

/** The first frame of an error that the platform has thrown, and not the program. */
const platformFrame = /^\s+at [^\n]*\b(?:ext|node):/;

/** Is it an error of a program, such as a property of undefined, and not a failure of the network? Trying again cannot help then. */
function isMistake(error: unknown): error is Error {
  if (!(error instanceof Error) || !/^(?:Type|Reference|Range|Syntax)Error$/.test(error.name)) return false;
  const code = codeOf(error);
  if (code !== undefined) return code.startsWith('ERR_INVALID_ARG');
  return !fetchFailure.test(error.message) && !platformFrame.test(framesOf(error));
}

/** The parser of the transport has a name instead of a code when it meets something that is not HTTP, and so have decoders. */
const parserNameOf = (error: unknown): string | undefined =>
  error instanceof Error && (error.name === 'HTTPParserError' || coding.test(error.name))
    ? error.name
    : undefined;

const nameOf = (error: unknown): string =>
  error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error';

/** An error with nothing but the name, the frames and the safe words of another one. */
function bareError(error: unknown): Error {
  const name = nameOf(error);
  const bare = new Error(
    error instanceof Error ? serverWords(error.message) : 'something that is not an error',
  );
  bare.name = name;
  bare.stack = `${name}: ${bare.message}\n${framesOf(error)}`;
  return bare;
}

function codeError(code: string, error: unknown, origin: string, hasBegun: boolean): CallsError {
  const syscall = error instanceof Error && 'syscall' in error ? `${error.syscall} ` : '';
  const cause = Object.assign(new Error(syscall + code), { code });
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new DeadlineError('timeout', messages.connectTimeout(origin), { cause, limit: 'connect' });
  if (code === lookupTimeout)
    return new DeadlineError('timeout', messages.lookupTimeout(new URL(origin).hostname), {
      cause,
      limit: 'connect',
    });
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return new ConfigurationError('client_closed', undefined, { cause });
  if (code === 'UND_ERR_INVALID_ARG')
    return new ConfigurationError('invalid_option', setupMessages.dispatcherRefuses(), { cause });
  if (coding.test(code))
    return new ResponseError('invalid_json', messages.encodingBroken('compressed'), {
      cause,
      isRetryable: true,
    });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new ConnectionError('connection_failed', messages.nameNotFound(origin, code), { cause });
  if (tls.test(code))
    return new ConnectionError('connection_failed', messages.tlsFailed(origin, code), {
      cause,
      isRetryable: false,
    });
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new ConnectionError('connection_failed', messages.notHttp(origin, code), { cause });
  if (code.startsWith('UND_MOCK_'))
    return new ConnectionError('connection_failed', messages.noMock(origin), { cause, isRetryable: false });
  return hasBegun
    ? new ConnectionError('connection_lost', messages.connectionLost(origin, code), { cause })
    : new ConnectionError('connection_failed', messages.noResponse(origin, code), { cause });
}

function proxyError({ origin: proxy, reason }: ProxyFailure, origin: string): CallsError {
  if (reason === 'timeout')
    return new DeadlineError('timeout', messages.proxyTimeout(proxy), { limit: 'connect' });
  if (typeof reason === 'number')
    return new ConnectionError('proxy_failed', messages.proxyRefused(proxy, origin, reason), {
      isRetryable: reason >= 500,
      status: reason,
    });
  const cause = Object.assign(new Error(reason), { code: reason });
  return new ConnectionError('proxy_failed', messages.proxyFailed(proxy, reason), { cause });
}
