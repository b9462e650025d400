/** An object of a list. */
export interface ListedObject {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
}

/** One page of a list. */
interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins; null after the last one. */
  readonly next: string | null;
}

/**
 * Reads the XML of `ListObjectsV2`, whose elements have neither attributes nor depth. Null when it is not such a list, or is cut.
 * Keys are asked for in the encoding of URLs, so they hold no entity; servers that do not know that send them as they are.
 */
export function readListing(xml: string): ListingPage | null {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith('</ListBucketResult>')) return null;
  const isEncoded = textIn(xml, 'EncodingType') === 'url';
  const objects: ListedObject[] = [];
  for (const [, inner = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const [key, etag, size] = [textIn(inner, 'Key'), textIn(inner, 'ETag'), textIn(inner, 'Size')];
    if (key === null || etag === null || size === null || !/^\d+$/.test(size)) return null;
    objects.push({ key: isEncoded ? decoded(key) : key, etag, bytes: Number(size) });
  }
  if (textIn(xml, 'IsTruncated') !== 'true') return { objects, next: null };
  const next = textIn(xml, 'NextContinuationToken');
  return next === null || next === '' ? null : { objects, next };
}

function textIn(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return text === undefined ? null : withoutEntities(text);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const withoutEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}
