import { nearest } from '@call-attribution/query-dsl/nearest';
import { isCredentialVariable } from './environment.ts';
import type { SettingFact } from './problems.ts';

/** What an account of a configuration file may hold. Credentials are files or environment variables that it names. */
export interface AccountValues {
  /** Id of the account in a store or warehouse. */
  readonly id?: string;
  /** URL of the API. */
  readonly baseUrl?: string;
  /** URL of the SMS listing. */
  readonly legacyBaseUrl?: string;
  /** Version of the API, `v2` or `v3`. */
  readonly apiVersion?: string;
  /** Time zone of the account's times. */
  readonly timeZone?: string;
  /** File with the access key. */
  readonly accessKeyFile?: string;
  /** File with the secret key. */
  readonly secretKeyFile?: string;
  /** File with the bearer token. */
  readonly bearerTokenFile?: string;
  /** Environment variable with the access key. */
  readonly accessKeyEnv?: string;
  /** Environment variable with the secret key. */
  readonly secretKeyEnv?: string;
  /** Environment variable with the bearer token. */
  readonly bearerTokenEnv?: string;
}

const accountNames = [
  'id',
  'baseUrl',
  'legacyBaseUrl',
  'apiVersion',
  'timeZone',
  'accessKeyFile',
  'secretKeyFile',
  'bearerTokenFile',
  'accessKeyEnv',
  'secretKeyEnv',
  'bearerTokenEnv',
] as const satisfies readonly (keyof AccountValues)[];

const credentials = ['accessKey', 'secretKey', 'bearerToken'] as const;
const nameForm = /^[\w.-]{1,64}$/;

/** Reads `"accounts"` of a configuration file: an object of accounts by their names. */
export function parseAccounts(
  json: unknown,
  path: string,
  report: (fact: SettingFact) => void,
): ReadonlyMap<string, AccountValues> {
  const accounts = new Map<string, AccountValues>();
  if (!isObject(json)) {
    report({ code: 'accounts_not_object', path });
    return accounts;
  }
  const owners = new Map<string, string>();
  for (const [account, entry] of Object.entries(json)) {
    if (!nameForm.test(account)) report({ code: 'bad_account_name', path, account });
    else if (!isObject(entry)) report({ code: 'account_not_object', path, account });
    else {
      const values = parseAccount(entry, { path, account }, report);
      accounts.set(account, values);
      const id = values.id ?? account;
      const owner = owners.get(id);
      if (owner !== undefined) report({ code: 'same_account_id', path, accounts: [owner, account], id });
      owners.set(id, account);
    }
  }
  return accounts;
}

function parseAccount(
  entry: object,
  at: { readonly path: string; readonly account: string },
  report: (fact: SettingFact) => void,
): AccountValues {
  const values: { -readonly [name in keyof AccountValues]: string } = {};
  for (const [name, value] of Object.entries(entry)) {
    const known = accountNames.find((known) => known === name);
    const secret = credentials.find((credential) => credential === name);
    if (secret !== undefined) report({ code: 'credential_in_clear', ...at, name: secret });
    else if (known === undefined)
      report({ code: 'unknown_account_setting', ...at, name, near: nearest(name, accountNames) });
    else if (typeof value !== 'string') report({ code: 'account_not_string', ...at, name });
    else if (known === 'id' && !nameForm.test(value)) report({ code: 'bad_account_id', ...at });
    else if (known.endsWith('Env') && !isCredentialVariable(value))
      report({ code: 'bad_variable_name', ...at, name });
    else values[known] = value;
  }
  for (const name of credentials)
    if (values[`${name}File`] !== undefined && values[`${name}Env`] !== undefined)
      report({ code: 'two_references', ...at, name });
  return values;
}

function isObject(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
