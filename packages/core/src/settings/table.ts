import { nearest } from '@call-attribution/query-dsl/nearest';
import { logFormats, logLevels } from '../log/logger.ts';
import type { Version } from '../record/fields.ts';
import { parseDuration } from '../time/duration.ts';
import { isTimeZone, zoneProblem } from '../time/zone.ts';

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

/**
 * A setting that is missing or cannot be used, in words for whoever set it. It never holds a
 * credential.
 */
export interface SettingProblem {
  /** What it is about: the configuration file as a whole, an account in it, or one setting. */
  readonly place: 'file' | 'account' | 'setting';
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to do about it, when there is more to say. */
  readonly hint?: string | undefined;
  /** The setting, where it is about one, such as `baseUrl`. */
  readonly of?: string | undefined;
}

/** A value as people wrote it, short enough for a message. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));

const wrong = (message: string, hint?: string): SettingProblem => ({
  place: 'setting',
  message,
  hint,
});

/** All there is to say of a setting: its names, its check and its default. */
export interface SettingSpec<T> {
  /** Its environment variable. */
  readonly variable: string;
  /**
   * Where else than in an option and the environment it may be: in the configuration file, and
   * there in an account.
   */
  readonly place: 'account' | 'file' | 'environment';
  /** The value as it is used, or what is wrong with it. */
  readonly read: (text: string, from: string) => { readonly value: T } | SettingProblem;
  /** The default. */
  readonly initial?: T;
}

type ReadText<T> = SettingSpec<T>['read'];

const url: ReadText<string> = (text, from) => {
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:'))
    return wrong(`${from} must be a URL that begins with https:// or http://`);
  if (parsed.username || parsed.password || /[?&](secret_)?access_key=/i.test(parsed.search))
    return wrong(
      `${from} must not have credentials in it`,
      'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY instead',
    );

  return { value: text };
};

const apiVersion: ReadText<Version> = (text, from) =>
  text === 'v2' || text === 'v3'
    ? { value: text }
    : wrong(`${from}: the API version is v2 or v3, not ${quoted(text)}`);

const zone: ReadText<string> = (text, from) => {
  if (isTimeZone(text)) return { value: text };
  const { problem, fix } = zoneProblem(text);
  return wrong(`${from}: ${problem}`, fix);
};

const duration: ReadText<number> = (text, from) => {
  const value = parseDuration(text);
  return value > 0
    ? { value }
    : wrong(`${from} must be a duration such as 30s or 5m, not ${quoted(text)}`);
};

/** One of some words, in any case. */
const word =
  <T extends string>(known: readonly T[]): ReadText<T> =>
  (text, from) => {
    const value = known.find((each) => each === text.toLowerCase());
    if (value !== undefined) return { value };
    const near = nearest(text, known);
    return wrong(
      `${from} must be ${known.slice(0, -1).join(', ')} or ${known.at(-1)}, not ${quoted(text.slice(0, 20))}`,
      near === undefined ? 'remove the variable to use the default' : `did you mean ${near}?`,
    );
  };

const setting = <T>(variable: string, place: SettingSpec<T>['place'], read: ReadText<T>) => ({
  variable,
  place,
  read,
});

/**
 * The settings that are not secret. Their types, checks, defaults, names and documentation are
 * here.
 */
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
  log: setting('CALLS_LOG', 'environment', word(logLevels)),
  /** How it is written, as text unless it is set. */
  logFormat: {
    ...setting('CALLS_LOG_FORMAT', 'environment', word(logFormats)),
    initial: 'text',
  },
} as const satisfies Readonly<Record<string, SettingSpec<unknown>>>;

/**
 * The credentials. Each is also read from the file in its variable with `_FILE`, from the file in
 * its name with `File`, and from what the command in its name with `Command` prints.
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
  Object.entries(plainSettings)
    .filter(([, { place }]) => places.includes(place))
    .map(([name]) => name);

/**
 * The names that a configuration file may hold besides `accounts` and `service`, and those of one
 * of its accounts.
 */
export const namesOf: Readonly<Record<'file' | 'account', readonly string[]>> = {
  file: [
    ...namesIn('file', 'account'),
    ...secretNames.flatMap((name) => [name, `${name}File`, `${name}Command`]),
    'default',
  ],
  // Credentials of an account are files, environment variables or commands that it names.
  account: [
    'id',
    ...namesIn('account'),
    ...secretNames.flatMap((name) => [`${name}File`, `${name}Env`, `${name}Command`]),
  ],
};
