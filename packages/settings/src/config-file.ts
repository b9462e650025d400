import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { codeOf } from '@call-attribution/core/errors';
import {
  accountNameWords,
  type Environment,
  isAccountName,
  isCredentialVariable,
  namesOf,
  notJsonText,
  quoted,
  readSmallFile,
  type SettingProblem,
  secretSettings,
} from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { type Annotation, readAnnotations } from './annotations.ts';
import { type FileSection, fileSections, type NamedFiles, readNamedFiles } from './named-files.ts';

/** A configuration file that was found and read. */
export interface ConfigFile {
  /** Absolute path. */
  readonly path: string;
  /**
   * What is under `"service"`, unread: the settings of a program that serves the API. Undefined
   * when there is nothing.
   */
  readonly service: unknown;
  /** Names for conditions, under `"definitions"`. What they say is not checked here. */
  readonly definitions: Readonly<Record<string, string>>;
  /** What is under `"exclude"`: the definition of calls that do not count; null for none. */
  readonly exclude: string | null;
  /** What is under `"reports"`, unread: reports by their names. Undefined when there is nothing. */
  readonly reports: unknown;
  /** Rules for conversions by their names, under `"rules"`. The files are not read here. */
  readonly rules: Readonly<Record<string, NamedRules>>;
  /** What is under `"annotations"`, in the order of their days. */
  readonly annotations: readonly Annotation[];
  /** What is under `"page"`, unread: who may see the page. Undefined when there is nothing. */
  readonly page: unknown;
  /** What it holds that other users of this machine can read and should not; null for nothing. */
  readonly exposed: 'a key' | 'numbers of callers' | null;
}

/** Rules for conversions that have a name. */
export interface NamedRules {
  /** Absolute path of their file. */
  readonly file: string;
  /** Absolute path of the ledger of what was sent by them; null where none is named. */
  readonly ledger: string | null;
  /** The name of the conversion, as the sheet has it; empty where none is named. */
  readonly conversionName: string;
}

/** Strings by their names. */
export type Values = ReadonlyMap<string, string>;

/** What is in a configuration file. */
export interface FileContent {
  readonly file: ConfigFile;
  readonly values: Values;
  /** The accounts under `"accounts"`, by name. */
  readonly accounts: ReadonlyMap<string, Values>;
  /** What is under `"spend"` and `"outcomes"` of the file or, by its name, of one of its accounts. */
  readonly filesOf: (section: FileSection, account: string | null) => NamedFiles;
}

/** Takes a problem in. */
export type Report = (place: SettingProblem['place'], message: string, hint?: string) => void;

/**
 * The user's own configuration file, whether it is there or not:
 * `call-attribution/calls.config.json` in the folder of XDG_CONFIG_HOME, else where the system
 * keeps such files (`~/.config`, `~/Library/Application Support`, `%APPDATA%`).
 */
export function userConfigFile(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const usual = () => {
    if (platform === 'win32') return env.APPDATA || join(homedir(), 'AppData', 'Roaming');
    const home = env.HOME || homedir();
    return platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : join(home, '.config');
  };

  const named = env.XDG_CONFIG_HOME;

  // A relative path would be one in the current folder, which may be anybody's.
  const folder = named && isAbsolute(named) ? named : usual();
  return isAbsolute(folder) ? join(folder, 'call-attribution', 'calls.config.json') : null;
}

/** Most bytes of a configuration file: a thousand accounts have some 200 KB. */
const configBytes = 1024 * 1024;

/**
 * Reads the configuration file: the one that an option (`named`) or CALLS_CONFIG names, else that
 * of the user at `own`. Null when there is none. None is looked for in the current folder, since
 * whoever made that folder could send keys and passwords elsewhere.
 */
export function readConfigFile(
  named: { readonly path: string; readonly from: string } | null,
  own: string | null,
  report: Report,
): FileContent | null {
  const path = named?.path ?? own;
  if (path === null) return null;
  const nothing = {
    file: { path, exposed: null, ...noSections, ...noDefinitions },
    values: new Map(),
    accounts: new Map(),
    filesOf: () => new Map(),
  };
  let json: unknown;
  let isReadable: boolean;
  let text = '';
  try {
    ({ text, isExposed: isReadable } = readSmallFile(path, configBytes));
  } catch (error) {
    const reason = codeOf(error) ?? 'unknown reason';
    if (reason !== 'ENOENT' && reason !== 'ENOTDIR') {
      report('file', `${path} cannot be read (${reason})`);
      return nothing;
    }
    if (named)
      report('file', `there is no configuration file ${path}`, `it was named by ${named.from}`);
    return null;
  }

  try {
    json = JSON.parse(text);
  } catch {
    const example = 'it looks like { "baseUrl": "https://...", "timeZone": "America/New_York" }';
    report('file', notJsonText(text, path), example);
    return nothing;
  }

  if (!isObject(json)) {
    report('file', `${path} must hold one JSON object`);
    return nothing;
  }

  const {
    accounts,
    service,
    page,
    reports,
    annotations,
    rules,
    definitions,
    exclude,
    spend,
    outcomes,
    ...plain
  } = json;
  const values = stringsOf(plain, 'file', path, report);
  const conditions = readDefinitionsIn(definitions, exclude, path, report);
  let secret: ConfigFile['exposed'] = null;
  if (Object.values(conditions.definitions).some(namesNumbers)) secret = 'numbers of callers';
  if (Object.keys(secretSettings).some((name) => values.has(name))) secret = 'a key';
  return {
    file: {
      path,
      exposed: isReadable ? secret : null,
      service,
      page,
      reports,
      annotations: readAnnotations(annotations, (message, hint) =>
        report('file', `${path}: ${message}`, hint),
      ),
      rules: readRulesIn(rules, path, report),
      ...conditions,
    },
    values,
    accounts: accounts === undefined ? new Map() : readAccountsIn(accounts, path, report),
    filesOf: readFilesIn({ spend, outcomes }, accounts, path, report),
  };
}

