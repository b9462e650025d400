import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { type AccountValues, parseAccounts } from './accounts.ts';
import type { Environment } from './environment.ts';
import { jsonError } from './json-error.ts';
import type { SettingFact } from './problems.ts';

/**
 * Names that `calls.config.json` may hold, besides `accounts` and `service`. Credentials may be in it or, better, in files
 * that it names.
 */
export const configNames = [
  'baseUrl',
  'legacyBaseUrl',
  'apiVersion',
  'timeZone',
  'store',
  'accessKey',
  'secretKey',
  'bearerToken',
  'accessKeyFile',
  'secretKeyFile',
  'bearerTokenFile',
] as const;

/** A name that `calls.config.json` may hold. */
export type ConfigName = (typeof configNames)[number];

/** A configuration file that was found and read. */
export interface ConfigFile {
  /** Absolute path. */
  readonly path: string;
  /** What it holds; nothing when it has an error. */
  readonly values: Readonly<Partial<Record<ConfigName, string>>>;
  /** The accounts under `"accounts"`, by name. */
  readonly accounts: ReadonlyMap<string, AccountValues>;
  /** What is under `"service"`, unread: the settings of a program that serves the API. Undefined when there is nothing. */
  readonly service?: unknown;
  /** It holds a credential, and other users of this machine can read it. */
  readonly isExposed: boolean;
}

/** Where a configuration file is looked for. */
export interface ConfigPlaces {
  /** The file the user named with an option, such as `--config`. */
  readonly named: string | null;
  readonly env: Environment;
  /** Folder that relative paths start from. */
  readonly cwd: string;
  /** Is `calls.config.json` looked for in `cwd`? */
  readonly searchCwd: boolean;
  /** Is it looked for in the user's configuration folder? */
  readonly searchHome: boolean;
}

/**
 * Finds and reads the configuration file: the named one, else the one in CALLS_CONFIG, else `calls.config.json` in the
 * current folder, else the one in the user's configuration folder. Null when there is none.
 */
export function readConfigFile(places: ConfigPlaces, report: (fact: SettingFact) => void): ConfigFile | null {
  const { named, env, cwd, searchCwd, searchHome } = places;
  const chosen = named ?? (env.CALLS_CONFIG || null);
  if (chosen !== null) {
    const path = resolve(cwd, chosen);
    const file = readIfThere(path, report);
    if (!file) report({ code: 'no_config_file', path, from: named === null ? 'CALLS_CONFIG' : 'option' });
    return file;
  }
  const home = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  const paths = searchHome ? [join(home, 'call-attribution', 'calls.config.json')] : [];
  if (searchCwd) paths.unshift(join(cwd, 'calls.config.json'));
  for (const path of paths) {
    const file = readIfThere(path, report);
    if (file) return file;
  }
  return null;
}

function readIfThere(path: string, report: (fact: SettingFact) => void): ConfigFile | null {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    const reason = systemCode(error);
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return null;
    report({ code: 'unreadable_file', from: null, path, reason });
    return { path, values: {}, accounts: new Map(), isExposed: false };
  }
  const { values, accounts, service } = parse(text, path, report);
  const { accessKey, secretKey, bearerToken } = values;
  const holdsCredential = accessKey !== undefined || secretKey !== undefined || bearerToken !== undefined;
  const isExposed = holdsCredential && process.platform !== 'win32' && (statSync(path).mode & 0o044) !== 0;
  return { path, values, accounts, isExposed, ...(service === undefined ? {} : { service }) };
}

function parse(
  text: string,
  path: string,
  report: (fact: SettingFact) => void,
): Pick<ConfigFile, 'values' | 'accounts' | 'service'> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    report({ code: 'config_not_json', path, ...jsonError(text) });
    return { values: {}, accounts: new Map() };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    report({ code: 'config_not_object', path });
    return { values: {}, accounts: new Map() };
  }
  const values: Partial<Record<ConfigName, string>> = {};
  const { accounts, service, ...plain } = json as { accounts?: unknown; service?: unknown };
  for (const [name, value] of Object.entries(plain)) {
    const known = configNames.find((known) => known === name);
    if (known === undefined)
      report({
        code: 'unknown_config_name',
        path,
        name,
        near: nearest(name, [...configNames, 'accounts', 'service']),
      });
    else if (typeof value !== 'string') report({ code: 'config_not_string', path, name });
    else values[known] = value;
  }
  return {
    values,
    accounts: accounts === undefined ? new Map() : parseAccounts(accounts, path, report),
    service,
  };
}

/** A path in a configuration file starts from the folder of that file. */
export function fromFolderOf(file: ConfigFile, path: string): string {
  return isAbsolute(path) ? path : resolve(file.path, '..', path);
}

/** The text of a file, in UTF-8 or, as some Windows programs write it, UTF-16; without a byte order mark. */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** The code of a system error, such as EACCES. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unknown reason';
}
