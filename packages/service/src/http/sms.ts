import type { SmsEntry, Store } from '@call-attribution/store';
import type { Admission } from './admission.ts';
import { type AppContext, queryOf, wholeReply } from './context.ts';
import { readForm } from './form.ts';
import { readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

const names = ['action', 'access_key', 'secret_access_key'];

/**
 * GET or form POST …/ibp_api.php: the SMS numbers of an account as XML; failures are XML too, with
 * status 200.
 */
export async function smsReply(
  c: AppContext,
  store: Store,
  admit: Admission['admit'],
): Promise<Response> {
  try {
    const parameters =
      c.req.method === 'POST' ? await readForm(c, names) : readParameters(queryOf(c), names);
    if (parameters.get('action') !== 'sms.get_numbers') {
      throw new Refusal('unknown_action', 'The parameter action must be sms.get_numbers');
    }
    const accessKey = required(parameters, 'access_key');
    const secretKey = required(parameters, 'secret_access_key');
    const account = await admit(c, { kind: 'keys', accessKey, secretKey });
    const numbers = await store.smsNumbers(account);
    return wholeReply(c, documentOf('', `[${numbers.length}] Number(s) Returned`, numbers), xml);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Failures are in the XML, with status 200; a client that is too fast still gets 429, so that
    // it slows down.
    const status = error.status === 429 ? 429 : 200;
    const headers = { ...error.details.headers, ...xml };
    return wholeReply(c, documentOf('failed', error.message, []), headers, status);
  }
}

function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name);
  if (value) return value;
  throw new Refusal('missing_parameter', `The parameter ${name} is missing`);
}

const xml = { 'content-type': 'text/xml; charset=UTF-8' };

function documentOf(result: string, description: string, numbers: readonly SmsEntry[]): string {
  const items = numbers.map(
    ({ number, smsEnabled, url }) =>
      `    <number sms_enabled="${escaped(smsEnabled)}" url="${escaped(url)}">${escaped(number)}</number>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<response>
  <result>${result}</result>
  <result_description>${escaped(description)}</result_description>
  <data>
${items.join('')}  </data>
</response>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return (
    text
      .replace(/[&<>"]/g, (sign) => entities[sign] ?? '')
      .replace(/[\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to write these.
      .replace(/[\u0000-\u001f\ufffe\uffff]/g, '\ufffd')
  );
}