function readFilesIn(
  all: Readonly<Record<FileSection, unknown>>,
  accounts: unknown,
  path: string,
  report: Report,
): FileContent['filesOf'] {
  const reportIn = (at: string) => (message: string, hint: string) =>
    report('file', `${at}: ${message}`, hint);
  const readAll = (of: Readonly<Record<string, unknown>>, at: string) =>
    new Map(
      fileSections.map((section) => [
        section,
        readNamedFiles(section, of[section], path, reportIn(at)),
      ]),
    );
  const ofFile = readAll(all, path);
  const ofAccounts = new Map(
    Object.entries(isObject(accounts) ? accounts : {}).map(([account, entry]) => [
      account,
      readAll(isObject(entry) ? entry : {}, `${path}: account ${quoted(account)}`),
    ]),
  );
  return (section, account) =>
    new Map([
      ...(ofFile.get(section) ?? []),
      ...(ofAccounts.get(account ?? '')?.get(section) ?? []),
    ]);
}

const noDefinitions = { definitions: {}, exclude: null } as const;

const noSections = {
  service: undefined,
  page: undefined,
  reports: undefined,
  annotations: [],
  rules: {},
};

const sections = [
  'accounts',
  'service',
  'page',
  'reports',
  'annotations',
  'rules',
  'definitions',
  'exclude',
  ...fileSections,
];

/** The rules of a file by their names: a path from the file each, or one with its ledger. */
function readRulesIn(
  section: unknown,
  path: string,
  report: Report,
): Readonly<Record<string, NamedRules>> {
  const example =
    'they look like "rules": { "leads": "rules.json" } or { "leads": { "file": "rules.json", "ledger": "uploads.ledger", "conversionName": "Lead" } }';
  const named: Record<string, NamedRules> = {};
  if (section === undefined) return named;
  if (!isObject(section)) {
    report('file', `${path}: "rules" must be an object of files by their names`, example);
    return named;
  }

  const folder = dirname(path);
  for (const [name, entry] of Object.entries(section)) {
    const fields = typeof entry === 'string' ? { file: entry } : entry;
    const texts = isObject(fields) ? Object.entries(fields) : [];
    const isRead = texts.every(
      ([key, value]) => ruleNames.includes(key) && typeof value === 'string' && value !== '',
    );
    const {
      file,
      ledger,
      conversionName = '',
    } = Object.fromEntries(texts) as Record<string, string>;
    if (!isRead || file === undefined || !isAccountName(name)) {
      report('file', `${path}: rules.${name} must name a file`, example);
      continue;
    }
    named[name] = {
      file: resolve(folder, file),
      ledger: ledger === undefined ? null : resolve(folder, ledger),
      conversionName,
    };
  }

  return named;
}

const ruleNames = ['file', 'ledger', 'conversionName'];

/** Whether a condition compares with what may be the number of a caller. */
function namesNumbers(condition: string): boolean {
  return [...condition.matchAll(/'(\+?[\d ().-]+)'/g)].some(([, text = '']) => {
    const digits = text.replace(/\D/g, '').length;
    return digits >= 7 && digits <= 15 && !/^\d{4}-\d{2}-\d{2}/.test(text);
  });
}

/** The definitions of a file, and which of them is excluded. */
function readDefinitionsIn(
  definitions: unknown,
  exclude: unknown,
  path: string,
  report: Report,
): Pick<ConfigFile, 'definitions' | 'exclude'> {
  const example = 'they look like "definitions": { "lead": "talk_minutes >= 2" }';
  if (definitions !== undefined && !isObject(definitions)) {
    report(
      'file',
      `${path}: "definitions" must be an object of conditions by their names`,
      example,
    );
    return noDefinitions;
  }

  const texts = Object.entries(definitions ?? {});
  const wrong = texts.find(([, text]) => typeof text !== 'string');
  if (wrong !== undefined) {
    report('file', `${path}: definitions.${wrong[0]} must be a condition in quotes`, example);
    return noDefinitions;
  }

  if (exclude !== undefined && exclude !== null && typeof exclude !== 'string') {
    report('file', `${path}: "exclude" must be the name of a definition`);
    return noDefinitions;
  }

  const read = Object.fromEntries(texts.map(([name, text]) => [name, String(text)]));
  return { definitions: read, exclude: exclude ?? null };
}

