import { resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../log/logger.ts';
import type { Version } from '../record/fields.ts';
import { isTimeZone } from '../time/zone.ts';
import type { AccountValues } from './accounts.ts';
import {
  type ConfigFile,
  type ConfigName,
  fromFolderOf,
  readConfigFile,
  readTextFile,
  systemCode,
} from './config-file.ts';
import type { Environment } from './environment.ts';
import { describe, type SettingFact, type SettingProblem } from './problems.ts';

/** Where a setting came from. */
export type Origin = 'option' | 'environment' | 'file' | 'key file' | 'default';

/** A setting and where it came from. */
export interface Setting<T = string> {
  /** The value, as it will be used. */
  readonly value: T;
  /** Which kind of place it came from. */
  readonly origin: Origin;
  /** The option, variable or file it came from, such as `CALLS_BASE_URL`. */
  readonly from: string;
}

/** Settings that are not secret. */
export type PlainName = 'baseUrl' | 'legacyBaseUrl' | 'apiVersion' | 'timeZone' | 'store';

/** Credentials. */
export type SecretName = 'accessKey' | 'secretKey' | 'bearerToken';

/** One of the accounts in the configuration file. */
export interface ConfiguredAccount {
  /** Its name in the file, by which people choose it. */
  readonly name: string;
  /** The account ID that its calls are kept under in a store. Default: the name. */
  readonly id: string;
}

/** All settings, read once. Credentials are returned by a function, so that nothing prints them by accident. */
export interface Settings {
  /** The configuration file, when one was found. */
  readonly file: ConfigFile | null;
  /** URL of the API. */
  readonly baseUrl: Setting | null;
  /** URL of the SMS number listing. */
  readonly legacyBaseUrl: Setting | null;
  /** Version of the API. */
  readonly apiVersion: Setting<Version>;
  /** IANA name of the time zone that the account's times are in. */
  readonly timeZone: Setting | null;
  /** Where calls are kept, such as `duckdb:calls.duckdb`. */
  readonly store: Setting | null;
  /** From which level on something is logged, from `CALLS_LOG`; null when it is not set. */
  readonly log: LogLevel | null;
  /** How it is written, from `CALLS_LOG_FORMAT`. */
  readonly logFormat: LogFormat;
  /** The account of the configuration file that these settings are of; null for the settings outside of `accounts`. */
  readonly account: ConfiguredAccount | null;
  /** All accounts of the configuration file, in its order. */
  readonly accounts: readonly ConfiguredAccount[];
  /** What is wrong with the settings that are there, in the order in which they are read. */
  readonly problems: readonly SettingProblem[];
  /** A credential, or null when it is not set. */
  secret(name: SecretName): Setting | null;
}

/** Where `readSettings` reads. */
export interface SettingsSource {
  /** Values that were given directly; they come first. Null and undefined count as not given. */
  readonly options?: Readonly<Partial<Record<PlainName, string | null | undefined>>> | undefined;
  /** What messages call an option. @default the name itself */
  readonly nameOption?: ((name: PlainName | 'config') => string) | undefined;
  /**
   * Name of an account in the configuration file. Its credentials, and no others, are used; its other settings come after
   * `options` and before the environment. See also `readAccounts`.
   */
  readonly account?: string | null | undefined;
  /** The configuration file that was named with an option. */
  readonly config?: string | null | undefined;
  /** Environment variables. Programs that own their process pass `takeEnvironment()`. @default process.env */
  readonly env?: Environment | undefined;
  /** Folder that relative paths start from. @default process.cwd() */
  readonly cwd?: string | undefined;
  /**
   * Is `calls.config.json` looked for in `cwd`? Switch it off where others choose the folder: a file in it could send
   * the user's credentials to another server.
   * @default true
   */
  readonly searchCwd?: boolean | undefined;
  /** Is `call-attribution/calls.config.json` looked for in the user's configuration folder? @default true */
  readonly searchHome?: boolean | undefined;
}

const variables: Readonly<Record<PlainName | SecretName, string>> = {
  baseUrl: 'CALLS_BASE_URL',
  legacyBaseUrl: 'CALLS_LEGACY_BASE_URL',
  apiVersion: 'CALLS_API_VERSION',
  timeZone: 'CALLS_TIME_ZONE',
  store: 'CALLS_STORE',
  accessKey: 'CALLS_ACCESS_KEY',
  secretKey: 'CALLS_SECRET_KEY',
  bearerToken: 'CALLS_BEARER_TOKEN',
};

/**
 * Reads the settings of a client: options first, then the environment, then the configuration file. Nothing is thrown:
 * `problems` says what is wrong, so that a program can show one problem or all of them.
 *
 * @example
 * const settings = readSettings({ options: { apiVersion: 'v2' } });
 * const [problem] = [...settings.problems, ...missingSettings(settings)];
 * if (problem) throw new Error(problem.message);
 */
export function readSettings(source: SettingsSource = {}): Settings {
  const {
    options = {},
    nameOption = (name) => name,
    config = null,
    env = process.env,
    cwd = process.cwd(),
  } = source;
  const problems: SettingProblem[] = [];
  const report = (fact: SettingFact): void => {
    problems.push(describe(fact));
  };
  const { searchCwd = true, searchHome = true } = source;
  const file = readConfigFile({ named: config, env, cwd, searchCwd, searchHome }, (fact) =>
    report(
      fact.code === 'no_config_file' && config !== null ? { ...fact, from: nameOption('config') } : fact,
    ),
  );
  const accounts = [...(file?.accounts ?? [])].map(([name, { id = name }]) => ({ name, id }));
  const account = accounts.find(({ name }) => name === source.account) ?? null;
  if (account === null && typeof source.account === 'string')
    report(unknownAccount(source.account, file, accounts));
  const profile = profileOf(account, file);
  const plain = (name: PlainName): Setting | null => {
    const given = options[name];
    if (given !== undefined && given !== null)
      return { value: given, origin: 'option', from: nameOption(name) };
    const own = name === 'store' ? undefined : profile?.values[name];
    if (profile && own) return { value: own, origin: 'file', from: profile.from };
    const value = readVariable(env, variables[name]);
    if (value !== null) return { value, origin: 'environment', from: variables[name] };
    const written = file?.values[name];
    return file && written ? { value: written, origin: 'file', from: file.path } : null;
  };
  const baseUrl = checkedUrl(plain('baseUrl'), report);
  const legacyBaseUrl = checkedUrl(plain('legacyBaseUrl'), report);
  const apiVersion = checkedVersion(plain('apiVersion'), report);
  const timeZone = plain('timeZone');
  const isKnownZone = timeZone === null || isTimeZone(timeZone.value);
  if (!isKnownZone) report({ code: 'unknown_time_zone', from: timeZone.from, value: timeZone.value });
  const names = ['accessKey', 'secretKey', 'bearerToken'] as const;
  // The settings of an account that does not exist have no credentials: those of another one must not be used for it.
  const read = (name: SecretName): Setting | null =>
    profile !== null
      ? secretOfAccount(name, profile, env, report)
      : typeof source.account === 'string'
        ? null
        : readSecret(name, { file, env, cwd }, report);
  const secrets = new Map(names.map((name) => [name, read(name)]));
  return {
    file,
    baseUrl,
    legacyBaseUrl,
    apiVersion,
    timeZone: isKnownZone ? timeZone : null,
    store: plain('store'),
    log: chosen(env, 'CALLS_LOG', logLevels, report),
    logFormat: chosen(env, 'CALLS_LOG_FORMAT', logFormats, report) ?? 'text',
    account,
    accounts,
    problems,
    secret: (name) => secrets.get(name) ?? null,
  };
}

/** An environment variable without spaces around it; null when it is empty or not set. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  // Some hosts pass on the placeholder of a setting that the user left empty, such as ${input:key}.
  return value === undefined || value === '' || /^\$\{.*\}$/.test(value) ? null : value;
}

type Report = (fact: SettingFact) => void;

function checkedUrl(setting: Setting | null, report: Report): Setting | null {
  if (setting === null) return null;
  const { from, value } = setting;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) report({ code: 'not_a_url', from });
  else if (url.username || url.password || /[?&](secret_)?access_key=/i.test(url.search))
    report({ code: 'credentials_in_url', from });
  else return setting;
  return null;
}

function checkedVersion(setting: Setting | null, report: Report): Setting<Version> {
  if (setting !== null) {
    const { value, from } = setting;
    if (value === 'v2' || value === 'v3') return { ...setting, value };
    report({ code: 'unknown_version', from, value });
  }
  return { value: 'v3', origin: 'default', from: 'default' };
}

/** One of some words, in any case; null when the variable is not set or has another one. */
function chosen<T extends string>(
  env: Environment,
  from: string,
  known: readonly T[],
  report: Report,
): T | null {
  const value = readVariable(env, from);
  if (value === null) return null;
  const word = known.find((each) => each === value.toLowerCase());
  if (word === undefined)
    report({ code: 'unknown_log_setting', from, value, near: nearest(value, known), known });
  return word ?? null;
}

/** An account with what the file says about it. */
interface Profile extends ConfiguredAccount {
  readonly values: AccountValues;
  readonly file: ConfigFile;
  /** The account and its file, for messages. */
  readonly from: string;
}

function profileOf(account: ConfiguredAccount | null, file: ConfigFile | null): Profile | null {
  const values = account === null ? undefined : file?.accounts.get(account.name);
  if (account === null || file === null || values === undefined) return null;
  return { ...account, values, file, from: `account ${JSON.stringify(account.name)} in ${file.path}` };
}

function unknownAccount(
  account: string,
  file: ConfigFile | null,
  accounts: readonly ConfiguredAccount[],
): SettingFact {
  const known = accounts.map(({ name }) => name);
  if (file === null || known.length === 0) return { code: 'no_accounts', path: file?.path ?? null };
  return { code: 'unknown_account', path: file.path, account, near: nearest(account, known), known };
}

/** A credential of an account: the file or the environment variable that the account names, and nothing else. */
function secretOfAccount(
  name: SecretName,
  { name: account, values, file, from }: Profile,
  env: Environment,
  report: Report,
): Setting | null {
  const path = values[`${name}File`];
  if (path !== undefined) return fromFile(fromFolderOf(file, path), `${name}File of ${from}`, report);
  const variable = values[`${name}Env`];
  if (variable === undefined) return null;
  const value = readVariable(env, variable);
  if (value !== null) return { value, origin: 'environment', from: variable };
  report({ code: 'unset_variable', account, variable });
  return null;
}

function readSecret(
  name: SecretName,
  { file, env, cwd }: { file: ConfigFile | null; env: Environment; cwd: string },
  report: Report,
): Setting | null {
  const variable = variables[name];
  const direct = readVariable(env, variable);
  if (direct !== null) return { value: direct, origin: 'environment', from: variable };
  const path = readVariable(env, `${variable}_FILE`);
  if (path !== null) return fromFile(resolve(cwd, path), `${variable}_FILE`, report);
  if (file === null) return null;
  const fileName: ConfigName = `${name}File`;
  const named = file.values[fileName];
  if (named) return fromFile(fromFolderOf(file, named), `${fileName} in ${file.path}`, report);
  const written = file.values[name];
  return written ? { value: written, origin: 'file', from: file.path } : null;
}

function fromFile(path: string, from: string, report: Report): Setting | null {
  try {
    const value = readTextFile(path).trim();
    if (value !== '') return { value, origin: 'key file', from: path };
    report({ code: 'empty_file', from, path });
  } catch (error) {
    report({ code: 'unreadable_file', from, path, reason: systemCode(error) });
  }
  return null;
}
