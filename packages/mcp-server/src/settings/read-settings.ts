import { resolve } from 'node:path';
import { InputError } from '@call-attribution/core/errors';
import { type Environment, readSmallFile, readVariable, systemCode } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { type ConfigFile, type FileContent, readConfigFile, type Values } from './config-file.ts';
import { problems, type Report, type SettingProblem } from './problems.ts';
import { secretCommand } from './secret-command.ts';
import {
  type PlainName,
  type PlainSettings,
  plainSettings,
  type SecretName,
  type Setting,
  type SettingSpec,
  secretSettings,
} from './table.ts';

/** One of the accounts in the configuration file. */
export interface ConfiguredAccount {
  /** Its name in the file, by which people choose it. */
  readonly name: string;
  /** The account ID that its calls are kept under in a store. Default: the name. */
  readonly id: string;
}

/** All settings, read once. Credentials are returned by a function, so that nothing prints them by accident. */
export interface Settings extends PlainSettings {
  /** The configuration file, when one was found. */
  readonly file: ConfigFile | null;
  /** The account of the configuration file that these settings are of; null for the settings outside of `accounts`. */
  readonly account: ConfiguredAccount | null;
  /** All accounts of the configuration file, in its order. */
  readonly accounts: readonly ConfiguredAccount[];
  /** What is wrong with the settings that are there, in the order in which they are read. */
  readonly problems: readonly SettingProblem[];
  /** A credential, or null when it is not set. Throws an `InputError` when a command that should print it fails. */
  secret(name: SecretName): Setting | null;
}

/** Where `readSettings` reads. */
export interface SettingsSource {
  /** Values that were given directly; they come first. Null and undefined count as not given. */
  readonly options?: Readonly<Partial<Record<PlainName, string | null | undefined>>> | undefined;
  /** What messages call an option. @default the name itself */
  readonly nameOption?: ((name: string) => string) | undefined;
  /**
   * Name of an account in the configuration file. Its credentials, and no others, are used; its other settings come after
   * `options` and before the environment. See also `readAccounts`. Null for none.
   * @default the one that the file names as `default`, unless the environment has credentials
   */
  readonly account?: string | null | undefined;
  /** The configuration file that was named with an option. */
  readonly config?: string | null | undefined;
  /** Environment variables. Programs that own their process pass `takeEnvironment()`. @default process.env */
  readonly env?: Environment | undefined;
  /** Folder that relative paths start from. @default process.cwd() */
  readonly cwd?: string | undefined;
  /**
   * Is the file in the user's configuration folder read when no other one is named? No file is ever looked for in `cwd`.
   * @default true
   */
  readonly searchHome?: boolean | undefined;
}

/** The chosen account with what the file says about it. */
interface Profile extends ConfiguredAccount {
  readonly values: Values;
  /** The account and its file, for messages. */
  readonly from: string;
}