/** The strings of an object under the names that it may have; everything else is reported. */
function stringsOf(
  json: Readonly<Record<string, unknown>>,
  kind: 'file' | 'account',
  at: string,
  report: Report,
): Map<string, string> {
  const values = new Map<string, string>();
  const known =
    kind === 'file' ? [...namesOf.file, ...sections] : [...namesOf.account, ...fileSections];
  for (const [name, value] of Object.entries(json)) {
    if (namesOf[kind].includes(name)) {
      if (typeof value === 'string') values.set(name, value);
      else report(kind, `${at}: ${quoted(name)} must be a string`);
      continue;
    }
    const near = nearest(name, known);
    const hint =
      near === undefined ? `known names: ${known.join(', ')}` : `did you mean ${quoted(near)}?`;
    report(kind, `${at} has an unknown name ${quoted(name)}`, hint);
  }

  return values;
}

const accountForm =
  'an account looks like { "baseUrl": "https://...", "accessKeyFile": "main.access", "secretKeyEnv": "CALLS_MAIN_SECRET_KEY" }';

/**
 * The variable that a message proposes for a credential of an account, such as
 * CALLS_MAIN_SECRET_KEY.
 */
function variableFor(account: string, name: string): string {
  const words = `${account}_${name.replace(/([A-Z])/g, '_$1')}`;
  return `CALLS_${words.toUpperCase().replace(/[^A-Z\d]+/g, '_')}`;
}

/** How an account gets a credential. */
export const reference = (account: string, name: string): string =>
  `name a file with "${name}File", a command that prints it with "${name}Command", or an environment variable with "${name}Env": "${variableFor(account, name)}"`;

/** Reads `"accounts"`: an object of accounts by their names. */
function readAccountsIn(json: unknown, path: string, report: Report): ReadonlyMap<string, Values> {
  const accounts = new Map<string, Values>();
  if (!isObject(json)) {
    report(
      'file',
      `${path}: "accounts" must be an object with a name for each account`,
      accountForm,
    );
    return accounts;
  }

  const owners = new Map<string, string>();
  for (const [account, entry] of Object.entries(json)) {
    const at = `${path}: account ${quoted(account)}`;
    if (!isAccountName(account)) report('file', `${at}: a name is ${accountNameWords}`);
    else if (!isObject(entry)) report('account', `${at} must be an object`, accountForm);
    else {
      const values = readAccount(entry, account, at, report);
      accounts.set(account, values);
      const id = values.get('id') ?? account;
      const owner = owners.get(id);
      if (owner !== undefined)
        report(
          'file',
          `${path}: accounts ${quoted(owner)} and ${quoted(account)} have the same ID ${id}`,
          'a store keeps accounts apart by their ID; the name is the ID where "id" is not set',
        );
      owners.set(id, account);
    }
  }

  // People call an account by either, and conditions in any case.
  for (const [account, values] of accounts)
    for (const [id, owner] of owners) {
      const isOwn = owner === account || id === (values.get('id') ?? account);
      if (isOwn || id.toUpperCase() !== account.toUpperCase()) continue;
      report(
        'file',
        `${path}: account ${quoted(account)} is named like the ID of account ${quoted(owner)}`,
        'an account is known by its name and by its ID: give it another name',
      );
    }

  return accounts;
}

function readAccount(
  entry: Readonly<Record<string, unknown>>,
  account: string,
  at: string,
  report: Report,
): Values {
  const { spend: _, outcomes: __, ...own } = entry;
  const others: Record<string, unknown> = own;
  for (const name of Object.keys(secretSettings)) {
    if (!Object.hasOwn(entry, name)) continue;
    report(
      'account',
      `${at} has its "${name}" in clear, which is refused`,
      reference(account, name),
    );
    delete others[name];
  }

  const values = stringsOf(others, 'account', at, report);
  if (values.has('id') && !isAccountName(values.get('id'))) {
    report('account', `${at}: "id" is ${accountNameWords}`);
    values.delete('id');
  }

  for (const secret of Object.keys(secretSettings)) {
    const variable = values.get(`${secret}Env`);
    if (variable !== undefined && !isCredentialVariable(variable)) {
      report(
        'account',
        `${at}: "${secret}Env" must name an environment variable that begins with CALLS_ and ends with KEY, TOKEN, SECRET or PASSWORD`,
        `such as "${variableFor(account, secret)}"; the credential itself does not belong in the file`,
      );
      values.delete(`${secret}Env`);
    }
    const named = [`${secret}File`, `${secret}Env`, `${secret}Command`].filter((name) =>
      values.has(name),
    );
    if (named.length > 1)
      report('account', `${at} has both "${named[0]}" and "${named[1]}"`, 'remove one of them');
  }

  return values;
}

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);
