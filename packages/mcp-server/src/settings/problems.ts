import type { InputError } from '@call-attribution/core/errors';
import { accountNameWords, notJsonText } from '@call-attribution/core/settings';

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
const meant = (near: string | undefined, otherwise: string): string =>
  near === undefined ? otherwise : `did you mean ${near}?`;
const idForm = `is ${accountNameWords}`;

const accountForm =
  'an account looks like { "baseUrl": "https://...", "accessKeyFile": "main.access", "secretKeyEnv": "CALLS_MAIN_SECRET_KEY" }';

/** The variable that a message proposes for a credential of an account, such as CALLS_MAIN_SECRET_KEY. */
function variableFor(account: string, name: string): string {
  const words = `${account}_${name.replace(/([A-Z])/g, '_$1')}`;
  return `CALLS_${words.toUpperCase().replace(/[^A-Z\d]+/g, '_')}`;
}

const reference = (account: string, name: string): string =>
  `name a file with "${name}File", a command that prints it with "${name}Command", or an environment variable with "${name}Env": "${variableFor(account, name)}"`;

/** A setting that is missing or cannot be used, in words for whoever set it. It never holds a credential. */
export interface SettingProblem {
  /** What it is about: the configuration file as a whole, an account in it, or one setting. */
  readonly place: 'file' | 'account' | 'setting';
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to do about it, when there is more to say. */
  readonly hint?: string;
  /** The setting, where it is about one, such as `baseUrl`. */
  readonly of?: string;
}

/** Where a name is written. */
type NamePlace = 'file' | 'account';

/** Takes a problem in. */
export type Report = (problem: SettingProblem) => void;

const problemAt =
  (place: SettingProblem['place']) =>
  (message: string, hint?: string): SettingProblem =>
    hint === undefined ? { place, message } : { place, message, hint };
const inFile = problemAt('file');
const inAccount = problemAt('account');
const inSetting = problemAt('setting');

/**
 * What can be wrong with settings. `from` is the option, variable or file of a setting, `path` the file; `at` is the account of a
 * configuration file with that file. No problem holds a credential.
 */
export const problems = {
  noConfigFile: (path: string, from: string) =>
    inFile(`there is no configuration file ${path}`, `it was named by ${from}`),
  configNotJson: (path: string, text: string) =>
    inFile(
      notJsonText(text, path),
      'it looks like { "baseUrl": "https://...", "timeZone": "America/New_York" }',
    ),
  configNotObject: (path: string) => inFile(`${path} must hold one JSON object`),
  /** `kind` is that of the place: the file itself, or one of its accounts. */
  unknownName: (
    kind: NamePlace,
    at: string,
    name: string,
    near: string | undefined,
    known: readonly string[],
  ) =>
    problemAt(kind)(
      `${at} has an unknown name ${quoted(name)}`,
      meant(near && quoted(near), `known names: ${known.join(', ')}`),
    ),
  notString: (kind: NamePlace, at: string, name: string) =>
    problemAt(kind)(`${at}: ${quoted(name)} must be a string`),
  unreadableFile: (path: string, reason: string, from?: string) =>
    from === undefined
      ? inFile(`${path} cannot be read (${reason})`)
      : inSetting(`${from}: ${path} cannot be read (${reason})`),
  emptyFile: (path: string, from: string) => inSetting(`${from}: ${path} is empty`),

  notUrl: (from: string) => inSetting(`${from} must be a URL that begins with https:// or http://`),
  credentialsInUrl: (from: string) =>
    inSetting(`${from} must not have credentials in it`, 'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY instead'),
  unknownVersion: (from: string, value: string) =>
    inSetting(`${from}: the API version is v2 or v3, not ${quoted(value)}`),
  unknownTimeZone: (from: string, value: string) =>
    inSetting(
      `${from}: there is no time zone ${quoted(value)}`,
      'use an IANA name, such as America/New_York, Europe/Berlin or UTC',
    ),
  notDuration: (from: string, value: string) =>
    inSetting(`${from} must be a duration such as 30s or 5m, not ${quoted(value)}`),
  unknownWord: (from: string, value: string, near: string | undefined, known: readonly string[]) =>
    inSetting(
      `${from} must be ${known.slice(0, -1).join(', ')} or ${known.at(-1)}, not ${quoted(value.slice(0, 20))}`,
      meant(near, 'remove the variable to use the default'),
    ),

  missing: (variable: string, what: string, hint?: string) =>
    inSetting(`${variable} is missing: ${what}`, hint),
  missingUrlOf: (account: string) =>
    inSetting(`account ${quoted(account)} has no "baseUrl", and none is set for all accounts`),
  missingCredentialOf: (account: string, name: string, what: string) =>
    inSetting(`account ${quoted(account)} has no ${what}`, reference(account, name)),

  accountsNotObject: (path: string) =>
    inFile(`${path}: "accounts" must be an object with a name for each account`, accountForm),
  noAccounts: (path: string | null) =>
    inFile(
      path === null ? 'there is no calls.config.json with accounts' : `${path} has no accounts`,
      'add "accounts": { "main": { "accessKeyFile": "main.access", "secretKeyFile": "main.secret" } }',
    ),
  unknownAccount: (path: string, account: string, near: string | undefined, known: readonly string[]) =>
    inFile(`${path} has no account ${quoted(account)}`, meant(near, `it has ${known.join(', ')}`)),
  badAccountName: (at: string) => inFile(`${at}: a name ${idForm}`),
  badAccountId: (at: string) => inAccount(`${at}: "id" ${idForm}`),
  accountNotObject: (at: string) => inAccount(`${at} must be an object`, accountForm),
  credentialInClear: (at: string, account: string, name: string) =>
    inAccount(`${at} has its "${name}" in clear, which is refused`, reference(account, name)),
  badVariableName: (at: string, account: string, name: string) =>
    inAccount(
      `${at}: "${name}" must name an environment variable that begins with CALLS_ and ends with KEY, TOKEN, SECRET or PASSWORD`,
      `such as "${variableFor(account, name.slice(0, -3))}"; the credential itself does not belong in the file`,
    ),
  twoReferences: (at: string, first: string, second: string) =>
    inAccount(`${at} has both "${first}" and "${second}"`, 'remove one of them'),
  failedCommand: ({ summary, hint }: InputError) => ({ ...inSetting(summary, hint), of: 'accessKey' }),
  unsetVariable: (account: string, variable: string) =>
    inSetting(`account ${quoted(account)}: the environment variable ${variable} is not set`),
  sameAccountId: (path: string, first: string, second: string, id: string) =>
    inFile(
      `${path}: accounts ${quoted(first)} and ${quoted(second)} have the same ID ${id}`,
      'a store keeps accounts apart by their ID; the name is the ID where "id" is not set',
    ),
  sameCredential: (first: string, second: string) =>
    inAccount(
      `accounts ${quoted(first)} and ${quoted(second)} have the same credentials, so the same calls would be read twice`,
    ),
};
