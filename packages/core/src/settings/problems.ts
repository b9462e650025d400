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
  | { readonly code: 'no_base_url' }
  | { readonly code: 'no_access_key' }
  | { readonly code: 'no_secret_key' }
  | { readonly code: 'no_token' };

/** A setting that is missing or cannot be used, in words for whoever set it. It never holds a credential. */
export interface SettingProblem {
  /** Stable name of the problem. */
  readonly code: SettingFact['code'];
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
          ? 'known names: baseUrl, legacyBaseUrl, apiVersion, timeZone, store, and accessKey, secretKey and bearerToken, each also with File at the end'
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
    case 'no_base_url':
      return ['CALLS_BASE_URL is missing: the URL of the API'];
    case 'no_access_key':
      return ['CALLS_ACCESS_KEY is missing: the access key of the account', legacyUsers];
    case 'no_secret_key':
      return ['CALLS_SECRET_KEY is missing: the secret key of the account', legacyUsers];
    case 'no_token':
      return ['CALLS_BEARER_TOKEN is missing: v2 needs the bearer token of the account'];
  }
}
