import { isUtf8 } from 'node:buffer';
import { bodyExcerpt } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/calls-error.ts';
import { safeProse } from '../errors/safe-prose.ts';
import { decodeText } from '../page/read-json.ts';
import { beginning } from '../privacy/redact.ts';

/** An SMS-enabled number of an account. */
export interface SmsNumber {
  /** The digits as sent: leading zeros and a plus sign stay. */
  readonly number: string;
  /** Whether the flag says yes; null when it is missing or says something else than yes or no. */
  readonly smsEnabled: boolean | null;
  /** Address of the listener, as stored; null when there is none. */
  readonly url: string | null;
}

type Node = Readonly<Record<string, unknown>>;

/** Reads the XML of the SMS listing. A failure told with status 200 is an error, and so is a wrong number of numbers. */
export async function readSmsNumbers(body: Buffer): Promise<SmsNumber[]> {
  if (!isUtf8(body)) throw unreadable(body, 'it is not valid UTF-8');
  const text = decodeText(body).trim();
  if (!text.startsWith('<')) throw unreadable(body, 'it is no XML');
  if (/^<(?:!doctype html|html)/i.test(text)) throw htmlPage(body);
  const response = await parseXml(text, body);
  const said = (name: string) => textOf(response[name]).trim();
  const result = said('result');
  if (result !== '' && result.toLowerCase() !== 'success') throw failed(result, said('result_description'));
  const told = /^\[(\d{1,9})\]/.exec(said('result_description'))?.[1];
  const data = response.data;
  if (data === undefined && told === undefined)
    throw unreadable(body, 'it has neither data nor a number of numbers');
  const list = typeof data === 'object' && data !== null ? ((data as Node).number ?? []) : [];
  const numbers = (Array.isArray(list) ? list : [list]).map(toNumber);
  if (told !== undefined && Number(told) !== numbers.length)
    throw new ResponseError('sms_count_mismatch', `${told} numbers were told, ${numbers.length} came.`, {
      isRetryable: true,
      hint: 'It may have been cut or converted on the way.',
    });
  return numbers;
}

async function parseXml(text: string, body: Buffer): Promise<Node> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  // The parser alone takes a cut document for a short one.
  if (XMLValidator.validate(text) !== true) throw unreadable(body, 'it is cut or no valid XML');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    parseAttributeValue: false,
    // Numeric character references (`&#38;`) are part of XML; the parser only takes them together with these.
    htmlEntities: true,
    ignoreDeclaration: true,
    ignorePiTags: true,
    isArray: (name) => name === 'number',
  });
  let document: Node;
  try {
    document = parser.parse(text) as Node;
  } catch {
    throw unreadable(body, 'it uses XML that is refused, such as outside or nested entities');
  }
  const { response } = document;
  if (typeof response === 'object' && response !== null) return response as Node;
  throw unreadable(body, 'its root is not <response>');
}

function toNumber(node: unknown): SmsNumber {
  const attributes = (typeof node === 'object' && node !== null ? node : {}) as Node;
  const flag = textOf(attributes['@sms_enabled']).toLowerCase();
  const url = attributes['@url'];
  const enabled =
    /^(?:1|true|yes|y|on|enabled)$/.test(flag) ||
    (/^(?:0|false|no|n|off|disabled)$/.test(flag) ? false : null);
  return { number: textOf(node).trim(), smsEnabled: enabled, url: typeof url === 'string' ? url : null };
}

/** The text of an element, whether or not it has attributes. */
function textOf(node: unknown): string {
  if (typeof node === 'string') return node;
  const text = typeof node === 'object' && node !== null ? (node as Node)['#text'] : undefined;
  return typeof text === 'string' ? text : '';
}

function failed(result: string, description: string): ResponseError {
  const why = description ? `: ${beginning(safeProse(description), 200)}` : '';
  return new ResponseError(
    'sms_failed',
    `The SMS listing failed (${beginning(safeProse(result), 60)}${why}).`,
    {
      hint: 'It expects the access key and the secret key of the account; a bearer token does not work here.',
    },
  );
}

const htmlPage = (body: Buffer): ResponseError =>
  new ResponseError('html_page', 'An HTML page came where XML was expected.', {
    isRetryable: true,
    body: bodyExcerpt(body),
    hint: 'Check legacyBaseUrl.',
  });

const unreadable = (body: Buffer, how: string): ResponseError =>
  new ResponseError('invalid_xml', `The answer of the SMS listing cannot be read: ${how}.`, {
    isRetryable: true,
    body: bodyExcerpt(body),
    hint: 'Check that legacyBaseUrl points at the server with ibp_api.php.',
  });
