import type { JsonError } from './json-error.ts';

/** A problem of a setting, as facts: a code and its values. `from` is the option, variable or file of the setting. */
export type SettingFact =
  | { readonly code: 'no_config_file'; readonly path: string; readonly from: string }
  | ({ readonly code: 'config_not_json'; readonly path: string } & JsonError)
  | { readonly code: 'config_not_object'; readonly path: string }
  | {
      readonly code: 'unknown_config_name';
      readonly path: string;
      readonly name: string;
      readonly near: string | undefined;
    }
  | { readonly code: 'config_not_string'; readonly path: string; readonly name: string }
  | {
      readonly code: 'unreadable_file';
      readonly from: string | null;
      readonly path: string;
      readonly reason: string;
    }
  | { readonly code: 'empty_file'; readonly from: string; readonly path: string }
  | { readonly code: 'not_a_url'; readonly from: string }
  | { readonly code: 'credentials_in_url'; readonly from: string }
  | { readonly code: 'unknown_version'; readonly from: string; readonly value: string }
  | { readonly code: 'unknown_time_zone'; readonly from: string; readonly value: string }
  | {
      readonly code: 'unknown_log_setting';
      readonly from: string;
      readonly value: string;
      readonly near: string | undefined;
      readonly known: readonly string[];
    }
  | AccountFact
  | {
      readonly code: 'no_base_url' | 'no_access_key' | 'no_secret_key' | 'no_token';
      readonly account?: string;
    };

/** A problem of the accounts in a configuration file. */
type AccountFact =
  | { readonly code: 'accounts_not_object'; readonly path: string }
  | {
      readonly code: 'bad_account_name' | 'account_not_object' | 'bad_account_id';
      readonly path: string;
      readonly account: string;
    }
  | {
      readonly code: 'unknown_account_setting';
      readonly path: string;
      readonly account: string;
      readonly name: string;
      readonly near: string | undefined;
    }
  | {
      readonly code: 'account_not_string' | 'credential_in_clear' | 'bad_variable_name' | 'two_references';
      readonly path: string;
      readonly account: string;
      readonly name: string;
    }
  | { readonly code: 'unset_variable'; readonly account: string; readonly variable: string }
  | {
      readonly code: 'same_account_id';
      readonly path: string;
      readonly accounts: readonly [string, string];
      readonly id: string;
    }
  | { readonly code: 'same_credential'; readonly accounts: readonly [string, string] }
  | { readonly code: 'no_accounts'; readonly path: string | null }
  | {
      readonly code: 'unknown_account';
      readonly path: string;
      readonly account: string;
      readonly near: string | undefined;
      readonly known: readonly string[];
    };

/** What can be wrong with a setting. */
export type SettingProblemCode =
  | 'no_config_file'
  | 'config_not_json'
  | 'config_not_object'
  | 'unknown_config_name'
  | 'config_not_string'
  | 'unreadable_file'
  | 'empty_file'
  | 'not_a_url'
  | 'credentials_in_url'
  | 'unknown_version'
  | 'unknown_time_zone'
  | 'unknown_log_setting'
  | 'no_base_url'
  | 'no_access_key'
  | 'no_secret_key'
  | 'no_token'
  | 'accounts_not_object'
  | 'bad_account_name'
  | 'account_not_object'
  | 'bad_account_id'
  | 'unknown_account_setting'
  | 'account_not_string'
  | 'credential_in_clear'
  | 'bad_variable_name'
  | 'two_references'
  | 'unset_variable'
  | 'same_account_id'
  | 'same_credential'
  | 'no_accounts'
  | 'unknown_account';

/** A setting that is missing or cannot be used, in words for whoever set it. It never holds a credential. */
export interface SettingProblem {
  /** Stable name of the problem. */
  readonly code: SettingProblemCode;
  /** What is wrong, as one sentence. */
  readonly message: string;
  /** What to do about it, when there is more to say. */
  readonly hint?: string;
}

/** Says a problem in words. */
export function describe(fact: SettingFact): SettingProblem {
  const [message, hint] = words(fact);
  return { code: fact.code, message, ...(hint === undefined ? {} : { hint }) };
}

/** The variable that a message proposes for a credential of an account, such as CALLS_MAIN_SECRET_KEY. */
function variableFor(account: string, name: string): string {
  const words = `${account}_${name.replace(/([A-Z])/g, '_$1')}`;
  return `CALLS_${words.toUpperCase().replace(/[^A-Z\d]+/g, '_')}`;
}

const accountForm =
  'an account looks like { "baseUrl": "https://...", "accessKeyFile": "main.access", "secretKeyEnv": "CALLS_MAIN_SECRET_KEY" }';
const reference = (account: string, name: string): string =>
  `name a file with "${name}File", or an environment variable with "${name}Env": "${variableFor(account, name)}"`;

const legacyUsers = 'legacy users may set CALLS_BEARER_TOKEN instead of the two keys';

