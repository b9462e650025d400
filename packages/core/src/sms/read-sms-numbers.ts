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

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
  readonly children: Element[];
}

/** Reads the XML of the SMS listing. A failure with status 200 is an error, and so is a wrong count of numbers. */
export async function readSmsNumbers(body: Buffer): Promise<SmsNumber[]> {
  if (!isUtf8(body)) throw unreadable(body, 'it is not valid UTF-8');
  const text = decodeText(body).trim();
  if (!text.startsWith('<')) throw unreadable(body, 'it is not XML');
  if (/^<(?:!doctype html|html)/i.test(text)) throw htmlPage(body);
  const response = await parseXml(text, body);
  const textIn = (name: string) => (childOf(response, name)?.text ?? '').trim();
  const result = textIn('result');
  const description = textIn('result_description');
  if (result !== '' && result.toLowerCase() !== 'success') throw failed(result, description);
  const reported = /^\[(\d{1,9})\]/.exec(description)?.[1];
  const data = childOf(response, 'data');
  if (data === undefined && reported === undefined)
    throw unreadable(body, 'it has neither numbers nor a count');
  const numbers = (data?.children ?? []).filter(({ name }) => name === 'number').map(toNumber);
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

/** The elements of a document, as far as the listing has them. */
async function parseXml(text: string, body: Buffer): Promise<Element> {
  const { default: sax } = await import('sax');
  // Strict: entities other than those of XML itself are refused, and so is a document that is cut.
  const parser = sax.parser(true);
  const root: Element = { name: '', attributes: {}, text: '', children: [] };
  const open = [root];
  parser.onopentag = ({ name, attributes }) => {
    const element: Element = {
      name,
      attributes: attributes as Element['attributes'],
      text: '',
      children: [],
    };
    (open.at(-1) as Element).children.push(element);
    open.push(element);
  };
  parser.onclosetag = () => void open.pop();
  parser.ontext = parser.oncdata = (part) => {
    (open.at(-1) as Element).text += part;
  };
  parser.onerror = (error) => {
    throw error;
  };
  try {
    parser.write(text).close();
  } catch {
    throw unreadable(body, 'it is cut, is not valid XML, or has entities of its own');
  }
  const response = root.children[0];
  if (response?.name === 'response') return response;
  throw unreadable(body, 'its root is not <response>');
}

function toNumber({ attributes, text }: Element): SmsNumber {
  const flag = (attributes.sms_enabled ?? '').toLowerCase();
  const enabled =
    /^(?:1|true|yes|y|on|enabled)$/.test(flag) ||
    (/^(?:0|false|no|n|off|disabled)$/.test(flag) ? false : null);
  return { number: text.trim(), smsEnabled: enabled, url: attributes.url ?? null };
}

const childOf = (element: Element | undefined, name: string): Element | undefined =>
  element?.children.find((child) => child.name === name);

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
