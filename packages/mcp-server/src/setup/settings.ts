import { apiKeys, bearerToken, type Client, createClient, type Version } from '@call-attribution/core';
import { isTimeZone } from '@call-attribution/core/time';
import { ToolError } from '../text/failures.ts';

/** Environment variables, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says about the API and the account. */
export interface ApiSettings {
  readonly version: Version;
  readonly baseUrl: string | undefined;
  readonly legacyBaseUrl: string | undefined;
  readonly accessKey: string | undefined;
  readonly secretKey: string | undefined;
  readonly bearerToken: string | undefined;
  readonly timeZone: string | undefined;
  /** What is missing or wrong: one sentence each, which names the variable. */
  readonly problems: readonly string[];
}

/** Reads the environment. It never throws: the server starts and lists its tools in any case. */
export function readEnvironment(env: Environment): ApiSettings {
  const get = (name: string): string | undefined => {
    const value = env[name]?.trim();
    // Some hosts pass on the placeholder of a setting that the user left empty.
    return value === undefined || value === '' || /^\$\{.*\}$/.test(value) ? undefined : value;
  };
  const problems: string[] = [];
  const requested = get('CALLS_API_VERSION') ?? 'v3';
  if (requested !== 'v2' && requested !== 'v3') problems.push('CALLS_API_VERSION must be v2 or v3.');
  const version: Version = requested === 'v2' ? 'v2' : 'v3';
  const url = (name: string): string | undefined => {
    const value = get(name);
    if (value === undefined || /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''))
      return value;
    problems.push(`${name} must be an http or https URL.`);
    return undefined;
  };
  const baseUrl = url('CALLS_BASE_URL');
  if (get('CALLS_BASE_URL') === undefined)
    problems.push('CALLS_BASE_URL is missing. It is the URL of the API.');
  const legacyBaseUrl = url('CALLS_LEGACY_BASE_URL');
  const accessKey = get('CALLS_ACCESS_KEY');
  const secretKey = get('CALLS_SECRET_KEY');
  const token = get('CALLS_BEARER_TOKEN');
  if (version === 'v2' && token === undefined)
    problems.push('CALLS_BEARER_TOKEN is missing. v2 of the API needs it.');
  if (version === 'v3' && token === undefined) {
    if (accessKey === undefined) problems.push('CALLS_ACCESS_KEY is missing.');
    if (secretKey === undefined) problems.push('CALLS_SECRET_KEY is missing.');
  }
  return {
    version,
    baseUrl,
    legacyBaseUrl,
    accessKey,
    secretKey,
    bearerToken: token,
    timeZone: zone(get('CALLS_TIME_ZONE'), problems),
    problems,
  };
}

function zone(name: string | undefined, problems: string[]): string | undefined {
  if (name === undefined) return undefined;
  if (isTimeZone(name)) return name;
  problems.push('CALLS_TIME_ZONE must be an IANA time zone like America/New_York.');
  return undefined;
}

/** Makes the client. Throws an error that tells the agent which variable is missing. */
export function clientFrom(settings: ApiSettings): Client {
  const { baseUrl, legacyBaseUrl, accessKey, secretKey, bearerToken: token, version, problems } = settings;
  if (problems.length > 0 || baseUrl === undefined) {
    throw new ToolError({ code: 'missing_settings', problems });
  }
  const keys = accessKey !== undefined && secretKey !== undefined ? apiKeys(accessKey, secretKey) : undefined;
  const auth = version === 'v3' && keys ? keys : token === undefined ? keys : bearerToken(token);
  return createClient({
    baseUrl,
    version,
    timeout: { total: 40_000 },
    ...(legacyBaseUrl === undefined ? {} : { legacyBaseUrl }),
    ...(auth === undefined ? {} : { auth }),
    // The SMS listing takes the key pair even when calls are read with a token.
    ...(keys === undefined ? {} : { legacyAuth: keys }),
  });
}
