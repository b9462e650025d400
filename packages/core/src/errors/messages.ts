// What errors of requests and responses say; setup-messages.ts has those of wrong options. The code that finds a problem
// passes facts, and these two files put them into words: what happened, what was expected, what to do next. No fact may
// be a secret or a caller's data.
import type { ErrorWords } from './calls-error.ts';
import { type CodeEntry, wordsOf } from './code-table.ts';
import { connectionErrors, type HttpErrorCode, httpErrors, responseErrors } from './codes.ts';

const checkServer = 'Check that the server is running, and the base URL.';
const checkBaseUrl = 'Check that the base URL points to the call-attribution API.';
const checkProxy =
  'HTTPS_PROXY and HTTP_PROXY name the proxy; NO_PROXY names hosts that are reached without it.';
const proxyCredentials =
  'Put the user name and the password into HTTPS_PROXY or HTTP_PROXY, percent-encoded: http://user:password@host:port.';
const cutOnTheWay = 'The response may have been cut or converted on the way.';

const proxyRefuses = { message: 'A proxy does not accept its credentials.', hint: proxyCredentials };

const hintOf = (entry: CodeEntry): string => wordsOf(entry).hint;

/** How the credentials of a client can be refused. */
export type AuthKind = 'v2' | 'v3 token' | 'v3 keys' | 'sms';

const authHints: Readonly<Record<AuthKind, string>> = {
  v2: 'v2 expects a bearer token issued for this account: check that it is the right one and has not expired.',
  'v3 token': 'v3 accepts bearer tokens of legacy users only; others need an access key and a secret key.',
  'v3 keys':
    'v3 expects the access key and the secret key in the headers access_key and secret_key. Some proxies (nginx by default) drop header names with an underscore: check the proxies on the way, too.',
  sms: 'The SMS listing expects the access key and the secret key of the account as access_key and secret_access_key.',
};

/** What helps against a fault of TLS, by its code in Node.js. */
function tlsAdvice(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'The certificate has expired: whoever runs the server, or a proxy that reads TLS, has to renew it. Check the clock of this machine too.';
    case 'CERT_NOT_YET_VALID':
      return 'The certificate is not valid yet: check the clock of this machine.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return 'The certificate is for other host names: check the base URL.';
    default:
      return /^(?:EPROTO|ERR_SSL)/.test(code)
        ? 'The server may not speak TLS on this port: check whether the base URL should be http, and its port.'
        : 'The authority that signed the certificate is not trusted. For a private authority or a proxy that reads TLS, name its certificate in NODE_EXTRA_CA_CERTS.';
  }
}

