import { beginning } from './redact.ts';
import { knownWords, safeProse } from './safe-prose.ts';

const longest = 400;

/** Keys under which servers explain an error. Values of all other keys may belong to a caller and are left out. */
const explaining = new Set(
  'error errors message messages code detail details title type status reason result result_description description error_description fault request_id requestid instance pointer parameter expected found position'.split(
    ' ',
  ),
);

/**
 * What an unusable response says, in a form that is safe to log: the explaining parts of JSON and XML, the title of a
 * page, the common words of plain text. Never more than 400 characters, never a record.
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
  return cap(`[text, ${size}: ${knownWords(text)}]`);
}

/** Keys that hold a server's reason, the most telling first. */
const reasons = 'detail message error_description result_description description reason title error'.split(
  ' ',
);

/**
 * The reason that a server gives for its error, in one safe line of at most 200 characters; undefined when it gives none. Of
 * plain text only common words are kept, and pages say nothing about the request.
 */
export function serverReason(body: Uint8Array): string | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 65_536))
    .toString('utf8')
    .trim();
  const found = reasonOf(text);
  if (found === undefined) return undefined;
  const isProse = found !== text;
  const line = found.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const safe = beginning(isProse ? safeProse(line) : knownWords(line), 200).replace(/[.\s]+$/, '');
  return /[a-z]{2}/i.test(safe) ? safe : undefined;
}

function reasonOf(text: string): string | undefined {
  if (/^[{[]/.test(text)) return jsonReason(text);
  if (text[0] !== '<') return text;
  return /^<(?:!doctype html|html|head|body)/i.test(text) ? undefined : xmlReason(text);
}

function jsonReason(text: string): string | undefined {
  try {
    return reasonIn(JSON.parse(text), 0);
  } catch {
    return undefined;
  }
}

function reasonIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return depth > 0 ? value : undefined;
  if (typeof value !== 'object' || value === null || depth > 4) return undefined;
  if (Array.isArray(value)) return reasonIn(value[0], depth + 1);
  const keys = new Map(Object.entries(value).map(([key, item]) => [key.toLowerCase(), item]));
  for (const key of [...reasons, 'errors', 'fault']) {
    const found = reasonIn(keys.get(key), depth + 1);
    if (found) return found;
  }
  return undefined;
}

const xmlReason = (text: string): string | undefined =>
  reasons
    .map((name) => new RegExp(`<(${name})(?:\\s[^>]*)?>([^<]{1,500})</\\1>`, 'i').exec(text)?.[2]?.trim())
    .find(Boolean);

function json(text: string, size: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `[broken json, ${size}]`;
  }
  const explanation = explain(value, 0);
  if (explanation !== undefined) return JSON.stringify(explanation);
  return Array.isArray(value) ? `[json array of ${value.length}, ${size}]` : `[json object, ${size}]`;
}

/** The part of a value that explains an error; undefined when nothing does. */
function explain(value: unknown, depth: number): unknown {
  if (depth > 3 || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const list = value.slice(0, 3).flatMap((item) => explain(item, depth + 1) ?? []);
    return list.length > 0 ? list : undefined;
  }
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!explaining.has(key.toLowerCase())) continue;
    const shown = explainOne(item, depth);
    if (shown !== undefined && shown !== null) kept[key] = shown;
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}

function explainOne(item: unknown, depth: number): unknown {
  if (typeof item === 'string') return safeProse(item);
  if (typeof item === 'number') return Math.abs(item) < 10_000 ? item : '[number]';
  if (Array.isArray(item) && item.every((one) => typeof one === 'string'))
    return item.slice(0, 3).map(safeProse);
  return typeof item === 'object' ? explain(item, depth + 1) : item;
}

function html(text: string, size: string): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1];
  return `[html page, ${size}${title ? `, titled: ${knownWords(title)}` : ''}]`;
}

function xml(text: string, size: string): string {
  const pick = (name: string) => new RegExp(`<${name}>([^<]{1,200})</${name}>`).exec(text)?.[1]?.trim();
  const result = [pick('result'), pick('result_description')].filter(Boolean).join(': ');
  return result ? `[xml, ${size}: ${safeProse(result)}]` : `[xml, ${size}]`;
}

const cap = (text: string): string => beginning(text, longest);
