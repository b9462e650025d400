import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { type Environment, isCredentialVariable } from './environment.ts';
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
  readonly searchCwd: boolean;
  readonly searchHome: boolean;
}

/**
 * Finds and reads the configuration file: the named one, else the one in CALLS_CONFIG, else `calls.config.json` in the
 * current folder, else the one in the user's configuration folder. Null when there is none.
 */
export function readConfigFile(places: ConfigPlaces, report: Report): FileContent | null {
  const { env, cwd, searchCwd, searchHome } = places;
  const named = places.named ?? (env.CALLS_CONFIG ? { path: env.CALLS_CONFIG, from: 'CALLS_CONFIG' } : null);
  if (named !== null) {
    const path = resolve(cwd, named.path);
    const content = readIfThere(path, report);
    if (content === null) report(problems.noConfigFile(path, named.from));
    return content;
  }
  const home = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  const paths = searchHome ? [join(home, 'call-attribution', 'calls.config.json')] : [];
  if (searchCwd) paths.unshift(join(cwd, 'calls.config.json'));
  for (const path of paths) {
    const content = readIfThere(path, report);
    if (content !== null) return content;
  }
  return null;
}

function readIfThere(path: string, report: Report): FileContent | null {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    const reason = systemCode(error);
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return null;
    report(problems.unreadableFile(path, reason));
    return { file: { path, isExposed: false }, values: new Map(), accounts: new Map() };
  }
  const { accounts, service, ...plain } = parseObject(text, path, report);
  const values = stringsOf(plain, 'file', path, report);
  const holdsCredential = Object.keys(secretSettings).some((name) => values.has(name));
  const isExposed = holdsCredential && process.platform !== 'win32' && (statSync(path).mode & 0o044) !== 0;
  return {
    file: { path, isExposed, ...(service === undefined ? {} : { service }) },
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

const nameForm = /^[\w.-]{1,64}$/;

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
    if (!nameForm.test(account)) report(problems.badAccountName(at));
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
  if (values.has('id') && !nameForm.test(values.get('id') ?? '')) {
    report(problems.badAccountId(at));
    values.delete('id');
  }
  for (const secret of Object.keys(secretSettings)) {
    const variable = values.get(`${secret}Env`);
    if (variable === undefined) continue;
    if (!isCredentialVariable(variable)) {
      report(problems.badVariableName(at, account, `${secret}Env`));
      values.delete(`${secret}Env`);
    } else if (values.has(`${secret}File`)) report(problems.twoReferences(at, secret));
  }
  return values;
}

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** The text of a file, in UTF-8 or, as some Windows programs write it, UTF-16; without a byte order mark. */
export function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/** The code of a system error, such as EACCES. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'unknown reason';
}