function words(fact: SettingFact): [message: string, hint?: string] {
  switch (fact.code) {
    case 'no_config_file':
      return [`there is no configuration file ${fact.path}`, `it was named by ${fact.from}`];
    case 'config_not_json':
      return [
        `${fact.path} is not JSON: line ${fact.line}, column ${fact.column} should have ${fact.expected}`,
        'it looks like { "baseUrl": "https://...", "timeZone": "America/New_York" }',
      ];
    case 'config_not_object':
      return [`${fact.path} must hold one JSON object`];
    case 'unknown_config_name':
      return [
        `${fact.path} has an unknown name ${JSON.stringify(fact.name)}`,
        fact.near === undefined
          ? 'known names: baseUrl, legacyBaseUrl, apiVersion, timeZone, store, accounts, service, and accessKey, secretKey and bearerToken, each also with File at the end'
          : `did you mean ${JSON.stringify(fact.near)}?`,
      ];
    case 'config_not_string':
      return [`${fact.path}: ${JSON.stringify(fact.name)} must be a string`];
    case 'unreadable_file':
      return [`${fact.from === null ? '' : `${fact.from}: `}${fact.path} cannot be read (${fact.reason})`];
    case 'empty_file':
      return [`${fact.from}: ${fact.path} is empty`];
    case 'not_a_url':
      return [`${fact.from} must be a URL that begins with https:// or http://`];
    case 'credentials_in_url':
      return [
        `${fact.from} must not have credentials in it`,
        'set CALLS_ACCESS_KEY and CALLS_SECRET_KEY instead',
      ];
    case 'unknown_version':
      return [`${fact.from}: the API version is v2 or v3, not ${JSON.stringify(fact.value)}`];
    case 'unknown_time_zone':
      return [
        `${fact.from}: there is no time zone ${JSON.stringify(fact.value)}`,
        'use an IANA name, such as America/New_York, Europe/Berlin or UTC',
      ];
    case 'unknown_log_setting':
      return [
        `${fact.from} must be ${fact.known.slice(0, -1).join(', ')} or ${fact.known.at(-1)}, not ${JSON.stringify(fact.value.slice(0, 20))}`,
        fact.near === undefined ? 'remove the variable to use the default' : `did you mean ${fact.near}?`,
      ];
    case 'no_base_url':
      return fact.account === undefined
        ? ['CALLS_BASE_URL is missing: the URL of the API']
        : [`account ${JSON.stringify(fact.account)} has no "baseUrl", and none is set for all accounts`];
    case 'no_access_key':
      return fact.account === undefined
        ? ['CALLS_ACCESS_KEY is missing: the access key of the account', legacyUsers]
        : [`account ${JSON.stringify(fact.account)} has no access key`, reference(fact.account, 'accessKey')];
    case 'no_secret_key':
      return fact.account === undefined
        ? ['CALLS_SECRET_KEY is missing: the secret key of the account', legacyUsers]
        : [`account ${JSON.stringify(fact.account)} has no secret key`, reference(fact.account, 'secretKey')];
    case 'no_token':
      return fact.account === undefined
        ? ['CALLS_BEARER_TOKEN is missing: v2 needs the bearer token of the account']
        : [
            `account ${JSON.stringify(fact.account)} has no bearer token, which v2 needs`,
            reference(fact.account, 'bearerToken'),
          ];
    default:
      return accountWords(fact);
  }
}

function accountWords(fact: AccountFact): [message: string, hint?: string] {
  if (fact.code === 'accounts_not_object')
    return [`${fact.path}: "accounts" must be an object with a name for each account`, accountForm];
  if (fact.code === 'no_accounts') {
    return [
      fact.path === null ? 'there is no calls.config.json with accounts' : `${fact.path} has no accounts`,
      'add "accounts": { "main": { "accessKeyFile": "main.access", "secretKeyFile": "main.secret" } }',
    ];
  }
  if (fact.code === 'same_account_id') {
    const [first, second] = fact.accounts;
    return [
      `${fact.path}: accounts ${JSON.stringify(first)} and ${JSON.stringify(second)} have the same ID ${fact.id}`,
      'a store keeps accounts apart by their ID; the name is the ID where "id" is not set',
    ];
  }
  if (fact.code === 'same_credential') {
    const [first, second] = fact.accounts;
    return [
      `accounts ${JSON.stringify(first)} and ${JSON.stringify(second)} have the same credentials, so the same calls would be read twice`,
    ];
  }
  const where = 'path' in fact ? `${fact.path}: ` : '';
  const account = `${where}account ${JSON.stringify(fact.account.slice(0, 80))}`;
  switch (fact.code) {
    case 'bad_account_name':
      return [`${account}: a name has at most 64 letters, digits, dots, dashes and underscores`];
    case 'bad_account_id':
      return [`${account}: "id" has at most 64 letters, digits, dots, dashes and underscores`];
    case 'account_not_object':
      return [`${account} must be an object`, accountForm];
    case 'unknown_account_setting':
      return [
        `${account} has an unknown name ${JSON.stringify(fact.name)}`,
        fact.near === undefined
          ? 'known names: id, baseUrl, legacyBaseUrl, apiVersion, timeZone, and accessKey, secretKey and bearerToken, each with File or Env at the end'
          : `did you mean ${JSON.stringify(fact.near)}?`,
      ];
    case 'account_not_string':
      return [`${account}: ${JSON.stringify(fact.name)} must be a string`];
    case 'credential_in_clear':
      return [
        `${account} has its "${fact.name}" in clear, which is refused`,
        reference(fact.account, fact.name),
      ];
    case 'bad_variable_name':
      return [
        `${account}: "${fact.name}" must name an environment variable that begins with CALLS_ and ends with KEY, TOKEN, SECRET or PASSWORD`,
        `such as "${variableFor(fact.account, fact.name.slice(0, -3))}"; the credential itself does not belong into the file`,
      ];
    case 'two_references':
      return [`${account} has both "${fact.name}File" and "${fact.name}Env"`, 'remove one of them'];
    case 'unset_variable':
      return [`${account}: the environment variable ${fact.variable} is not set`];
    case 'unknown_account':
      return [
        `${fact.path} has no account ${JSON.stringify(fact.account.slice(0, 80))}`,
        fact.near === undefined ? `it has ${fact.known.join(', ')}` : `did you mean ${fact.near}?`,
      ];
  }
}
