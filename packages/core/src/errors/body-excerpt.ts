import { plainText } from './plain-text.ts';

// What a server says, in a form that is safe for messages and logs. Never a record, a number, an
// address or a key.

// A word, with what may be within one.
const word = /[\p{L}\p{M}\p{N}@_’'-]+(?:\.[\p{L}\p{N}]+|:\p{N}+)*/gu;
const dateOrTime = /^(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d(?::\d\d)?)$/;
// With a hyphen or a digit it may be a key, unless it is of a path of the API.
const inSmallLetters = /^(?:\p{Ll}[\p{Ll}\p{M}_’']*|v[23]|bid-management)$/u;
/** A word as sentences begin with, or a code such as `INVALID_PARAMETER`. */
const first = /^(?:\p{Lu}\p{Ll}+|[A-Z]+(?:_[A-Z]+)+)$/u;
const beforeFirst = /^[^\p{L}\p{N}]*$|\p{Ll}{3}[.!?:] $/u;
/** What follows a first name, and not the first word of a sentence: another name or a number. */
const likeName = /^[\s,;("]*(?:\p{Lu}\p{Ll}|\p{N})/u;

/**
 * What a server says, in one line. Kept are words in small letters, the first word of each
 * sentence, dates and times; every other word may be a name, a number or a key.
 */
export function serverWords(text: string): string {
  const line = plainText(text.slice(0, 500)).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');

  // A word that is cut might no longer look like a key.
  const whole = text.length > 500 ? `${line.slice(0, line.lastIndexOf(' ') + 1)}…` : line;
  return whole.replace(word, (found, at: number, all: string) => {
    if (inSmallLetters.test(found) || dateOrTime.test(found)) return found;
    if (found.includes('@')) return '[email]';
    if (/\p{N}/u.test(found)) return '[number]';
    const isFirst = first.test(found) && beforeFirst.test(all.slice(Math.max(0, at - 12), at));
    return isFirst && !likeName.test(all.slice(at + found.length)) ? found : '…';
  });
}

/** The beginning of a string, cut between words. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, text.slice(0, most).search(/\s\S*$/) + 1)}…`;
}

/** Keys that hold a server's reason, the most telling first. */
const reasons =
  'detail message error_description result_description description reason title error'.split(' ');

/**
 * What an unusable response says: its form, its length, and the code and the reason that it gives
 * or the title of a page. At most 400 characters.
 */
export function bodyExcerpt(body: Uint8Array): string {
  const { form, said } = readBody(body);
  if (form === 'empty') return '[empty]';
  const words = said === undefined ? '' : `: ${serverWords(said)}`;
  return beginning(`[${form}, ${body.byteLength} bytes${words}]`, 400);
}

/**
 * The reason that a server gives for its error, in one safe line of at most 200 characters;
 * undefined when it gives none. Pages say nothing about the request.
 */
export function serverReason(body: Uint8Array): string | undefined {
  const { form, reason } = readBody(body);
  if (form === 'html page' || reason === undefined) return undefined;
  const safe = beginning(serverWords(reason).trim(), 200).replace(/[.\s]+$/, '');
  return /[a-z]{2}/i.test(safe) ? safe : undefined;
}

/** What a body has to say: `said` is what is shown of it, `reason` the part that tells why. */
function readBody(body: Uint8Array): {
  form: string;
  said?: string | undefined;
  reason?: string | undefined;
} {
  const bytes = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 65_536));
  const text = bytes.toString('utf8').trim();
  if (text === '') return { form: 'empty' };
  if (/^<(?:!doctype html|html|head|body)/i.test(text))
    return { form: 'html page', said: /<title[^>]{0,200}>([^<]{1,200})/i.exec(text)?.[1] };
  if (text[0] === '<') {
    const tag = (name: string) =>
      new RegExp(`<(${name})(?:\\s[^>]{0,200})?>([^<]{1,500})</\\1>`, 'i')
        .exec(text)?.[2]
        ?.trim() || undefined;
    const reason = reasons.map(tag).find(Boolean);
    return {
      form: 'xml',
      reason,
      said: [tag('result'), reason].filter(Boolean).join(': ') || undefined,
    };
  }

  if (text[0] !== '{' && text[0] !== '[') return { form: 'text', reason: text, said: text };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { form: 'broken json' };
  }

  const form = Array.isArray(value) ? `json array of ${value.length}` : 'json object';
  const reason = stringUnder(value, reasons);
  return {
    form,
    reason,
    said: [stringUnder(value, ['code']), reason].filter(Boolean).join(': ') || undefined,
  };
}

/** The first string under one of these keys, also within errors and lists of them. */
function stringUnder(value: unknown, names: readonly string[], depth = 0): string | undefined {
  if (typeof value === 'string') return depth > 0 ? value : undefined;
  if (typeof value !== 'object' || value === null || depth > 4) return undefined;
  if (Array.isArray(value)) return stringUnder(value[0], names, depth + 1);
  const keys = new Map(Object.entries(value).map(([key, item]) => [key.toLowerCase(), item]));
  for (const key of [...names, 'errors', 'error', 'fault']) {
    const item = keys.get(key);
    // `error` and the like hold an explanation; whether as a string it is one, `names` say.
    const found =
      typeof item === 'string' && !names.includes(key)
        ? undefined
        : stringUnder(item, names, depth + 1);
    if (found) return found;
  }

  return undefined;
}
