import { execSync } from 'node:child_process';
import { resolve } from 'node:path';
import { apiKeys, bearerToken, type ClientOptions, lineLogger } from '@call-attribution/core';
import { ConfigurationError } from '@call-attribution/core/errors';
import {
  type Environment,
  type PlainName,
  type PlainSettings,
  plainSettings,
  quoted,
  type ReadSecret,
  readSecretFile,
  readSecretVariable,
  readVariable,
  type SecretName,
  type Setting,
  type SettingProblem,
  type SettingSpec,
  secretSettings,
  versionOfUrl,
} from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Annotation } from './annotations.ts';
import {
  type ConfigFile,
  type Report,
  readConfigFile,
  reference,
  userConfigFile,
  type Values,
} from './config-file.ts';
import type { NamedFiles } from './named-files.ts';

/** One of the accounts in the configuration file. */
export interface ConfiguredAccount {
  /** Its name in the file, by which people choose it. */
  readonly name: string;
  /** The account ID that its calls are kept under in a store. Default: the name. */
  readonly id: string;
}

/**
 * The account with this ID or this name; null when there is none.
 *
 * @example
 * accountCalled('102', readSettings().accounts)?.name; // 'boston'
 */
export function accountCalled(
  called: string | null | undefined,
  accounts: readonly ConfiguredAccount[],
): ConfiguredAccount | null {
  const own = accounts.find(({ id }) => id === called);
  return own ?? accounts.find(({ name }) => name === called) ?? null;
}

/**
 * All settings, read once. Credentials are returned by a function, so that nothing prints them by
 * accident.
 */
export interface Settings extends PlainSettings {
  /** The configuration file, when one was found. */
  readonly file: ConfigFile | null;
  /**
   * The account of the configuration file that these settings are of; null for the settings outside
   * of `accounts`.
   */
  readonly account: ConfiguredAccount | null;
  /** Files of what ads cost, by their names: those of the account come first. */
  readonly spend: NamedFiles;
  /** Files of what calls became, by their names: those of the account come first. */
  readonly outcomes: NamedFiles;
  /** All accounts of the configuration file, in its order. */
  readonly accounts: readonly ConfiguredAccount[];
  /** What is wrong with the settings that are there, in the order in which they are read. */
  readonly problems: readonly SettingProblem[];
  /**
   * A credential, or null when it is not set. Throws a `ConfigurationError` when a command that
   * should print it fails.
   */
  secret(name: SecretName): Setting | null;
}

/** What numbers are counted of, as far as annotations depend on it. */
export interface AnnotatedNumbers {
  /** The first moment, as `2026-10-05 00:00:00`; null where the period is open. */
  readonly from: string | null;
  /** The first moment after it. */
  readonly to: string | null;
  /** The accounts, by their names or their IDs. */
  readonly accounts: readonly string[];
}

/**
 * The annotations that belong to numbers, in the order of their days: those in the period that are
 * about all accounts or about one of theirs.
 *
 * @example
 * annotationsOf(readSettings(), { from: '2026-10-01', to: null, accounts: ['101'] });
 */
export function annotationsOf(
  settings: Pick<Settings, 'file' | 'accounts'>,
  { from, to, accounts }: AnnotatedNumbers,
): Annotation[] {
  const idOf = (called: string): string => accountCalled(called, settings.accounts)?.id ?? called;
  const ids = new Set(accounts.map(idOf));
  return (settings.file?.annotations ?? []).filter(({ date, account }) => {
    const isAfter = from === null || date >= from.slice(0, 10);
    const isBefore = to === null || `${date} 00:00:00` < to;
    return isAfter && isBefore && (account === null || ids.has(idOf(account)));
  });
}

/** Where `readSettings` reads. */
export interface SettingsSource {
  /** Values that were given directly; they come first. Null and undefined count as not given. */
  readonly options?: Readonly<Partial<Record<PlainName, string | null | undefined>>> | undefined;
  /** What messages call an option. @default the name itself */
  readonly nameOption?: ((name: string) => string) | undefined;
  /**
   * Name or ID of an account in the configuration file. Its credentials, and no others, are used; its
   * other settings come after
   * `options` and before the environment. See also `readAccounts`. Null for none.
   * @default the one that the file names as `default`, unless the environment has credentials
   */
  readonly account?: string | null | undefined;
  /** The configuration file that was named with an option. */
  readonly config?: string | null | undefined;
  /**
   * Environment variables. Programs that own their process pass `takeEnvironment()`. @default
   * process.env
   */
  readonly env?: Environment | undefined;
  /** Folder that relative paths start from. @default process.cwd() */
  readonly cwd?: string | undefined;
  /**
   * Is the file in the user's configuration folder read when no other one is named? No file is ever
   * looked for in `cwd`.
   * @default true
   */
  readonly searchHome?: boolean | undefined;
}

