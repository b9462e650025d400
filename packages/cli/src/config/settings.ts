import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isTimeZone } from '@call-attribution/core/time';
import type { Args } from '../args/command.ts';
import { systemCode, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { besideFile, type ConfigFile, type ConfigName, readConfig } from './file.ts';

/** Where a setting came from, for `calls check` and error texts. */
export type Origin = 'option' | 'environment' | 'file' | 'key file' | 'prompt' | 'default';

/** A setting with its origin, such as `environment CALLS_BASE_URL`. */
export interface Setting<T> {
  readonly value: T;
  readonly origin: Origin;
  /** The option, variable or file it came from. */
  readonly from: string;
}

/** Everything that is configured, read once. Keys are kept apart, behind a function, so that nothing prints them by accident. */
export interface Settings {
  readonly file: ConfigFile | null;
  readonly baseUrl: Setting<string> | null;
  readonly legacyBaseUrl: Setting<string> | null;
  readonly apiVersion: Setting<'v2' | 'v3'>;
  readonly timeZone: Setting<string> | null;
  /** The key of that name, or null when it is set nowhere. */
  secret(name: SecretName): Setting<string> | null;
}

export type SecretName = 'accessKey' | 'secretKey' | 'bearerToken';

const variables: Readonly<
  Record<'baseUrl' | 'legacyBaseUrl' | 'apiVersion' | 'timeZone' | SecretName, string>
> = {
  baseUrl: 'CALLS_BASE_URL',
  legacyBaseUrl: 'CALLS_LEGACY_BASE_URL',
  apiVersion: 'CALLS_API_VERSION',
  timeZone: 'CALLS_TIME_ZONE',
  accessKey: 'CALLS_ACCESS_KEY',
  secretKey: 'CALLS_SECRET_KEY',
  bearerToken: 'CALLS_BEARER_TOKEN',
};

/** Reads options, environment and file, in this order. */
export async function readSettings(args: Args, io: Io): Promise<Settings> {
  const file = await readConfig(args.text('config'), io);
  const plain = (
    option: string,
    name: 'baseUrl' | 'legacyBaseUrl' | 'apiVersion' | 'timeZone',
  ): Setting<string> | null => {
    const given = args.text(option);
    if (given !== null) return { value: given, origin: 'option', from: `--${option}` };
    const variable = variables[name];
    const set = io.env[variable];
    if (set) return { value: set, origin: 'environment', from: variable };
    const written = file?.values[name];
    return file && written ? { value: written, origin: 'file', from: file.path } : null;
  };
  const baseUrl = checkedUrl(plain('base-url', 'baseUrl'));
  const legacyBaseUrl = checkedUrl(plain('legacy-base-url', 'legacyBaseUrl'));
  const version = plain('api-version', 'apiVersion') ?? {
    value: 'v3',
    origin: 'default' as const,
    from: 'default',
  };
  if (version.value !== 'v2' && version.value !== 'v3') {
    throw new UsageError(
      `${version.from}: the API version is v2 or v3, not ${JSON.stringify(version.value)}`,
    );
  }
  const timeZone = plain('time-zone', 'timeZone');
  if (timeZone && !isTimeZone(timeZone.value)) {
    throw new UsageError(`${timeZone.from}: there is no time zone ${JSON.stringify(timeZone.value)}`, {
      hints: ['use a name with daylight saving in it, such as America/New_York, Europe/Berlin or UTC'],
    });
  }
  const secrets = await readSecrets(file, io);
  return {
    file,
    baseUrl,
    legacyBaseUrl,
    apiVersion: { ...version, value: version.value },
    timeZone,
    secret: (name) => secrets.get(name) ?? null,
  };
}

function checkedUrl(setting: Setting<string> | null): Setting<string> | null {
  if (!setting) return null;
  const url = URL.canParse(setting.value) ? new URL(setting.value) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UsageError(`${setting.from} must be an address that begins with https:// or http://`);
  }
  if (url.username || url.password || /[?&](secret_)?access_key=/i.test(url.search)) {
    throw new UsageError(`${setting.from} must not have keys in it`, {
      hints: ['set CALLS_ACCESS_KEY and CALLS_SECRET_KEY instead'],
    });
  }
  return setting;
}

async function readSecrets(file: ConfigFile | null, io: Io): Promise<Map<SecretName, Setting<string>>> {
  const found = new Map<SecretName, Setting<string>>();
  for (const name of ['accessKey', 'secretKey', 'bearerToken'] as const) {
    const variable = variables[name];
    const direct = io.env[variable];
    const named = io.env[`${variable}_FILE`];
    const fileName = `${name}File` as ConfigName;
    const beside = file?.values[fileName];
    const written = file?.values[name];
    if (direct) found.set(name, { value: direct, origin: 'environment', from: variable });
    else if (named) found.set(name, await fromFile(resolve(io.cwd, named), `${variable}_FILE`));
    else if (file && beside)
      found.set(name, await fromFile(besideFile(file, beside), `${fileName} in ${file.path}`));
    else if (file && written) found.set(name, { value: written, origin: 'file', from: file.path });
  }
  return found;
}

async function fromFile(path: string, from: string): Promise<Setting<string>> {
  try {
    const value = (await readFile(path, 'utf8')).trim();
    if (value) return { value, origin: 'key file', from: path };
  } catch (error) {
    throw new UsageError(`${from}: ${path} cannot be read (${systemCode(error) ?? 'unknown reason'})`, {
      cause: error,
    });
  }
  throw new UsageError(`${from}: ${path} is empty`);
}
