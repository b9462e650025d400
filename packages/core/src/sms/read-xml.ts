/** An element of an XML document. */
export interface XmlElement {
  /** Its name, as written. */
  readonly name: string;
  /** Its attributes, by name. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** A node as fast-xml-parser returns it when it keeps the order: its content under its name, its attributes under `:@`. */
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

/**
 * The root element of an XML document. Throws, with any error, for a document that is cut or not well-formed, that uses an entity of
 * its own, or that nests more than 20 elements.
 */
export async function readXml(text: string): Promise<XmlElement> {
  if (strayMark.test(text)) throw new Error('neither comment nor declaration');
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  // In this order, since only the parser has a limit of depth. It reads much that is no XML, which the validator finds.
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
    if (plain === undefined || /[^\P{Cc}\t\n\r]|\p{Cs}/u.test(plain)) throw new Error('unknown entity');
    return plain;
  });
}
