import { redact } from '@call-attribution/core';
import { itemAt, propertyOf } from '@call-attribution/core/errors';
import { type Folded, fold, type Passage } from './fold.ts';
import { findKnown, type KnownValue, type Wanted, wantedIn, wantedOf } from './known.ts';
import { findNumbers } from './numbers.ts';
import { findParameters } from './parameters.ts';

// What personal data looks like inside URLs, titles and free text. When in doubt, a value is masked.

/** An IPv4 address; longer runs of numbers with dots are versions. */
const ipv4 = /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.]*\d)/g;
/** What may be an IPv6 address; `isIpv6` decides. */
const ipv6 =
  /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?:[0-9a-f]{1,4}|:)(?::?[0-9a-f]{1,4}){0,6}(?![\w:])|(?<![\w:])::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}(?![\w:])/gi;
/** Programs write their version like an address. */
const versionBefore = /(?:v|version|chrome|firefox|safari|edge?|opera|build|os)[\s/:=]?$/;

/** Masks personal data: gets the kind of data and its value in plain spelling, and returns what to show instead. */
export type Replace = (kind: string, value: string) => string;

/**
 * Replaces everything in a string that looks like personal data: email addresses, phone, card and account numbers, IP
 * addresses, and the values of parameters such as `name` or `phone`. It sees through percent-encoding, HTML entities,
 * unicode escapes and digits of other scripts, and takes time in proportion to the length.
 *
 * @param replace gets the kind of data and the value that was found.
 * @example
 * replacePatterns('call 555-555-0100', (kind) => `[${kind}]`); // call [phone]
 */
export function replacePatterns(text: string, replace: Replace): string {
  return replaceIn(new LookedAt(text), nothing, replace);
}

const nothing: Wanted = { digits: [], letters: [] };

const kindNames: Readonly<Record<string, string>> = { phone: 'number', value: 'secret' };

/**
 * A message of another program for agents: without secrets, and without personal data however it is written.
 *
 * @param url the API that was asked: its address is the operator's own, and says which host failed.
 */
export function redactMessage(text: string, url?: string): string {
  const redacted = (part: string): string =>
    replacePatterns(redact(part), (kind) => `[${kindNames[kind] ?? kind}]`);
  if (url === undefined || !URL.canParse(url)) return redacted(text);
  const { origin } = new URL(url);
  return text.split(origin).map(redacted).join(origin);
}

/** The message of an error for agents. */
export function redactError(error: unknown): string {
  const url = propertyOf(error, 'url');
  const text = error instanceof Error ? error.message : String(error);
  return redactMessage(text, typeof url === 'string' ? url : undefined);
}

/** Replaces what looks like personal data, and values that are known to be, such as the number of the caller. */
export function replacePersonal(text: string, known: readonly KnownValue[], replace: Replace): string {
  return replaceIn(new LookedAt(text), wantedOf(known), replace);
}

/** A text in its plain spelling, with what looks personal in it whoever called. Each is found when it is asked for. */
export class LookedAt {
  readonly text: string;
  readonly folded: Folded;
  #patterns: readonly Passage[] | undefined;
  #encoded: readonly Encoded[] | undefined;

  constructor(text: string, folded = fold(text)) {
    this.text = text;
    this.folded = folded;
  }

  get patterns(): readonly Passage[] {
    this.#patterns ??= patternsIn(this.folded);
    return this.#patterns;
  }

  get encoded(): readonly Encoded[] {
    this.#encoded ??= encodedIn(this.text, this.folded);
    return this.#encoded;
  }
}

/** A part that is text in base64 or hexadecimal digits, and what it says. */
interface Encoded {
  readonly from: number;
  readonly to: number;
  readonly inside: LookedAt;
}

const patternsIn = (folded: Folded): readonly Passage[] => [
  ...findEmails(folded.text),
  ...findAddresses(folded.text),
  ...findNumbers(folded.text),
  ...findParameters(folded),
];

/** What of the wanted is in any of the texts, or encoded in one. */
export function wantedInside(texts: Iterable<LookedAt>, wanted: Wanted): Wanted {
  const all: Folded[] = [];
  const add = ({ folded, encoded }: LookedAt): void => {
    all.push(folded);
    for (const { inside } of encoded) add(inside);
  };
  for (const text of texts) add(text);
  return wantedIn(all, wanted);
}

/** Replaces what is wanted, and what looks personal. */
export function replaceIn(looked: LookedAt, wanted: Wanted, replace: Replace): string {
  const known = knownIn(looked, wanted);
  return splice(looked, known.length === 0 ? looked.patterns : [...known, ...looked.patterns], replace);
}

/** Replaces only what is wanted. */
export function replaceWanted(looked: LookedAt, wanted: Wanted, replace: Replace): string {
  return splice(looked, knownIn(looked, wanted), replace);
}

const none: readonly Passage[] = [];