/**
 * Reads the settings of a client: options first, then the environment, then the configuration file.
 * Nothing is thrown:
 * `problems` says what is wrong, so that a program can show one problem or all of them.
 *
 * @example
 * const settings = readSettings({ options: { apiVersion: 'v2' } });
 * const [problem] = [...settings.problems, ...missingSettings(settings)];
 * if (problem) throw new Error(problem.message);
 */
export function readSettings(source: SettingsSource = {}): Settings {
  return settingsIn(readFile(source), source);
}

/** The configuration file, which is read once for all accounts in it. */
function readFile(source: SettingsSource) {
  const { nameOption = (name) => name, env = process.env, cwd = process.cwd() } = source;
  const { config, searchHome = true } = source;
  const problems: SettingProblem[] = [];
  const typed = config ? { path: config, from: nameOption('config') } : null;
  const named =
    typed ?? (env.CALLS_CONFIG ? { path: env.CALLS_CONFIG, from: 'CALLS_CONFIG' } : null);
  const content = readConfigFile(
    named && { ...named, path: resolve(cwd, named.path) },
    searchHome ? userConfigFile(env) : null,
    reportTo(problems),
  );
  const accounts = [...(content?.accounts ?? [])].map(([name, values]) => ({
    name,
    id: values.get('id') ?? name,
  }));
  return { content, accounts, problems };
}

const reportTo =
  (problems: SettingProblem[]): Report =>
  (place, message, hint) =>
    void problems.push({ place, message, hint });

function settingsIn(file: ReturnType<typeof readFile>, source: SettingsSource): Settings {
  const { content, accounts, problems } = file;
  const {
    options = {},
    nameOption = (name) => name,
    env = process.env,
    cwd = process.cwd(),
  } = source;
  const found = [...problems];

  const hasOwn = Object.values(secretSettings).some((variable) =>
    [variable, `${variable}_FILE`].some((name) => readVariable(env, name) !== null),
  );
  const { account: name = hasOwn ? null : content?.values.get('default') } = source;
  const account = accountCalled(name, accounts);
  if (typeof name === 'string' && account === null)
    reportUnknown(name, accounts, content?.file ?? null, reportTo(found));
  const own: Values | undefined =
    account === null ? undefined : content?.accounts.get(account.name);
  const path = content?.file.path ?? '';
  const ofAccount = `account ${quoted(account?.name ?? '')} in ${path}`;

  const plain: Record<string, Setting<unknown> | null> = {};
  for (const [setting, spec] of Object.entries<SettingSpec<unknown>>(plainSettings)) {
    const places: (readonly [string | null | undefined, Setting['origin'], string])[] = [
      [options[setting as PlainName], 'option', nameOption(setting)],
      [own?.get(setting), 'file', ofAccount],
      [readVariable(env, spec.variable), 'environment', spec.variable],
      [content?.values.get(setting), 'file', path],
    ];
    const [text, origin = 'default', from = 'default'] =
      places.find(([value, kind]) => (kind === 'option' ? value != null : value)) ?? [];
    const read = text == null ? null : spec.read(text, from);
    if (read && 'value' in read) plain[setting] = { value: read.value, origin, from };
    else {
      if (read) found.push({ ...read, of: setting });
      plain[setting] =
        spec.initial === undefined
          ? null
          : { value: spec.initial, origin: 'default', from: 'default' };
    }
  }

  const secrets = new Map<string, () => Setting>();
  for (const [secret, variable] of Object.entries(secretSettings)) {
    const keep = (read: ReadSecret): void => {
      if ('problem' in read) found.push({ place: 'setting', message: read.problem, of: secret });
      else
        secrets.set(secret, () => ({
          value: read.value,
          from: read.from,
          origin: read.isFile ? 'key file' : 'environment',
        }));
    };
    // The settings of an account that does not exist have no credentials: those of another one must
    // not be used for it.
    if (typeof name === 'string' && account === null) continue;
    const given = account === null ? readSecretVariable(env, variable, cwd) : null;
    const values = own ?? content?.values;
    const [file, command, written] = [`${secret}File`, `${secret}Command`, secret].map((each) =>
      values?.get(each),
    );
    const place = account === null ? path : ofAccount;
    const ownVariable = own?.get(`${secret}Env`);
    if (given !== null) keep(given);
    else if (file) keep(readSecretFile(resolve(path, '..', file), `${secret}File of ${place}`));
    else if (command) secrets.set(secret, secretCommand(command, `${secret}Command of ${place}`));
    else if (ownVariable !== undefined) {
      const value = readVariable(env, ownVariable);
      const problem = `account ${quoted(account?.name ?? '')}: the environment variable ${ownVariable} is not set`;
      keep(value === null ? { problem } : { value, from: ownVariable, isFile: false });
    } else if (written && account === null)
      secrets.set(secret, () => ({ value: written, origin: 'file', from: path }));
  }

  const read = plain as unknown as PlainSettings;

  // A URL that ends in a version says which one is meant.
  const isMeant =
    read.apiVersion.origin === 'default' && versionOfUrl(read.baseUrl?.value ?? '') === 'v2';
  return {
    ...read,
    ...(isMeant ? { apiVersion: { ...read.apiVersion, value: 'v2' } } : {}),
    file: content?.file ?? null,
    account,
    spend: content?.filesOf('spend', account?.name ?? null) ?? new Map(),
    outcomes: content?.filesOf('outcomes', account?.name ?? null) ?? new Map(),
    accounts,
    problems: found,
    secret: (secret) => secrets.get(secret)?.() ?? null,
  };
}

