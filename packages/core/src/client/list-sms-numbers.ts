import { reveal } from '../auth/secret.ts';
import { ConfigurationError } from '../errors/classes.ts';
import type { HttpRequest } from '../http/dispatch.ts';
import { readSmsNumbers, type SmsNumber } from '../sms/read-sms-numbers.ts';
import { commonHeaders, queryString } from './api-request.ts';
import type { Settings, SmsOptions } from './options.ts';
import type { Context } from './request.ts';

const action = 'sms.get_numbers';

/** The SMS-enabled numbers of the account. */
export async function listSmsNumbers(
  { requests, settings }: Context,
  options: SmsOptions,
): Promise<SmsNumber[]> {
  const { method = 'GET' } = options;
  const { legacy } = settings;
  const { value } = await requests.request({
    operation: 'sms',
    http: smsRequest(settings, method),
    // The keys are in the query here, so the URL that may be shown is put together separately.
    url: `${legacy?.origin}${legacy?.prefix}/ibp_api.php?action=${action}`,
    authKind: 'sms',
    alsoRead: [],
    options,
    read: (response) => readSmsNumbers(response.body),
  });
  return value;
}

function smsRequest(settings: Settings, method: 'GET' | 'POST'): HttpRequest {
  const { legacy, legacyAuth } = settings;
  if (!legacy)
    throw new ConfigurationError(
      'invalid_option',
      'The SMS listing has a URL of its own, and none was given.',
      { hint: 'Pass legacyBaseUrl, or set CALLS_LEGACY_BASE_URL: the URL before /ibp_api.php.' },
    );

  if (!legacyAuth)
    throw new ConfigurationError(
      'invalid_credentials',
      'The SMS listing takes an access key and a secret key only.',
      { hint: 'Pass legacyAuth: apiKeys(access, secret) in addition to the bearer token.' },
    );

  const keys = {
    access_key: reveal(legacyAuth.accessKey),
    secret_access_key: reveal(legacyAuth.secretKey),
  };
  const query = queryString({ action, ...keys });
  const path = `${legacy.prefix}/ibp_api.php`;
  const headers = commonHeaders(settings, 'application/xml, text/xml;q=0.9');
  if (method === 'GET') return { origin: legacy.origin, path: path + query, method, headers };
  const form = ['content-type', 'application/x-www-form-urlencoded'];
  return {
    origin: legacy.origin,
    path,
    method,
    headers: [...headers, ...form],
    body: query.slice(1),
  };
}
