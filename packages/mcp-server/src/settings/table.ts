import type { LogFormat, LogLevel, Version } from '@call-attribution/core';
import { isTimeZone, parseDuration } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { problems, type SettingProblem } from './problems.ts';

/** Where a setting came from. */
export type Origin = 'option' | 'environment' | 'file' | 'key file' | 'command' | 'default';

/** A setting and where it came from. */
export interface Setting<T = string> {
  /** The value, as it will be used. */
  readonly value: T;
  /** Which kind of place it came from. */
  readonly origin: Origin;
  /** The option, variable or file it came from, such as `CALLS_BASE_URL`. */
  readonly from: string;
}

type ReadText<T> = SettingSpec<T>['read'];

/** All there is to say of a setting: its names, its check and its default. */
export interface SettingSpec<T> {
  /** Its environment variable. */
  readonly variable: string;
  /** Where else than in an option and the environment it may be: in the configuration file, and there in an account. */
  readonly place: 'account' | 'file' | 'environment';
  /** The value as it is used, or what is wrong with it. */
  readonly read: (text: string, from: string) => { readonly value: T } | SettingProblem;
  /** The default. */
  readonly initial?: T;
}

const url: ReadText<string> = (text, from) => {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) return problems.notUrl(from);
  const hasKey = parsed.username || parsed.password || /[?&](secret_)?access_key=/i.test(parsed.search);
  return hasKey ? problems.credentialsInUrl(from) : { value: text };
};

const apiVersion: ReadText<Version> = (text, from) =>
  text === 'v2' || text === 'v3' ? { value: text } : problems.unknownVersion(from, text);

const zone: ReadText<string> = (text, from) =>
  isTimeZone(text) ? { value: text } : problems.unknownTimeZone(from, text);

const duration: ReadText<number> = (text, from) => {
  const value = parseDuration(text);
  return value > 0 ? { value } : problems.notDuration(from, text);
};

/** One of some words, in any case. */
const word =
  <T extends string>(known: readonly T[]): ReadText<T> =>
  (text, from) => {
    const value = known.find((each) => each === text.toLowerCase());
    return value === undefined ? problems.unknownWord(from, text, nearest(text, known), known) : { value };
  };

const setting = <T>(variable: string, place: SettingSpec<T>['place'], read: ReadText<T>) => ({
  variable,
  place,
  read,
});

/** The settings that are not secret. Their types, checks, defaults, names and documentation are here. */
export const plainSettings = {
  /** URL of the API. */
  baseUrl: setting('CALLS_BASE_URL', 'account', url),
  /** URL of the SMS number listing. */
  legacyBaseUrl: setting('CALLS_LEGACY_BASE_URL', 'account', url),
  /** Version of the API, v3 unless it is set. */
  apiVersion: { ...setting('CALLS_API_VERSION', 'account', apiVersion), initial: 'v3' },
  /** IANA name of the time zone that the account's times are in. */
  timeZone: setting('CALLS_TIME_ZONE', 'account', zone),
  /** How long a request, or a statement of SQL, may take, in milliseconds. */
  timeout: setting('CALLS_TIMEOUT', 'account', duration),
  /** Where calls are kept, such as `sqlite:calls.db`. */
  store: setting('CALLS_STORE', 'file', (value) => ({ value })),
  /** From which level on something is logged. */
  log: setting('CALLS_LOG', 'environment', word<LogLevel>(['debug', 'info', 'warn', 'error', 'off'])),
  /** How it is written, as text unless it is set. */
  logFormat: {
    ...setting('CALLS_LOG_FORMAT', 'environment', word<LogFormat>(['text', 'json'])),
    initial: 'text',
  },
} as const satisfies Readonly<Record<string, SettingSpec<unknown>>>;

/**
 * The credentials. Each is also read from the file in its variable with `_FILE`, from the file in its name with `File`, and from
 * what the command in its name with `Command` prints.
 */
export const secretSettings = {
  accessKey: 'CALLS_ACCESS_KEY',
  secretKey: 'CALLS_SECRET_KEY',
  bearerToken: 'CALLS_BEARER_TOKEN',
} as const;

/** Names of settings that are not secret. */
export type PlainName = keyof typeof plainSettings;

/** Names of credentials. */
export type SecretName = keyof typeof secretSettings;

/** The setting of an entry: null where it is not set, unless it has a default. */
export type SettingOf<S> =
  S extends SettingSpec<infer T>
    ? S extends { readonly initial: unknown }
      ? Setting<T>
      : Setting<T> | null
    : never;

/** The settings that are not secret; null where one is not set. */
export type PlainSettings = {
  readonly [N in keyof typeof plainSettings]: SettingOf<(typeof plainSettings)[N]>;
};

const secretNames = Object.keys(secretSettings);
const namesIn = (...places: readonly SettingSpec<unknown>['place'][]): readonly string[] =>
  Object.entries(plainSettings).flatMap(([name, { place }]) => (places.includes(place) ? [name] : []));

/** The names that a configuration file may hold, besides `accounts` and `service`. */
export const fileNames: readonly string[] = [
  ...namesIn('file', 'account'),
  ...secretNames.flatMap((name) => [name, `${name}File`, `${name}Command`]),
  'default',
];

/** The names that one of its accounts may hold: credentials are files, environment variables or commands that it names. */
export const accountNames: readonly string[] = [
  'id',
  ...namesIn('account'),
  ...secretNames.flatMap((name) => [`${name}File`, `${name}Env`, `${name}Command`]),
];
