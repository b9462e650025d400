// What errors of wrong options say: nothing was sent. See messages.ts.
import type { ErrorWords } from './calls-error.ts';

const secretProblems = {
  missing: ['is empty', 'Is the environment variable set, and is its name spelled correctly?'],
  line_break: [
    'has a line break inside',
    'Pass only the key: a file or two keys may have been pasted at once.',
  ],
  space: [
    'has a space or a control character inside',
    'Pass only the key, without a label such as "Access key:".',
  ],
  not_ascii: [
    'has a character outside ASCII',
    'Copy the key again from the key manager: word processors and mail programs replace hyphens and quotes.',
  ],
  quoted: ['is wrapped in quotes', 'Remove the quotes: some shells and .env readers keep them in the value.'],
} as const;

/** What can be wrong with a key or a token. */
export type SecretProblem = keyof typeof secretProblems;

const exampleUrl = 'Pass a URL such as https://api.example.com.';
const urlProblems = {
  undefined: [
    'is undefined',
    'Is the environment variable set, and is its name spelled correctly? Leave baseUrl out to read CALLS_BASE_URL.',
  ],
  not_absolute: ['is not an absolute URL', exampleUrl],
  not_http: ['must begin with https:// or http://', 'Add the scheme.'],
  credentials: ['has credentials in it', 'Pass them as auth: apiKeys(...) or bearerToken(...).'],
  query: ['has a query or a fragment', 'Keep only the scheme, the host and the path.'],
} as const;

/** What can be wrong with a base URL. */
export type UrlProblem = keyof typeof urlProblems;

const proxyProblems = {
  not_a_url: 'is not a URL',
  not_http: 'must begin with http:// or https://',
  not_encoded: 'has more than scheme, credentials, host and port',
} as const;

/** What can be wrong with the URL of a proxy. */
export type ProxyProblem = keyof typeof proxyProblems;

/** Facts in, words out. */
export const setupMessages = {
  optionInvalid: (name: string, expected: string, found: string): ErrorWords => ({
    message: `${name} must be ${expected}; got ${found}.`,
  }),
  headerNameInvalid: (): ErrorWords => ({
    message: 'headers has a name that an HTTP header cannot have.',
    hint: 'Names have letters, digits and hyphens, without a colon.',
  }),
  headerReserved: (name: string): ErrorWords => ({
    message: `headers must not set ${name}.`,
    hint: 'The client sets it itself; credentials are passed as auth.',
  }),
  headerValueInvalid: (name: string): ErrorWords => ({
    message: `headers.${name} must be a string without line breaks and other control characters.`,
  }),
  optionUnknown: (name: string, near: string | undefined, known: readonly string[]): ErrorWords => ({
    message: `There is no option ${name}.`,
    hint: near === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean ${near}?`,
  }),
  urlInvalid(option: string, problem: UrlProblem): ErrorWords {
    const [what, hint] = urlProblems[problem];
    return { message: `${option} ${what}.`, hint };
  },
  proxyInvalid: (variable: string, problem: ProxyProblem): ErrorWords => ({
    message: `${variable} ${proxyProblems[problem]}.`,
    hint:
      problem === 'not_http'
        ? 'Other kinds of proxies, such as SOCKS, need a dispatcher of undici.'
        : 'Expected http://host:port or http://user:password@host:port, with characters such as @ / # ? % of the password percent-encoded.',
  }),
  versionsDiffer: (named: string, version: string): ErrorWords => ({
    message: `baseUrl ends in /${named}, and version is ${version}.`,
    hint: 'Remove one of them.',
  }),
  envNotRead: (): ErrorWords => ({
    message: 'env is not read when baseUrl is given.',
    hint: 'Leave env out, or leave baseUrl out to read it from there.',
  }),
  settingsUnusable: (problems: readonly string[]): ErrorWords => ({
    message: `createClient() found no connection to use. ${problems.map((problem) => `${problem}.`).join(' ')}`,
    hint: 'Set these variables (CALLS_ACCESS_KEY_FILE and so on name files instead), or pass baseUrl and auth.',
  }),
  secretsMissing: (names: readonly string[]): ErrorWords => ({
    message: `The ${names.join(' and the ')} ${names.length > 1 ? 'are' : 'is'} missing: undefined was passed.`,
    hint: secretProblems.missing[1],
  }),
  secretInvalid(name: string, problem: SecretProblem): ErrorWords {
    const [what, hint] = secretProblems[problem];
    return { message: `The ${name} ${what}.`, hint };
  },
  secretNotString: (name: string, found: string): ErrorWords => ({
    message: `The ${name} must be a string; found ${found}.`,
    hint: secretProblems.missing[1],
  }),
  authInvalid: (): ErrorWords => ({
    message: 'auth must be made by apiKeys(access, secret) or bearerToken(token).',
    hint: 'Plain objects are refused, because the keys in them could be printed by accident.',
  }),
  authMissing: (version: string): ErrorWords => ({
    message: `No credentials were given, and ${version} needs them.`,
    hint: `Pass auth: ${version === 'v3' ? 'apiKeys(access, secret) or bearerToken(token)' : 'bearerToken(token)'} to createClient.`,
  }),
  keysForV2: (): ErrorWords => ({
    message: 'v2 takes a bearer token only; an access key and a secret key were given.',
    hint: "Use auth: bearerToken(token), or version: 'v3' with these keys.",
  }),
  legacyUrlMissing: (): ErrorWords => ({
    message: 'The SMS listing has a URL of its own, and none was given.',
    hint: 'Pass legacyBaseUrl, the URL before /ibp_api.php.',
  }),
  legacyKeysMissing: (): ErrorWords => ({
    message: 'The SMS listing takes an access key and a secret key only.',
    hint: 'Pass legacyAuth: apiKeys(access, secret) in addition to the bearer token.',
  }),
  sidInvalid: (isCount: boolean): ErrorWords => ({
    message: 'sid must be the id of a call, a string that is not empty.',
    hint: isCount
      ? 'In v2 this is the count request: use countCalls().'
      : 'Take it from the field sid of a record.',
  }),
  timeZoneInvalid: (): ErrorWords => ({
    message: 'timeZone must be an IANA name such as America/New_York or UTC.',
    hint: 'The API does not say which time zone its times are in. Ask whoever manages the account.',
  }),
  listNotAwaited: (name: string): ErrorWords => ({
    message: `listCalls() was not awaited, so its result has no ${name}.`,
    hint: 'Write `const page = await client.listCalls(…)` for one page, or `for await (const call of client.listCalls(…))` for all calls.',
  }),
  noNextPage: (): ErrorWords => ({
    message: 'There is no page after this one.',
    hint: 'Check hasNext() before you call next().',
  }),
  dispatcherRefuses: (): ErrorWords => ({
    message: 'The dispatcher does not accept the request or its handler.',
    hint: 'Pass a dispatcher of undici 7 or 8; those of undici 6 need other handlers.',
  }),
} as const;
