import { type Auth, apiKeys, bearerToken, type KeyAuth } from '../auth/auth.ts';
import { type Logger, type LogLevel, lineLogger } from '../log/logger.ts';
import type { Version } from '../record/fields.ts';
import { problems, type SettingProblem } from './problems.ts';
import type { Settings } from './read-settings.ts';
import { plainSettings, type SecretName, secretSettings } from './table.ts';

const legacyUsers = 'legacy users may set CALLS_BEARER_TOKEN instead of the two keys';

/** What a program still has to be given before it can read calls; empty when nothing is missing. */
export function missingSettings({ account, apiVersion, baseUrl, secret }: Settings): SettingProblem[] {
  const missing: SettingProblem[] = [];
  const credential = (
    code: 'no_access_key' | 'no_secret_key' | 'no_token',
    name: SecretName,
    what: string,
  ) => {
    const variable = secretSettings[name];
    if (secret(name) !== null) return;
    const add = (problem: SettingProblem) => missing.push({ ...problem, of: name });
    if (account !== null) add(problems.missingCredentialOf(code, account.name, name, what));
    else if (code === 'no_token')
      add(problems.missing(code, variable, 'v2 needs the bearer token of the account'));
    else add(problems.missing(code, variable, `the ${what} of the account`, legacyUsers));
  };
  if (baseUrl === null)
    missing.push({
      ...(account === null
        ? problems.missing('no_base_url', plainSettings.baseUrl.variable, 'the URL of the API')
        : problems.missingUrlOf(account.name)),
      of: 'baseUrl',
    });
  if (apiVersion.value === 'v2') credential('no_token', 'bearerToken', 'bearer token, which v2 needs');
  else if (secret('bearerToken') === null) {
    credential('no_access_key', 'accessKey', 'access key');
    credential('no_secret_key', 'secretKey', 'secret key');
  }
  return missing;
}

/** Settings in the form of client options. */
export interface Connection {
  /** Empty when it is not set; `createClient` refuses that. */
  readonly baseUrl: string;
  /** URL of the SMS listing. */
  readonly legacyBaseUrl?: string;
  /** Version of the API. */
  readonly version: Version;
  /** Credentials for calls. */
  readonly auth?: Auth;
  /** Keys of the SMS listing. */
  readonly legacyAuth?: KeyAuth;
  /** How long a request may take, and, as with the defaults, twice that with its repetitions. */
  readonly timeout?: { readonly idle: number; readonly attempt: number; readonly total: number };
  /** Where `CALLS_LOG` sends its lines, when it is set. */
  readonly logger?: Logger;
  /** What `CALLS_LOG` says. */
  readonly logLevel?: LogLevel;
}

/**
 * The settings as options of `createClient`: keys before a token in v3, a token in v2. The SMS number listing takes the
 * keys even where calls are read with a token.
 *
 * @param writeLog where the lines go that `CALLS_LOG` switches on: stderr, unless it is given.
 * @example
 * const client = createClient(connectionOf(readSettings()));
 */
export function connectionOf(settings: Settings, writeLog?: (line: string) => void): Connection {
  const access = settings.secret('accessKey');
  const secret = settings.secret('secretKey');
  const token = settings.secret('bearerToken');
  const keys = access && secret ? apiKeys(access.value, secret.value) : undefined;
  const version = settings.apiVersion.value;
  const limit = settings.timeout?.value;
  const bearer = token ? bearerToken(token.value) : undefined;
  const auth = version === 'v3' && keys ? keys : bearer;
  return {
    baseUrl: settings.baseUrl?.value ?? '',
    version,
    ...(settings.legacyBaseUrl ? { legacyBaseUrl: settings.legacyBaseUrl.value } : {}),
    ...(auth ? { auth } : {}),
    ...(keys ? { legacyAuth: keys } : {}),
    ...(limit ? { timeout: { idle: limit, attempt: limit, total: 2 * limit } } : {}),
    ...(settings.log
      ? { logger: lineLogger(settings.logFormat.value, writeLog), logLevel: settings.log.value }
      : {}),
  };
}
