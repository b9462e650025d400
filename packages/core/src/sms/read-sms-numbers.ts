import { isUtf8 } from 'node:buffer';
import { beginning, bodyExcerpt, serverWords } from '../errors/body-excerpt.ts';
import { ResponseError } from '../errors/classes.ts';
import { decodeText } from '../page/read-json.ts';

/** An SMS-enabled number of an account. */
export interface SmsNumber {
  /** The digits as sent, with leading zeros and a plus sign. */
  readonly number: string;
  /** Is SMS enabled? Null when the flag is missing or is neither yes nor no. */
  readonly smsEnabled: boolean | null;
  /** URL of the listener, as stored; null when there is none. */
  readonly url: string | null;
}

/**
 * Reads the XML of the SMS listing. A failure with status 200 is an error, and so are a wrong count
 * of numbers and a document in which a number could be overlooked.
 */
export async function readSmsNumbers(body: Buffer): Promise<SmsNumber[]> {
  if (!isUtf8(body)) throw unreadable(body, 'it is not valid UTF-8');
  const text = decodeText(body).trim();
  if (!text.startsWith('<')) throw unreadable(body, 'it is not XML');
  if (/^<(?:!doctype html|html)/i.test(text)) throw htmlPage(body);
  const response = await readXml(text).catch(() => {
    throw unreadable(
      body,
      'it is cut, is not valid XML, or has entities or instructions of its own',
    );
  });
  if (response.name !== 'response') throw unreadable(body, 'its root is not <response>');

  const only = (name: string): XmlElement | undefined => {
    const [found, more] = response.children.filter((child) => child.name === name);
    if (more !== undefined) throw unreadable(body, `it has more than one <${name}>`);
    return found;
  };

  const [result, description] = [only('result'), only('result_description')].map(
    (one) => one?.text.trim() ?? '',
  );
  if (result && !isSuccess(result)) throw failed(result, description);
  const data = only('data');
  const entries = data?.children.filter(({ name }) => name === 'number') ?? [];
  if (
    countNumbers(response) !== entries.length ||
    entries.some(({ children }) => children.length > 0)
  )
    throw unreadable(
      body,
      'it has numbers that are not <number> elements with text, directly in <data>',
    );

  const reported = reportedCount(description);
  if (reported === undefined && entries.length === 0) {
    // Only a server that says so has no numbers: its reason for an empty list may be in the
    // description.
    if (description && !isSuccess(description) && !result) throw failed('no numbers', description);
    if (data === undefined) throw unreadable(body, 'it has neither numbers nor a count');
  }

  if (reported !== undefined && reported !== entries.length)
    throw new ResponseError(
      'unexpected_shape',
      `The SMS listing reports ${reported} numbers, but holds ${entries.length}.`,
      {
        hint: 'The response may have been cut or converted on the way.',
        isRetryable: true,
      },
    );

  return entries.map(toNumber);
}

const isSuccess = (text: string): boolean => /^(?:success|ok)\W*$/i.test(text);

/** The count of a description such as `[2] Number(s) Returned`. */
function reportedCount(description = ''): number | undefined {
  const found = /^\[(\d{1,9})\]|\b(\d{1,9})\b\s*number|number\D{0,30}\b(\d{1,9})\b/i.exec(
    description,
  );
  const digits = found?.[1] ?? found?.[2] ?? found?.[3];
  return digits === undefined ? undefined : Number(digits);
}

/** How many elements of a document are called `number`, in any spelling and anywhere. */
const countNumbers = ({ name, children }: XmlElement): number =>
  children.reduce((sum, child) => sum + countNumbers(child), /(?:^|:)number$/i.test(name) ? 1 : 0);

function toNumber({ attributes, text }: XmlElement): SmsNumber {
  const flag = attributes.get('sms_enabled')?.toLowerCase() ?? '';
  const enabled =
    /^(?:1|true|yes|y|on|enabled)$/.test(flag) ||
    (/^(?:0|false|no|n|off|disabled)$/.test(flag) ? false : null);
  return { number: text.trim(), smsEnabled: enabled, url: attributes.get('url') ?? null };
}