function knownIn({ folded, encoded }: LookedAt, wanted: Wanted): readonly Passage[] {
  if (encoded.length === 0 && wanted.digits.length === 0 && wanted.letters.length === 0) return none;
  const known = findKnown(folded, wanted);
  for (const { from, to, inside } of encoded)
    if (inside.patterns.length > 0 || findKnown(inside.folded, wanted).length > 0)
      known.push({ kind: 'value', from, to });
  return known;
}

/** What may be text in base64 or as hexadecimal digits. */
const encodedText = /(?:[0-9a-f]{2}){7,}|[A-Za-z0-9+/_-]{12,}={0,2}/gi;

function encodedIn(text: string, folded: Folded): readonly Encoded[] {
  // Both are plain letters and digits; where a text has other characters as well, the places must be the same.
  if (text.length < 12 || text.length !== folded.text.length) return [];
  const found: Encoded[] = [];
  for (const { 0: token, index } of text.matchAll(encodedText)) {
    const isHex = token.length % 2 === 0 && /^[0-9a-f]+$/i.test(token);
    const inside = (isHex ? decoded(token, 'hex') : null) ?? decoded(token, 'base64');
    if (inside !== null) found.push({ from: index, to: index + token.length, inside: new LookedAt(inside) });
  }
  return found;
}

/** The text, unless what comes out is none: ids are random bytes. */
function decoded(token: string, encoding: 'hex' | 'base64'): string | null {
  // Nearly all tokens are ids, which their first character tells.
  if (encoding === 'hex' ? !/^[2-7]/.test(token) : !/^[I-Za-f]/.test(token)) return null;
  const bytes = Buffer.from(token.slice(0, 400), encoding);
  for (const byte of bytes) if (byte < 0x20 || byte > 0x7e) return null;
  return bytes.length < 6 ? null : bytes.toString('latin1');
}

/** Replaces spans in the source of a folded string. Of spans that overlap, the longest says what they are. */
function splice({ text, folded }: LookedAt, spans: readonly Passage[], replace: Replace): string {
  if (spans.length === 0) return text;
  const sorted = [...spans].sort((a, b) => a.from - b.from || b.to - a.to);
  let result = '';
  let done = 0;
  for (let i = 0; i < sorted.length; ) {
    const first = itemAt(sorted, i);
    let longest = first;
    let end = first.to;
    for (i += 1; i < sorted.length; i += 1) {
      const next = itemAt(sorted, i);
      if (next.from >= end) break;
      if (next.to - next.from > longest.to - longest.from) longest = next;
      end = Math.max(end, next.to);
    }
    const from = Math.max(done, folded.startOf(first.from));
    result += text.slice(done, from) + replace(longest.kind, folded.text.slice(longest.from, longest.to));
    done = Math.max(from, folded.endOf(end - 1));
  }
  return result + text.slice(done);
}

const inLocalPart = /[\p{L}\p{N}._%+'-]/u;
const domain = /^\s?[\p{L}\p{N}-]{1,63}(?:\s?(?:\.|[[({]\s?dot\s?[\])}])\s?[\p{L}\p{N}-]{1,63}){1,8}/u;

/** Email addresses, also with `[at]` and `(dot)`. */
function findEmails(text: string): Passage[] {
  const spans: Passage[] = [];
  if (!/[@[({]/.test(text) && !text.includes(' at ')) return spans;
  for (const { 0: sign, index } of text.matchAll(/@|\s?[[({]\s?at\s?[\])}]/g)) {
    let from = index;
    while (from > 0 && index - from < 64 && inLocalPart.test(text.charAt(from - 1))) from -= 1;
    const after = index + sign.length;
    const length = domain.exec(text.slice(after, after + 260))?.[0].length ?? 0;
    if (from < index && length > 0) spans.push({ kind: 'email', from, to: after + length });
  }
  if (!text.includes(' at ') || !text.includes(' dot ')) return spans;
  for (const { 0: found, index } of text.matchAll(spelledEmail))
    spans.push({ kind: 'email', from: index, to: index + found.length });
  return spans;
}

/** `name at example dot com`. */
const spelledEmail =
  /[\p{L}\p{N}._%+'-]{1,64} at [\p{L}\p{N}-]{1,63}(?: dot [\p{L}\p{N}-]{1,63}){1,8}(?![\p{L}\p{N}])/gu;

function findAddresses(text: string): Passage[] {
  const spans: Passage[] = [];
  if (/\d\.\d/.test(text))
    for (const { 0: found, index } of text.matchAll(ipv4)) {
      const isVersion = versionBefore.test(text.slice(Math.max(0, index - 9), index));
      if (!isVersion) spans.push({ kind: 'ip', from: index, to: index + found.length });
    }
  if (text.includes('::') || text.split(':').length >= ipv6Parts)
    for (const { 0: found, index } of text.matchAll(ipv6))
      if (isIpv6(found)) spans.push({ kind: 'ip', from: index, to: index + found.length });
  return spans;
}

const ipv6Parts = 8;

/** Rules out times of day, which are also digits between colons. */
function isIpv6(value: string): boolean {
  return value.length > 4 && (value.includes('::') || value.split(':').length === ipv6Parts);
}
