import { propertyOf } from '@call-attribution/core/errors';
import type { SmsEntry, Store } from '@call-attribution/store';
import type { Exchange, Reply } from './exchange.ts';
import type { Gate } from './gate.ts';
import { readParameters } from './parameters.ts';
import { Refusal } from './refusal.ts';

const names = ['action', 'access_key', 'secret_access_key'];
const mostFormBytes = 8_192;

/** GET or form POST …/ibp_api.php: the SMS numbers of an account as XML; failures are XML too, with status 200. */
export async function smsReply(store: Store, gate: Gate, exchange: Exchange): Promise<Reply> {
  try {
    const parameters = await readAll(exchange);
    if (parameters.get('action') !== 'sms.get_numbers') {
      throw new Refusal(200, 'unknown_action', 'The parameter action must be sms.get_numbers');
    }
    const accessKey = required(parameters, 'access_key');
    const secretKey = required(parameters, 'secret_access_key');
    return await exchange.turn(async () => {
      const { account, headers } = await gate({ kind: 'keys', accessKey, secretKey });
      exchange.account = account;
      const numbers = await store.smsNumbers(account);
      return xml(200, headers, response('', `[${numbers.length}] Number(s) Returned`, numbers));
    });
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 405) throw error;
    // Failures are in the XML, with status 200; a client that is too fast still gets 429, so that it slows down.
    const status = error.status === 429 ? 429 : 200;
    return xml(status, error.details.headers ?? {}, response('failed', error.message, []));
  }
}

async function readAll(exchange: Exchange): Promise<Map<string, string>> {
  if (exchange.method !== 'POST') return readParameters(exchange.query, names);
  const type = exchange.request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new Refusal(200, 'unknown_form', 'A POST must be of type application/x-www-form-urlencoded');
  }
  if (exchange.request.readableDidRead) {
    const body = formReadBefore(propertyOf(exchange.request, 'body'));
    return readParameters([exchange.query, body].join('&'), names);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const given of exchange.request) {
    const chunk = Buffer.from(given);
    length += chunk.length;
    if (length > mostFormBytes)
      throw new Refusal(200, 'form_too_long', `The form is longer than ${mostFormBytes} bytes`);
    chunks.push(chunk);
  }
  // A parameter in both places counts as given twice.
  const form = Buffer.concat(chunks).toString('utf8');
  return readParameters([exchange.query, form].join('&'), names);
}

/** A form that a parser of the application has read, as it was sent. */
function formReadBefore(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  if (typeof body !== 'object' || body === null)
    throw new Refusal(200, 'form_lost', 'The form was read before it reached the service');
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body))
    for (const one of [value].flat()) form.append(name, String(one));
  return form.toString();
}

function required(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name);
  if (value) return value;
  throw new Refusal(200, 'missing_parameter', `The parameter ${name} is missing`);
}

function xml(status: number, headers: Readonly<Record<string, string>>, body: string): Reply {
  return { status, headers: { ...headers, 'content-type': 'text/xml; charset=UTF-8' }, body };
}

function response(result: string, description: string, numbers: readonly SmsEntry[]): string {
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

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return (
    text
      .replace(/[&<>"]/g, (sign) => entities[sign] ?? '')
      .replace(/[\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to write these.
      .replace(/[\u0000-\u001f\ufffe\uffff]/g, '\ufffd')
  );
}
