import { reveal } from '../auth/secret.ts';
import { ConfigurationError } from '../errors/calls-error.ts';
import { queryString } from '../http/query.ts';
import type { Outgoing } from '../http/transport.ts';
import { readSmsNumbers, type SmsNumber } from '../sms/read-sms-numbers.ts';
import type { SmsOptions } from './client.ts';
import type { Context } from './context.ts';
import type { Settings } from './read-options.ts';
import { commonHeaders } from './requests.ts';

const action = 'sms.get_numbers';
const authHint =
  'The SMS listing expects the access key and the secret key of the account as access_key and secret_access_key.';

/** The SMS-enabled numbers of the account. */
export async function listSmsNumbers(context: Context, options: SmsOptions): Promise<SmsNumber[]> {
  const { method = 'GET', signal, onResponse } = options;
  if (method !== 'GET' && method !== 'POST')
    throw new ConfigurationError('invalid_argument', "method must be 'GET' or 'POST'.");
  const asked = await context.engine.ask({
    id: {},
    operation: 'sms',
    request: smsRequest(context.settings, method),
    // The keys stand in the query here, so that the shown address is put together apart.
    url: `${context.settings.legacy?.origin}${context.settings.legacy?.prefix}/ibp_api.php?action=${action}`,
    authHint,
    signal,
    onResponse,
    read: (answer) => readSmsNumbers(answer.body),
  });
  return asked.value;
}

function smsRequest(settings: Settings, method: 'GET' | 'POST'): Outgoing {
  const { legacy, legacyAuth } = settings;
  if (!legacy)
    throw new ConfigurationError(
      'missing_legacy_url',
      'The SMS listing has an address of its own, and none was given.',
      {
        hint: 'Pass legacyBaseUrl, the address before /ibp_api.php.',
      },
    );
  if (!legacyAuth)
    throw new ConfigurationError(
      'auth_mismatch',
      'The SMS listing takes an access key and a secret key only.',
      {
        hint: 'Pass legacyAuth: apiKeys(access, secret) beside the bearer token.',
      },
    );
  const keys = { access_key: reveal(legacyAuth.accessKey), secret_access_key: reveal(legacyAuth.secretKey) };
  const query = queryString({ action, ...keys });
  const path = `${legacy.prefix}/ibp_api.php`;
  const headers = commonHeaders(settings, 'application/xml, text/xml;q=0.9');
  if (method === 'GET') return { origin: legacy.origin, path: path + query, method, headers };
  const form = ['content-type', 'application/x-www-form-urlencoded'];
  return { origin: legacy.origin, path, method, headers: [...headers, ...form], body: query.slice(1) };
}