/** Everything that settings are read from. */
interface Places {
  readonly options: Readonly<Record<string, string | null | undefined>>;
  readonly nameOption: (name: string) => string;
  readonly env: Environment;
  readonly cwd: string;
  readonly content: FileContent | null;
  /** Null without an account; undefined for one that the file does not have. */
  readonly profile: Profile | null | undefined;
  readonly report: Report;
}

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
  const found: SettingProblem[] = [];
  const report: Report = (problem) => void found.push(problem);
  const { options = {}, nameOption = (name) => name, env = process.env, cwd = process.cwd() } = source;
  const { config, searchHome = true } = source;
  const named = typeof config === 'string' ? { path: config, from: nameOption('config') } : null;
  const content = readConfigFile({ named, env, cwd, searchHome }, report);
  const accounts = [...(content?.accounts ?? [])].map(([name, values]) => ({
    name,
    id: values.get('id') ?? name,
  }));
  const { account = hasCredential(env) ? null : content?.values.get('default') } = source;
  const profile = typeof account === 'string' ? profileOf(account, accounts, content, report) : null;
  const places: Places = { options, nameOption, env, cwd, content, profile, report };
  const placesOf = (of: string): Places => ({ ...places, report: (problem) => report({ ...problem, of }) });
  const plain = Object.entries(plainSettings).map(([name, spec]) => [
    name,
    readPlain(name, spec, placesOf(name)),
  ]);
  const secrets = new Map(
    Object.entries(secretSettings).map(([name, variable]) => [
      name,
      readSecret(name, variable, placesOf(name)),
    ]),
  );
  const read = Object.fromEntries(plain) as PlainSettings;
  const ending = /\/(v[23])(?:\/user\/bid-management)?\/*$/.exec(read.baseUrl?.value ?? '')?.[1];
  const isUsual = read.apiVersion.origin === 'default';
  return {
    ...read,
    // A URL that ends in a version says which one is meant.
    ...(isUsual && ending === 'v2' ? { apiVersion: { ...read.apiVersion, value: ending } } : {}),
    file: content?.file ?? null,
    account: profile ? { name: profile.name, id: profile.id } : null,
    accounts,
    problems: found,
    secret: (name) => secrets.get(name)?.() ?? null,
  };
}

/**
 * The settings of several accounts of the configuration file, in the order of their names, or of all accounts, in the order
 * of the file. A problem that concerns two accounts is one of the later account. Without any account in the file the result
 * is one `Settings` with that problem.
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
  const outside = readSettings({ ...source, account: null });
  const all = outside.accounts.map(({ name }) => name);
  if (all.length === 0) {
    const problem = problems.noAccounts(outside.file?.path ?? null);
    return [{ ...outside, secret: () => null, problems: [...outside.problems, problem] }];
  }
  const owners = new Map<string, string>();
  return (names === 'all' ? all : [...new Set(names)]).map((name) => {
    const settings = readSettings({ ...source, account: name });
    let key: Setting | null;
    try {
      key = settings.secret('accessKey') ?? settings.secret('bearerToken');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { ...settings, problems: [...settings.problems, problems.failedCommand(error)] };
    }
    if (key === null) return settings;
    const server = `${settings.baseUrl?.value} ${settings.apiVersion.value} ${key.value}`;
    const owner = owners.get(server);
    owners.set(server, name);
    if (owner === undefined) return settings;
    return { ...settings, problems: [...settings.problems, problems.sameCredential(owner, name)] };
  });
}

const hasCredential = (env: Environment): boolean =>
  Object.values(secretSettings).some(
    (variable) => readVariable(env, variable) !== null || readVariable(env, `${variable}_FILE`) !== null,
  );

function profileOf(
  account: string,
  accounts: readonly ConfiguredAccount[],
  content: FileContent | null,
  report: Report,
): Profile | undefined {
  const chosen = accounts.find(({ name }) => name === account);
  const values = content?.accounts.get(account);
  if (content !== null && chosen !== undefined && values !== undefined)
    return { ...chosen, values, from: `account ${JSON.stringify(account)} in ${content.file.path}` };
  const known = accounts.map(({ name }) => name);
  report(
    content === null || known.length === 0
      ? problems.noAccounts(content?.file.path ?? null)
      : problems.unknownAccount(content.file.path, account, nearest(account, known), known),
  );
  return undefined;
}

function readPlain(name: string, spec: SettingSpec<unknown>, places: Places): Setting<unknown> | null {
  const found = findPlain(name, spec.variable, places);
  const read = found && spec.read(found.value, found.from);
  if (read && 'value' in read) return { ...found, value: read.value };
  if (read) places.report(read);
  return spec.initial === undefined ? null : { value: spec.initial, origin: 'default', from: 'default' };
}

function findPlain(
  name: string,
  variable: string,
  { options, nameOption, env, content, profile }: Places,
): Setting | null {
  const given = options[name];
  if (given !== undefined && given !== null)
    return { value: given, origin: 'option', from: nameOption(name) };
  const own = profile?.values.get(name);
  if (profile && own) return { value: own, origin: 'file', from: profile.from };
  const value = readVariable(env, variable);
  if (value !== null) return { value, origin: 'environment', from: variable };
  const written = content?.values.get(name);
  return content && written ? { value: written, origin: 'file', from: content.file.path } : null;
}

/** Null: it is not set. What a command prints is read when it is asked for. */
type ReadSecret = (() => Setting) | null;

function readSecret(name: string, variable: string, places: Places): ReadSecret {
  const { env, cwd, content, profile, report } = places;
  // The settings of an account that does not exist have no credentials: those of another one must not be used for it.
  if (profile === undefined) return null;
  if (profile !== null) return secretOfAccount(name, profile, places);
  const direct = readVariable(env, variable);
  if (direct !== null) return known({ value: direct, origin: 'environment', from: variable });
  const path = readVariable(env, `${variable}_FILE`);
  if (path !== null) return known(fromFile(resolve(cwd, path), `${variable}_FILE`, report));
  if (content === null) return null;
  const { path: config } = content.file;
  const referred = referredSecret(name, content.values, config, config, report);
  if (referred !== undefined) return referred;
  const written = content.values.get(name);
  return written ? known({ value: written, origin: 'file', from: config }) : null;
}

/** A credential of an account: the file, the command or the environment variable that the account names, and nothing else. */
function secretOfAccount(
  name: string,
  { name: account, values, from }: Profile,
  { env, content, report }: Places,
): ReadSecret {
  const referred = referredSecret(name, values, content?.file.path ?? '', from, report);
  if (referred !== undefined) return referred;
  const variable = values.get(`${name}Env`);
  if (variable === undefined) return null;
  const value = readVariable(env, variable);
  if (value !== null) return known({ value, origin: 'environment', from: variable });
  report(problems.unsetVariable(account, variable));
  return null;
}

/** The credential in the file or of the command that `values` name; undefined when they name neither. */
function referredSecret(
  name: string,
  values: Values,
  config: string,
  place: string,
  report: Report,
): ReadSecret | undefined {
  const path = values.get(`${name}File`);
  if (path) return known(fromFile(resolve(config, '..', path), `${name}File of ${place}`, report));
  const command = values.get(`${name}Command`);
  return command ? secretCommand(command, `${name}Command of ${place}`) : undefined;
}

const known = (setting: Setting | null): ReadSecret => (setting === null ? null : () => setting);

function fromFile(path: string, from: string, report: Report): Setting | null {
  try {
    const value = readSmallFile(path).text.trim();
    if (value !== '') return { value, origin: 'key file', from: path };
    report(problems.emptyFile(path, from));
  } catch (error) {
    report(problems.unreadableFile(path, systemCode(error), from));
  }
  return null;
}
