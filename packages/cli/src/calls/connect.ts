import { type Auth, apiKeys, bearerToken, type Client, createClient } from '@call-attribution/core';
import { connectionOf, type Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { askHidden, canAsk } from '../config/prompt.ts';
import { UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import { version } from '../version.ts';
import type { FilterContext } from './filter.ts';

/**
 * Creates the client that the settings describe; the caller closes it. Commands read their other options first, so that
 * a mistake in them is reported before keys are asked for.
 */
export async function openClient(
  settings: Settings,
  args: Args,
  io: Io,
  { ask = true }: { ask?: boolean } = {},
): Promise<Client> {
  if (!settings.baseUrl) {
    throw new UsageError('the URL of the API is not set', {
      hints: [
        'set CALLS_BASE_URL, or "baseUrl" in calls.config.json, or --base-url',
        'without an account, calls demo shows everything, and calls serve starts a sandbox',
      ],
    });
  }
  if (args.flag('verbose') || args.flag('debug')) saySettings(settings, io);
  const seconds = args.number('timeout', { min: 0.1 });
  const connection = connectionOf(settings);
  return createClient({
    ...connection,
    baseUrl: settings.baseUrl.value,
    auth: connection.auth ?? (await askForAuth(settings, io, ask && !args.flag('no-input'))),
    userAgent: `call-attribution-cli/${version}`,
    ...(seconds === null ? {} : { timeout: { attempt: seconds * 1000 } }),
  });
}

/** What filterOf needs besides the options. */
export function contextOf(settings: Settings, io: Io): FilterContext {
  return { now: io.now(), timeZone: settings.timeZone?.value ?? null, version: settings.apiVersion.value };
}

/** Asks at the terminal for the credentials that are not set; without a terminal an error says how to set them. */
async function askForAuth(settings: Settings, io: Io, mayAsk: boolean): Promise<Auth> {
  const access = settings.secret('accessKey');
  const secret = settings.secret('secretKey');
  const isV2 = settings.apiVersion.value === 'v2';
  if (mayAsk && canAsk(io)) {
    if (isV2) return bearerToken(await askHidden('Bearer token (not shown)', io));
    const first = access?.value ?? (await askHidden('Access key (not shown)', io));
    return apiKeys(first, secret?.value ?? (await askHidden('Secret key (not shown)', io)));
  }
  if (isV2) {
    throw new UsageError('v2 needs a bearer token, which is not set', {
      hints: ['set CALLS_BEARER_TOKEN, or name a file with bearerTokenFile in calls.config.json'],
    });
  }
  const missing = access
    ? 'the secret key is not set'
    : secret
      ? 'the access key is not set'
      : 'no keys are set';
  throw new UsageError(missing, {
    hints: [
      'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY, or CALLS_BEARER_TOKEN,',
      'or name files with accessKeyFile and secretKeyFile in calls.config.json',
      'without an account, calls serve starts a sandbox and prints its keys',
    ],
  });
}

function saySettings(settings: Settings, io: Io): void {
  for (const setting of [settings.baseUrl, settings.legacyBaseUrl, settings.apiVersion, settings.timeZone]) {
    if (setting) say(io, `calls: ${setting.value} (${setting.from})`);
  }
  for (const name of ['accessKey', 'secretKey', 'bearerToken'] as const) {
    const secret = settings.secret(name);
    if (secret) say(io, `calls: ${name} is set (${secret.from})`);
  }
}