const noAccounts = (path: string | null): readonly ['file', string, string] => [
  'file',
  path === null ? 'there is no calls.config.json with accounts' : `${path} has no accounts`,
  'calls init --account NAME adds one; in the file it is "accounts": { "main": { "accessKeyFile": "main.access", "secretKeyFile": "main.secret" } }',
];

function reportUnknown(
  name: string,
  accounts: readonly ConfiguredAccount[],
  file: ConfigFile | null,
  report: Report,
): void {
  const known = accounts.map((each) => each.name);
  if (file === null || known.length === 0) report(...noAccounts(file?.path ?? null));
  else {
    const near = nearest(name, known);
    const hint = near === undefined ? `it has ${known.join(', ')}` : `did you mean ${near}?`;
    report('file', `${file.path} has no account ${quoted(name)}`, hint);
  }
}

/**
 * The settings of several accounts of the configuration file, in the order of `names`, which may
 * also be IDs, or of all accounts, in the order of the file. A problem that concerns two accounts is one of the later
 * account. Without any account in the file the result is one `Settings` with that problem.
 *
 * @example
 * for (const settings of readAccounts('all')) {
 *   const client = createClient(connectionOf(settings));
 *   console.log(settings.account?.name, await client.countCalls());
 * }
 */
export function readAccounts(
  names: readonly string[] | 'all',
  source: Omit<SettingsSource, 'account'> = {},
): Settings[] {
  const file = readFile(source);
  const all = file.accounts.map(({ name }) => name);
  if (all.length === 0) {
    const outside = settingsIn(file, { ...source, account: null });
    const [place, message, hint] = noAccounts(outside.file?.path ?? null);
    const problems = [...outside.problems, { place, message, hint }];
    return [{ ...outside, secret: () => null, problems }];
  }

  const owners = new Map<string, string>();
  const chosen =
    names === 'all'
      ? all
      : names.map((called) => accountCalled(called, file.accounts)?.name ?? called);
  return [...new Set(chosen)].map((name) => {
    const settings = settingsIn(file, { ...source, account: name });

    const and = (problem: SettingProblem): Settings => ({
      ...settings,
      problems: [...settings.problems, problem],
    });

    let key: Setting | null;
    try {
      key = settings.secret('accessKey') ?? settings.secret('bearerToken');
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return and({ place: 'setting', message: error.summary, hint: error.hint, of: 'accessKey' });
    }

    if (key === null) return settings;
    const server = `${settings.baseUrl?.value} ${settings.apiVersion.value} ${key.value}`;
    const owner = owners.get(server);
    owners.set(server, name);
    if (owner === undefined) return settings;
    return and({
      place: 'account',
      message: `accounts ${quoted(owner)} and ${quoted(name)} have the same credentials, so the same calls would be read twice`,
    });
  });
}