function failed(result: string, description = ''): ResponseError {
  const safe = (text: string, most: number) => beginning(serverWords(text), most);
  const why = [safe(result, 60), safe(description, 200)].filter(Boolean).join(': ');
  return new ResponseError('error_body', `The SMS listing failed (${why}).`, {
    hint: 'It expects the access key and the secret key of the account; a bearer token does not work here.',
    isRetryable: false,
  });
}

const htmlPage = (body: Buffer): ResponseError =>
  new ResponseError('wrong_content_type', 'Got an HTML page where XML was expected.', {
    hint: 'Check the URL of the SMS listing.',
    body: bodyExcerpt(body),
  });

const unreadable = (body: Buffer, how: string): ResponseError =>
  new ResponseError('unexpected_shape', `The response of the SMS listing cannot be read: ${how}.`, {
    hint: 'Check that the URL of the SMS listing is that of the server with ibp_api.php.',
    isRetryable: true,
    body: bodyExcerpt(body),
  });

/** An element of an XML document. */
interface XmlElement {
  /** Its name, as written. */
  readonly name: string;
  /** Its attributes, by name. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/**
 * A node as fast-xml-parser returns it when it keeps the order: its content under its name, its
 * attributes under `:@`.
 */
type Node = Readonly<Record<string, unknown>>;

const options = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: '#cdata',
  // Values stay as they were sent.
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // No entity of a document is ever expanded; `decode` knows those of XML itself.
  processEntities: false,
  maxNestedTags: 20,
  jPath: false,
};

/** The parser takes some of these for an element or for character data. */
const strayMark = /<!(?!--|\[CDATA\[|DOCTYPE|ELEMENT|ATTLIST|ENTITY|NOTATION)/;

const verbatim = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g;

/**
 * An instruction or a declaration inside of the root element, which a listing has no use for: the
 * parser takes an apostrophe in it for the beginning of a string, and overlooks what follows up to
 * the next one.
 */
const hasInnerMark = (text: string): boolean =>
  /<response\b[\s\S]*<[?!]/.test(text.replace(verbatim, ''));

/**
 * The root element of an XML document. Throws, with any error, for a document that is cut or not
 * well-formed, that uses an entity of its own, or that nests more than 20 elements.
 */
async function readXml(text: string): Promise<XmlElement> {
  if (strayMark.test(text) || hasInnerMark(text))
    throw new Error('an instruction, or neither comment nor declaration');
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');

  // In this order, since only the parser has a limit of depth. It reads much that is no XML, which
  // the validator finds.
  const nodes: readonly Node[] = new XMLParser(options).parse(text);
  if (XMLValidator.validate(text) !== true) throw new Error('not well-formed');
  const [root] = contentOf(nodes).children;
  if (root === undefined) throw new Error('no element');
  return root;
}

function contentOf(nodes: readonly Node[]): Pick<XmlElement, 'text' | 'children'> {
  const children: XmlElement[] = [];
  let text = '';
  for (const { ':@': given = {}, ...node } of nodes) {
    for (const [name, content] of Object.entries(node)) {
      if (name === '#text') text += decode(String(content));
      else if (!Array.isArray(content)) throw new Error('unknown form');
      else if (name === '#cdata') text += content.map((part) => String(part['#text'])).join('');
      else {
        const attributes = new Map(
          Object.entries(Object(given)).map(([key, value]) => [key, decode(String(value))]),
        );
        children.push({ name, attributes, ...contentOf(content) });
      }
    }
  }

  return { text, children };
}

const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Decodes the entities of XML and references to characters. Any other ampersand is refused. */
function decode(text: string): string {
  return text.replace(/&(?:(\w+)|#(\d{1,7})|#x([\dA-Fa-f]{1,6}));|&/g, (_, name, decimal, hex) => {
    const digits = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const plain = name === undefined ? String.fromCodePoint(digits) : named.get(name);
    if (plain === undefined || /[^\P{Cc}\t\n\r]|\p{Cs}/u.test(plain))
      throw new Error('unknown entity');
    return plain;
  });
}
