import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import {
  type Environment,
  isAccountName,
  isCredentialVariable,
  readSmallFile,
  type SmallFile,
  systemCode,
} from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { problems, type Report } from './problems.ts';
import { accountNames, fileNames, secretSettings } from './table.ts';

/** A configuration file that was found and read. */
export interface ConfigFile {
  /** Absolute path. */
  readonly path: string;
  /** What is under `"service"`, unread: the settings of a program that serves the API. Undefined when there is nothing. */
  readonly service?: unknown;
  /** It holds a credential, and other users of this machine can read it. */
  readonly isExposed: boolean;
}

/** Strings by their names. */
export type Values = ReadonlyMap<string, string>;

/** What is in a configuration file. */
export interface FileContent {
  readonly file: ConfigFile;
  readonly values: Values;
  /** The accounts under `"accounts"`, by name. */
  readonly accounts: ReadonlyMap<string, Values>;
}

/** Where a configuration file is looked for; see `SettingsSource`. */
export interface ConfigPlaces {
  /** The file that was named with an option, such as `--config`, and that option. */
  readonly named: { readonly path: string; readonly from: string } | null;
  readonly env: Environment;
  readonly cwd: string;
  readonly searchHome: boolean;
}

/**
 * The user's own configuration file, whether it is there or not: `call-attribution/calls.config.json` in the folder of
 * XDG_CONFIG_HOME, else where the system keeps such files (`~/.config`, `~/Library/Application Support`, `%APPDATA%`).
 */
export function userConfigFile(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const usual = () => {
    if (platform === 'win32') return env.APPDATA || join(homedir(), 'AppData', 'Roaming');
    const home = env.HOME || homedir();
    return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config');
  };
  const named = env.XDG_CONFIG_HOME;
  // A relative path would be one in the current folder, which may be anybody's.
  const folder = named && isAbsolute(named) ? named : usual();
  return isAbsolute(folder) ? join(folder, 'call-attribution', 'calls.config.json') : null;
}

/** Most bytes of a configuration file: a thousand accounts have some 200 KB. */
const configBytes = 1024 * 1024;

/**
 * Reads the configuration file: the named one, else the one in CALLS_CONFIG, else that of the user. Null when there is none.
 * None is looked for in the current folder, since whoever made that folder could send keys and passwords elsewhere.
 */
export function readConfigFile(places: ConfigPlaces, report: Report): FileContent | null {
  const { env, cwd, searchHome } = places;
  const named = places.named ?? (env.CALLS_CONFIG ? { path: env.CALLS_CONFIG, from: 'CALLS_CONFIG' } : null);
  if (named !== null) {
    const path = resolve(cwd, named.path);
    const content = readIfThere(path, report);
    if (content === null) report(problems.noConfigFile(path, named.from));
    return content;
  }
  const own = searchHome ? userConfigFile(env) : null;
  return own === null ? null : readIfThere(own, report);
}

function readIfThere(path: string, report: Report): FileContent | null {
  let read: SmallFile;
  try {
    read = readSmallFile(path, configBytes);
  } catch (error) {
    const reason = systemCode(error);
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return null;
    report(problems.unreadableFile(path, reason));
    return { file: { path, isExposed: false }, values: new Map(), accounts: new Map() };
  }
  const { accounts, service, ...plain } = parseObject(read.text, path, report);
  const values = stringsOf(plain, 'file', path, report);
  const holdsCredential = Object.keys(secretSettings).some((name) => values.has(name));
  return {
    file: {
      path,
      isExposed: holdsCredential && read.isExposed,
      ...(service === undefined ? {} : { service }),
    },
    values,
    accounts: accounts === undefined ? new Map() : parseAccounts(accounts, path, report),
  };
}

function parseObject(text: string, path: string, report: Report): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    report(problems.configNotJson(path, text));
    return {};
  }
  if (isObject(json)) return json;
  report(problems.configNotObject(path));
  return {};
}

const namesOf = { file: fileNames, account: accountNames };

/** The strings of an object under the names that it may have; everything else is reported. */
function stringsOf(
  json: Readonly<Record<string, unknown>>,
  kind: keyof typeof namesOf,
  at: string,
  report: Report,
): Map<string, string> {
  const values = new Map<string, string>();
  const known = kind === 'file' ? [...fileNames, 'accounts', 'service'] : accountNames;
  for (const [name, value] of Object.entries(json)) {
    if (!namesOf[kind].includes(name))
      report(problems.unknownName(kind, at, name, nearest(name, known), known));
    else if (typeof value !== 'string') report(problems.notString(kind, at, name));
    else values.set(name, value);
  }
  return values;
}

/** Reads `"accounts"`: an object of accounts by their names. */
function parseAccounts(json: unknown, path: string, report: Report): ReadonlyMap<string, Values> {
  const accounts = new Map<string, Values>();
  if (!isObject(json)) {
    report(problems.accountsNotObject(path));
    return accounts;
  }
  const owners = new Map<string, string>();
  for (const [account, entry] of Object.entries(json)) {
    const at = `${path}: account ${JSON.stringify(account.slice(0, 80))}`;
    if (!isAccountName(account)) report(problems.badAccountName(at));
    else if (!isObject(entry)) report(problems.accountNotObject(at));
    else {
      const values = parseAccount(entry, account, at, report);
      accounts.set(account, values);
      const id = values.get('id') ?? account;
      const owner = owners.get(id);
      if (owner !== undefined) report(problems.sameAccountId(path, owner, account, id));
      owners.set(id, account);
    }
  }
  return accounts;
}

function parseAccount(
  entry: Readonly<Record<string, unknown>>,
  account: string,
  at: string,
  report: Report,
): Values {
  const inClear = Object.keys(entry).filter((name) => Object.hasOwn(secretSettings, name));
  for (const name of inClear) report(problems.credentialInClear(at, account, name));
  const others = Object.entries(entry).filter(([name]) => !inClear.includes(name));
  const values = stringsOf(Object.fromEntries(others), 'account', at, report);
  if (values.has('id') && !isAccountName(values.get('id'))) {
    report(problems.badAccountId(at));
    values.delete('id');
  }
  for (const secret of Object.keys(secretSettings)) {
    const variable = values.get(`${secret}Env`);
    if (variable !== undefined && !isCredentialVariable(variable)) {
      report(problems.badVariableName(at, account, `${secret}Env`));
      values.delete(`${secret}Env`);
    }
    const references = [`${secret}File`, `${secret}Env`, `${secret}Command`].filter((name) =>
      values.has(name),
    );
    const [first, second] = references;
    if (first !== undefined && second !== undefined) report(problems.twoReferences(at, first, second));
  }
  return values;
}

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);