/** Facts in, words out. */
export const messages = {
  // The connection.
  connectTimeout: (origin: string): ErrorWords => ({
    message: `No connection to ${origin} within the connect deadline.`,
    hint: checkServer,
  }),
  lookupTimeout: (host: string): ErrorWords => ({
    message: `The address of ${host} was not found in time: DNS did not answer.`,
    hint: 'Check the name in the base URL, and the DNS servers and the network of this machine.',
  }),
  nameNotFound: (origin: string, code: string): ErrorWords => ({
    message: `The host name in ${origin} was not found (${code}).`,
    hint: 'Check the spelling of the base URL, and the network.',
  }),
  tlsFailed: (origin: string, code: string): ErrorWords => ({
    message: `No trusted TLS connection to ${origin} (${code}).`,
    hint: tlsAdvice(code),
  }),
  notHttp: (origin: string, code: string): ErrorWords => ({
    message: `${origin} does not speak HTTP/1.1 (${code}).`,
    hint: 'Check the port, and whether the base URL should be https.',
  }),
  proxyFailed: (proxy: string, code: string): ErrorWords => ({
    message: `No connection to the proxy ${proxy} (${code}).`,
    hint: `Is the proxy running? ${checkProxy}`,
  }),
  proxyTimeout: (proxy: string): ErrorWords => ({
    message: `The proxy ${proxy} did not connect within the connect deadline.`,
    hint: checkProxy,
  }),
  proxyRefused: (proxy: string, origin: string, status: number): ErrorWords =>
    status === 407
      ? {
          message: `The proxy ${proxy} does not accept its credentials (status 407).`,
          hint: proxyCredentials,
        }
      : {
          message: `The proxy ${proxy} does not connect to ${origin} (status ${status}).`,
          hint: `Ask whoever runs the proxy. ${checkProxy}`,
        },
  noMock: (origin: string): ErrorWords => ({
    message: `No mock responds to this request to ${origin}.`,
    hint: 'Add an intercept for it to the MockAgent.',
  }),
  connectionLost: (origin: string, code: string): ErrorWords => ({
    message: `The connection to ${origin} ended in the middle of a response (${code}).`,
    hint: hintOf(connectionErrors.connection_lost),
  }),
  noResponse: (origin: string, code: string): ErrorWords => ({
    message: `No response from ${origin} (${code}).`,
    hint: checkServer,
  }),
  senderBroken: (): ErrorWords => ({
    message:
      'What sends the requests, the function passed as fetch or the dispatcher, has a mistake in its program.',
    hint: 'The cause has its frames; correct it.',
  }),
  senderThrew: (origin: string, name: string): ErrorWords => ({
    message: `No response from ${origin}: what sends the requests threw ${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}.`,
    hint: 'The cause has its name and its frames.',
  }),

  // Deadlines.
  totalTimeout: (ms: number): ErrorWords => ({
    message: `The call did not finish within its total deadline of ${ms} ms.`,
    hint: 'Request fewer rows, or raise timeout.total.',
  }),
  attemptTimeout: (ms: number): ErrorWords => ({
    message: `The response was not complete within ${ms} ms.`,
    hint: 'Request fewer rows, or raise timeout.attempt.',
  }),
  idleTimeout: (ms: number): ErrorWords => ({
    message: `The server sent nothing for ${ms} ms.`,
    hint: 'The server or a proxy may be stuck; raise timeout.idle if the server is only slow.',
  }),
  limiterTimeout: (ms: number): ErrorWords => ({
    message: `The limiter did not let the request start within the total deadline of ${ms} ms.`,
    hint: 'Raise timeout.total or the limits, or send fewer requests at once.',
  }),
  retryLater: (waitMs: number, when: string): string =>
    `The next attempt would be due in ${Math.ceil(waitMs / 1000)} s, after the total deadline; try again after ${when}.`,

  // A status that is not success.
  status(
    code: HttpErrorCode | 'proxy_failed',
    status: number,
    auth: AuthKind,
    serverReason: string | undefined,
  ): ErrorWords {
    const { message: meaning, hint } = code === 'proxy_failed' ? proxyRefuses : wordsOf(httpErrors[code]);
    const message = `${meaning.replace(/(?: \([^)]*\))?\.$/, '')} (status ${status}).`;
    if (code === 'unauthorized') return { message, serverReason, hint: authHints[auth] };
    if (status === 414 || status === 431)
      return {
        message,
        serverReason,
        hint: 'The filter is too long for this server: split it into several.',
      };
    return { message, serverReason, hint };
  },
  noContent: (status: number): ErrorWords => ({
    message: `Got status ${status} where 200 and a body were expected.`,
    hint: checkBaseUrl,
  }),

  // A body that cannot be read.
  tooLarge: (maxBodyBytes: number): ErrorWords => ({
    message: `The response is larger than the limit of ${maxBodyBytes} bytes.`,
    hint: hintOf(responseErrors.body_too_large),
  }),
  encodingUnknown: (): ErrorWords => ({
    message: 'The response has a content encoding that was not requested.',
    hint: 'gzip, deflate and br are understood; compress: false requests none.',
  }),
  encodingBroken: (name: string): ErrorWords => ({
    message: `The ${name} body is cut or damaged.`,
    hint: cutOnTheWay,
  }),
  notUtf8: (): ErrorWords => ({ message: 'The body is not valid UTF-8.', hint: cutOnTheWay }),
  htmlPage: (expected: 'JSON' | 'XML'): ErrorWords => ({
    message: `Got an HTML page where ${expected} was expected.`,
    hint:
      expected === 'JSON'
        ? 'A login page or a proxy may have responded instead of the API; check the base URL.'
        : 'Check the URL of the SMS listing.',
  }),
  contentTypeWrong: (type: string | undefined): ErrorWords => ({
    message: `The response is ${type ?? 'of another type'} where JSON was expected.`,
    hint: checkBaseUrl,
  }),
  jsonInvalid: (bytes: number): ErrorWords => ({
    message: `The body of ${bytes} bytes is cut, or is not JSON.`,
    hint: 'A proxy may have cut the response; fewer rows may help.',
  }),
  recordJsonInvalid: (): ErrorWords => ({
    message: 'A record of the page is not valid JSON.',
    hint: 'listCalls() requests such a page again.',
  }),
  notAnArray: (how: string): ErrorWords => ({
    message: `The body is not a JSON array of calls: ${how}.`,
    hint: 'A proxy may have cut the response; fewer rows may help.',
  }),
  errorBody: (status: number, serverReason: string | undefined): ErrorWords => ({
    message: `The server responded with status ${status}, but with an error in the body.`,
    serverReason,
    hint: 'Check the credentials and the parameters.',
  }),
  shapeUnexpected: (expected: string): ErrorWords => ({
    message: `The response is not ${expected}.`,
    hint: checkBaseUrl,
  }),

  // Records.
  notAnObject: (found: string): ErrorWords => ({
    message: `A call record must be an object; found ${found}.`,
    hint: checkBaseUrl,
  }),
  recordInvalid: (
    version: string,
    problems: readonly string[],
    more: number,
    hasSid: boolean,
  ): ErrorWords => ({
    message: `A ${version} call record does not match the table of fields: ${problems.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    hint: hasSid
      ? hintOf(responseErrors.invalid_record)
      : 'A record without `sid` cannot be told apart from others; check what the server sends.',
  }),
  otherCall: (): ErrorWords => ({
    message: 'The server sent another call than the one requested.',
    hint: 'A cache on the way may have mixed up responses.',
  }),

  // Pages and lists.
  rowsIgnored: (rows: number, count: number): ErrorWords => ({
    message: `The server ignores rows: ${rows} were requested, ${count} were sent.`,
    hint: 'Paging would repeat calls on this server. Use a filter, and rows large enough for one page.',
  }),
  countDiffers: (inRange: number, inBody: number): ErrorWords => ({
    message: `Content-Range says ${inRange} calls, the body has ${inBody}.`,
    hint: 'A proxy may have cut or cached the response.',
  }),
  pageMissing: (first: number, total: number): ErrorWords => ({
    message: `The page is empty, but it should start at call ${first} of ${total}.`,
    hint: 'The list may have changed in the meantime.',
  }),
  rangePastTotal: (last: number, total: number): ErrorWords => ({
    message: `Content-Range ends at ${last}, past its own total of ${total}.`,
    hint: 'A proxy may have changed the response.',
  }),
  pageWrong: (expected: number, found: number, isOffset: boolean): ErrorWords => ({
    message: `The page should start at call ${expected}; it starts at ${found}.`,
    hint: isOffset
      ? 'This server seems to count start in records, not in pages.'
      : 'A cache may have responded with another page.',
  }),
  pageClamped: (most: number, rows: number, page: number): ErrorWords => ({
    message: `The server sends at most ${most} rows, not the ${rows} requested, so its page ${page} is another part of the list.`,
    hint: `Request rows: ${most}, or iterate over listCalls(), which continues with the real page size.`,
  }),
  pageRepeated: (): ErrorWords => ({
    message: 'The server sends the same calls again as the next page: it seems to ignore start.',
    hint: 'Use a date filter, and rows large enough for one page.',
  }),
  listShort: (position: number, total: number): ErrorWords => ({
    message: `The list ends after ${position} calls, although the server reports ${total}.`,
    hint: 'Read the list again. If it stays so, the server cannot page that far.',
  }),
  listShrank: (gone: number): ErrorWords => ({
    message: `${gone} calls left the list while it was read: calls may have been missed.`,
    hint: 'Read the list again, preferably with a date filter whose end lies in the past.',
  }),
  totalMissing: (): ErrorWords => ({
    message: 'The server does not send a total in Content-Range.',
    hint: 'Count the calls while you iterate over listCalls().',
  }),
  countUnreadable: (): ErrorWords => ({
    message: 'The response of the count request does not hold a number.',
    hint: "A client with version: 'v3' counts in another way.",
  }),

  // The SMS listing.
  smsUnreadable: (how: string): ErrorWords => ({
    message: `The response of the SMS listing cannot be read: ${how}.`,
    hint: 'Check that the URL of the SMS listing is that of the server with ibp_api.php.',
  }),
  smsFailed: (result: string, description: string): ErrorWords => ({
    message: `The SMS listing failed (${result}${description === '' ? '' : `: ${description}`}).`,
    hint: 'It expects the access key and the secret key of the account; a bearer token does not work here.',
  }),
  smsCountDiffers: (reported: number, found: number): ErrorWords => ({
    message: `The SMS listing reports ${reported} numbers, but holds ${found}.`,
    hint: cutOnTheWay,
  }),
} as const;
