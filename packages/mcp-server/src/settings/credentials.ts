import {
  type Auth,
  apiKeys,
  bearerToken,
  type KeyAuth,
  type Logger,
  type LogLevel,
  lineLogger,
  type Version,
} from '@call-attribution/core';
import { problems, type SettingProblem } from './problems.ts';
import type { Settings } from './read-settings.ts';
import { plainSettings, type SecretName, secretSettings } from './table.ts';

const legacyUsers = 'legacy users may set CALLS_BEARER_TOKEN instead of the two keys';

/** What a program still has to be given before it can read calls; empty when nothing is missing. */
export function missingSettings({ account, apiVersion, baseUrl, secret }: Settings): SettingProblem[] {
  const credential = (of: SecretName, what: string, usual: SettingProblem): SettingProblem[] => {
    if (secret(of) !== null) return [];
    return [{ ...(account === null ? usual : problems.missingCredentialOf(account.name, of, what)), of }];
  };
  const missing: SettingProblem[] = [];
  if (baseUrl === null)
    missing.push({
      ...(account === null
        ? problems.missing(plainSettings.baseUrl.variable, 'the URL of the API')
        : problems.missingUrlOf(account.name)),
      of: 'baseUrl',
    });
  const { accessKey, secretKey, bearerToken: token } = secretSettings;
  if (apiVersion.value === 'v2') {
    const usual = problems.missing(token, 'v2 needs the bearer token of the account');
    return [...missing, ...credential('bearerToken', 'bearer token, which v2 needs', usual)];
  }
  if (secret('bearerToken') !== null) return missing;
  return [
    ...missing,
    ...credential(
      'accessKey',
      'access key',
      problems.missing(accessKey, 'the access key of the account', legacyUsers),
    ),
    ...credential(
      'secretKey',
      'secret key',
      problems.missing(secretKey, 'the secret key of the account', legacyUsers),
    ),
  ];
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
  /** Milliseconds after which a request ends, whatever it is doing. */
  readonly timeout?: number;
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
    ...(limit ? { timeout: limit } : {}),
    ...(settings.log
      ? { logger: lineLogger(settings.logFormat.value, writeLog), logLevel: settings.log.value }
      : {}),
  };
}
