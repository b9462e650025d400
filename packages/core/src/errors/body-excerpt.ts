import { redact } from './redact.ts';

const longest = 400;

/** Keys under which servers explain an error. Values of all other keys may belong to a caller and are left out. */
const telling = new Set(
  'error errors message messages code detail details title type status reason result result_description description error_description fault request_id requestid instance pointer parameter expected found position'.split(
    ' ',
  ),
);

/** Words that gateways and login pages use. Text of unknown origin is shown through this list only. */
const plain = new Set(
  (
    'a access account again allowed an and api are at authentication authorization authorized bad be browser by busy cannot client ' +
    'cloudflare code connect connection contact could data database denied disabled does down due error exceeded exception expired ' +
    'failed failure fatal for forbidden found from gateway has have host http https id in inactive internal invalid is key keys later ' +
    'limit limited log login maintenance many method missing moved name nginx no not of on or origin out overloaded page path ' +
    'permission please proxy quota rate reached read refused request requests required reset response retry secret server service session ' +
    'sign signin slow system temporarily temporary that the this throttled time timed timeout to token too try unable unauthorized ' +
    'unavailable unexpected unknown upstream url user version was web while with wrong you your'
  ).split(' '),
);

/**
 * What an answer that is no good says, in a form that is safe to log: the explaining parts of JSON and XML, the title of
 * a page, the common words of plain text. Never more than 400 characters, never a record.
 */
export function bodyExcerpt(body: Uint8Array): string {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 65_536))
    .toString('utf8')
    .trim();
  const size = `${body.byteLength} bytes`;
  if (text === '') return '[empty]';
  if (text[0] === '{' || text[0] === '[') return cap(json(text, size));
  if (/^<(?:!doctype html|html|head|body)/i.test(text)) return cap(html(text, size));
  if (text[0] === '<') return cap(xml(text, size));
  return cap(`[text, ${size}: ${commonWords(text)}]`);
}

function json(text: string, size: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `[broken json, ${size}]`;
  }
  const said = tell(value, 0);
  if (said !== undefined) return redact(JSON.stringify(said));
  return Array.isArray(value) ? `[json array of ${value.length}, ${size}]` : `[json object, ${size}]`;
}

/** The part of a value that explains an error; undefined when nothing does. */
function tell(value: unknown, depth: number): unknown {
  if (depth > 3 || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const list = value.slice(0, 3).flatMap((item) => tell(item, depth + 1) ?? []);
    return list.length > 0 ? list : undefined;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!telling.has(key.toLowerCase())) continue;
    const said = typeof item === 'object' && item !== null ? (strings(item) ?? tell(item, depth + 1)) : item;
    if (said !== undefined && said !== null) kept[key] = said;
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

const strings = (value: unknown): unknown =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.slice(0, 3) : undefined;

function html(text: string, size: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1];
  return `[html page, ${size}${title ? `, titled: ${commonWords(title)}` : ''}]`;
}

function xml(text: string, size: string): string {
  const pick = (name: string) => new RegExp(`<${name}>([^<]{1,200})</${name}>`).exec(text)?.[1]?.trim();
  const said = [pick('result'), pick('result_description')].filter(Boolean).join(': ');
  return said ? `[xml, ${size}: ${redact(said)}]` : `[xml, ${size}]`;
}

function commonWords(text: string): string {
  const words = text.slice(0, 200).split(/\s+/);
  return words
    .map((word) => {
      const bare = word.toLowerCase().replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
      return plain.has(bare) || /^[1-5]\d\d$/.test(bare) ? word.replace(/[^\w.,:!'-]/g, '') : '…';
    })
    .join(' ')
    .replace(/…(?: …)+/g, '…');
}

const cap = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
