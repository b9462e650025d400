import { type Auth, apiKeys, bearerToken } from '../auth/auth.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { lineLogger, logFormats, logLevels } from '../log/logger.ts';
import { type Environment, readSecretVariable, readVariable, versionOfUrl } from '../settings/environment.ts';
import type { ClientOptions } from './options.ts';

/** Options completed from variables: those that were given come first. One error lists everything that is missing. */
export function readEnvironment(given: ClientOptions, env: Environment): ClientOptions {
  const problems: string[] = [];
  const plain = (name: string) => readVariable(env, name) ?? undefined;
  const oneOf = <T extends string>(name: string, known: readonly T[]): T | undefined => {
    const text = plain(name)?.toLowerCase();
    const value = known.find((each) => each === text);
    if (text !== undefined && value === undefined)
      problems.push(`${name} must be ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`);
    return value;
  };
  /** What is wrong with the file of a key counts as given. */
  const secret = (name: string): string | undefined => {
    const read = readSecretVariable(env, name);
    if (read === null) return undefined;
    if ('value' in read) return read.value;
    problems.push(read.problem);
    return '';
  };

  const baseUrl = plain('CALLS_BASE_URL');
  if (baseUrl === undefined) problems.push('CALLS_BASE_URL is missing: the URL of the API');
  else if (!/^https?:\/\//i.test(baseUrl))
    problems.push('CALLS_BASE_URL must be a URL that begins with https:// or http://');
  const version = given.version ?? oneOf('CALLS_API_VERSION', ['v2', 'v3']);
  const isV2 = (version ?? versionOfUrl(baseUrl ?? '')) === 'v2';
  const level = oneOf('CALLS_LOG', logLevels);
  const format = oneOf('CALLS_LOG_FORMAT', logFormats);

  // Keys of the environment may be those of another account than credentials that were given.
  const isOwn = given.auth === undefined;
  const accessKey = isOwn ? secret('CALLS_ACCESS_KEY') : undefined;
  const secretKey = isOwn ? secret('CALLS_SECRET_KEY') : undefined;
  const token = isOwn ? secret('CALLS_BEARER_TOKEN') : undefined;
  if (isOwn && isV2 && token === undefined)
    problems.push('CALLS_BEARER_TOKEN is missing: v2 needs the bearer token of the account');
  if (isOwn && !isV2 && token === undefined) {
    if (accessKey === undefined) problems.push('CALLS_ACCESS_KEY is missing: the access key of the account');
    if (secretKey === undefined) problems.push('CALLS_SECRET_KEY is missing: the secret key of the account');
  }
  if (problems.length > 0)
    throw new ConfigurationError(
      'invalid_option',
      `createClient() found no connection to use. ${problems.join('. ')}.`,
      {
        hint: 'Set these variables (CALLS_ACCESS_KEY_FILE and so on name files instead), or pass baseUrl and auth.',
      },
    );

  const keys = accessKey && secretKey ? apiKeys(accessKey, secretKey) : undefined;
  const bearer: Auth | undefined = token ? bearerToken(token) : undefined;
  const found = {
    baseUrl,
    legacyBaseUrl: plain('CALLS_LEGACY_BASE_URL'),
    version,
    auth: isV2 ? bearer : (keys ?? bearer),
    legacyAuth: keys,
    timeout: plain('CALLS_TIMEOUT') as ClientOptions['timeout'],
    ...(level === undefined ? {} : { logger: lineLogger(format), logLevel: level }),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...found, ...Object.fromEntries(set) };
}
