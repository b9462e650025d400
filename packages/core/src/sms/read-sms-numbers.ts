import { isUtf8 } from 'node:buffer';
import { bodyExcerpt } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/calls-error.ts';
import { messages } from '../errors/messages.ts';
import { safeProse } from '../errors/safe-prose.ts';
import { decodeText } from '../page/read-json.ts';
import { beginning } from '../privacy/redact.ts';

/** An SMS-enabled number of an account. */
export interface SmsNumber {
  /** The digits as sent, with leading zeros and a plus sign. */
  readonly number: string;
  /** Is SMS enabled? Null when the flag is missing or is neither yes nor no. */
  readonly smsEnabled: boolean | null;
  /** URL of the listener, as stored; null when there is none. */
  readonly url: string | null;
}

type Node = Readonly<Record<string, unknown>>;

/** Reads the XML of the SMS listing. A failure with status 200 is an error, and so is a wrong count of numbers. */
export async function readSmsNumbers(body: Buffer): Promise<SmsNumber[]> {
  if (!isUtf8(body)) throw unreadable(body, 'it is not valid UTF-8');
  const text = decodeText(body).trim();
  if (!text.startsWith('<')) throw unreadable(body, 'it is not XML');
  if (/^<(?:!doctype html|html)/i.test(text)) throw htmlPage(body);
  const response = await parseXml(text, body);
  const textIn = (name: string) => textOf(response[name]).trim();
  const result = textIn('result');
  const description = textIn('result_description');
  if (result !== '' && result.toLowerCase() !== 'success') throw failed(result, description);
  const reported = /^\[(\d{1,9})\]/.exec(description)?.[1];
  const data = response.data;
  if (data === undefined && reported === undefined)
    throw unreadable(body, 'it has neither numbers nor a count');
  const list = typeof data === 'object' && data !== null ? ((data as Node).number ?? []) : [];
  const numbers = (Array.isArray(list) ? list : [list]).map(toNumber);
  if (reported !== undefined && Number(reported) !== numbers.length)
    throw new ResponseError(
      'sms_count_mismatch',
      messages.smsCountDiffers(Number(reported), numbers.length),
      {
        isRetryable: true,
      },
    );
  return numbers;
}

async function parseXml(text: string, body: Buffer): Promise<Node> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  // The parser alone takes a cut document for a short one.
  if (XMLValidator.validate(text) !== true) throw unreadable(body, 'it is cut, or is not valid XML');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    parseAttributeValue: false,
    // Numeric character references (`&#38;`) are part of XML; the parser accepts them only together with these.
    htmlEntities: true,
    ignoreDeclaration: true,
    ignorePiTags: true,
    isArray: (name) => name === 'number',
  });
  let document: Node;
  try {
    document = parser.parse(text) as Node;
  } catch {
    throw unreadable(body, 'it uses XML that is refused, such as external or nested entities');
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
  const safe = (text: string, most: number) => beginning(safeProse(text), most);
  return new ResponseError('sms_failed', messages.smsFailed(safe(result, 60), safe(description, 200)));
}

const htmlPage = (body: Buffer): ResponseError =>
  new ResponseError('html_page', messages.htmlPage('XML'), { isRetryable: true, body: bodyExcerpt(body) });

const unreadable = (body: Buffer, how: string): ResponseError =>
  new ResponseError('invalid_xml', messages.smsUnreadable(how), {
    isRetryable: true,
    body: bodyExcerpt(body),
  });