/**
 * A credential that a command prints, such as that of a password manager. It runs when the
 * credential is first asked for, in the shell, with the terminal for its messages; a command that
 * does not end is ended after a minute.
 *
 * @param from the name and the file that have the command, for messages.
 * @example
 * const key = secretCommand('op read op://calls/main/access', 'the access key');
 * key().value;
 */
export function secretCommand(command: string, from: string): () => Setting {
  const failed = (reason: string): ConfigurationError =>
    new ConfigurationError('invalid_option', {
      message: `${from}: the command ${reason}`,
      hint: 'run it in a shell: it has to print the credential and nothing else, and end with status 0',
    });

  let found: Setting | null = null;
  return () => {
    if (found !== null) return found;
    let value: string;
    try {
      const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
      value = execSync(command, {
        encoding: 'utf8',
        stdio,
        timeout: 60_000,
        maxBuffer: 65_536,
      }).trim();
    } catch (error) {
      // The message of the error has the command in it, which may hold a secret.
      const { code, status } = error as { readonly code?: string; readonly status?: number | null };
      if (code === 'ETIMEDOUT') throw failed('did not end within a minute');
      if (code === 'ENOBUFS') throw failed('printed more than one line');
      throw failed(typeof status === 'number' ? `ended with status ${status}` : 'failed');
    }

    if (value === '') throw failed('printed nothing');
    if (/[\r\n]/.test(value)) throw failed('printed more than one line');
    found = { value, origin: 'command', from };
    return found;
  };
}

const legacy = 'legacy users may set CALLS_BEARER_TOKEN instead of the two keys';
const credentials: Readonly<Record<SecretName, readonly [what: string, hint?: string]>> = {
  bearerToken: ['v2 needs the bearer token of the account'],
  accessKey: ['the access key of the account', legacy],
  secretKey: ['the secret key of the account', legacy],
};

/** What a program still has to be given before it can read calls; empty when nothing is missing. */
export function missingSettings({
  account,
  apiVersion,
  baseUrl,
  secret,
}: Settings): SettingProblem[] {
  const isV2 = apiVersion.value === 'v2';

  const missing = (
    of: string,
    outside: string,
    inAccount: string,
    hint?: string,
  ): SettingProblem => ({
    place: 'setting',
    of,
    hint,
    message: account === null ? outside : `account ${quoted(account.name)} has no ${inAccount}`,
  });

  let names: SecretName[] = secret('bearerToken') === null ? ['accessKey', 'secretKey'] : [];
  if (isV2) names = ['bearerToken'];
  const url = `${plainSettings.baseUrl.variable} is missing: the URL of the API`;
  return [
    ...(baseUrl === null
      ? [missing('baseUrl', url, '"baseUrl", and none is set for all accounts')]
      : []),
    ...names
      .filter((of) => secret(of) === null)
      .map((of) => {
        const [what, hint] = credentials[of];
        const name = `${of.replace(/([A-Z])/g, ' $1').toLowerCase()}${isV2 ? ', which v2 needs' : ''}`;
        const more = account === null ? hint : reference(account.name, of);
        return missing(of, `${secretSettings[of]} is missing: ${what}`, name, more);
      }),
  ];
}

/**
 * The settings as options of `createClient`: keys before a token in v3, a token in v2. The SMS
 * number listing takes the keys even where calls are read with a token. A URL that is not set is
 * empty, which `createClient` refuses.
 *
 * @param writeLog where the lines go that `CALLS_LOG` switches on: stderr, unless it is given.
 * @example
 * const client = createClient(connectionOf(readSettings()));
 */
export function connectionOf(settings: Settings, writeLog?: (line: string) => void): ClientOptions {
  const access = settings.secret('accessKey');
  const secret = settings.secret('secretKey');
  const token = settings.secret('bearerToken');
  const keys = access && secret ? apiKeys(access.value, secret.value) : undefined;
  const version = settings.apiVersion.value;
  const bearer = token ? bearerToken(token.value) : undefined;
  const auth = version === 'v3' && keys ? keys : bearer;
  return {
    baseUrl: settings.baseUrl?.value ?? '',
    version,
    ...(settings.legacyBaseUrl ? { legacyBaseUrl: settings.legacyBaseUrl.value } : {}),
    ...(auth ? { auth } : {}),
    ...(keys ? { legacyAuth: keys } : {}),
    ...(settings.timeout ? { timeout: settings.timeout.value } : {}),
    ...(settings.log
      ? { logger: lineLogger(settings.logFormat.value, writeLog), logLevel: settings.log.value }
      : {}),
  };
}
