import { type Auth, apiKeys, bearerToken, type KeyAuth } from '../auth/auth.ts';
import { type Logger, type LogLevel, lineLogger } from '../log/logger.ts';
import type { Version } from '../record/fields.ts';
import { describe, type SettingProblem } from './problems.ts';
import type { Settings } from './read-settings.ts';

/** What a program still has to be given before it can read calls; empty when nothing is missing. */
export function missingSettings(settings: Settings): SettingProblem[] {
  const { apiVersion } = settings;
  const of = settings.account === null ? {} : { account: settings.account.name };
  const missing = settings.baseUrl === null ? [describe({ code: 'no_base_url', ...of })] : [];
  if (settings.secret('bearerToken') !== null) return missing;
  if (apiVersion.value === 'v2') return [...missing, describe({ code: 'no_token', ...of })];
  if (settings.secret('accessKey') === null) missing.push(describe({ code: 'no_access_key', ...of }));
  if (settings.secret('secretKey') === null) missing.push(describe({ code: 'no_secret_key', ...of }));
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
  const auth = version === 'v3' && keys ? keys : token ? bearerToken(token.value) : undefined;
  return {
    baseUrl: settings.baseUrl?.value ?? '',
    version,
    ...(settings.legacyBaseUrl ? { legacyBaseUrl: settings.legacyBaseUrl.value } : {}),
    ...(auth ? { auth } : {}),
    ...(keys ? { legacyAuth: keys } : {}),
    ...(settings.log ? { logger: lineLogger(settings.logFormat, writeLog), logLevel: settings.log } : {}),
  };
}
