import { createHmac, randomBytes } from 'node:crypto';
import type { Call, FieldSpec } from '@call-attribution/core';
import type { revealChoices } from '@call-attribution/core/fields';
import { phoneKey } from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import { callerKey } from '@call-attribution/questions';
import { cleanText, isAscii, pageAddress, plainOf, scrub } from './text.ts';

// The one place where a record is masked. Everything else, the copy and the questions included, gets records that went through here.

/** What a user may reveal; `all` reveals everything. */
export type Reveal = (typeof revealChoices)[number];

declare const masked: unique symbol;

/** A record of which only that is left which assistants may see. */
export interface MaskedCall extends Call {
  readonly [masked]: true;
}

/** Masks a record. */
export type Mask = (call: Call) => MaskedCall;

/** Stands for a value that is there and is not shown. */
export const hiddenMark = '(hidden)';

/** How assistants see a field, with what was revealed. */
export function agentsSee(spec: FieldSpec, reveal: ReadonlySet<Reveal>): 'shown' | 'pseudonym' | 'hidden' {
  if (spec.agents === 'shown' || reveal.has('all') || reveal.has(spec.mask?.class ?? 'text')) return 'shown';
  return spec.agents === 'pseudonym' ? 'pseudonym' : 'hidden';
}

/** What a pseudonym looks like. That of a caller without a number has letters. */
export const isPseudonym = (text: string): boolean => /^phone-(?:\d{12}|[a-j]{12})$/.test(text.trim());

/** The account's own ids and numbers, which are needed as they are. */
export const neededAsTheyAre: ReadonlySet<string> = new Set(['sid', 'acct_id', 'dnis']);

const pages = /^(?:(?:first|last)_touch(?:_domain)?|landing_page|conversion_page|referrer)$/;
/** Parameters of ads and versions of programs: ids in all but name. */
const codes = /^(?:vt_(?:creative|target|random|aceid|ads_producttargetid)|(?:os|browser)_version)$/;
/** Of longer values nothing is read: some senders are hostile. */
const longest = 2000;

const token = /^[A-Za-z0-9_.:~+=-]{1,200}$/;
const idGroups = /^\d+(?:[.:_-]\d+)+$/;
/** A number as records have it. */
export const numberForm: RegExp = /^-?\d{1,15}(?:\.\d{1,3})?$/;

/** What must not show up in other fields of a record. */
interface Own {
  readonly numbers: readonly string[];
  readonly words: readonly string[];
  readonly parts: readonly string[];
}

/** A text with one space around each of its words. */
const spaced = (plain: string): string =>
  ` ${plain.replace(isAscii(plain) ? /[^a-z\d]+/g : /[^\p{L}\p{N}]+/gu, ' ').trim()} `;

/**
 * Makes the mask. The key comes from the account's secret: equal callers have equal pseudonyms, also after a restart, and nobody without
 * it finds a number by trying all of them.
 */
export function createMask(
  all: readonly FieldSpec[],
  reveal: ReadonlySet<Reveal>,
  key: string | Uint8Array = randomBytes(32),
): Mask {
  const pseudonym = remembered((number) => {
    const digest = createHmac('sha256', key)
      .update(`phone\n${phoneKey(number)}`)
      .digest('hex');
    // Digits cost a model the fewest tokens. Of a million callers no two have the same, with a chance of more than a half.
    const digits = (BigInt(`0x${digest.slice(0, 16)}`) % 10n ** 12n).toString().padStart(12, '0');
    // Who calls without a number is no caller that can be counted: such a pseudonym is no number either.
    const isNumber = callerKey(number) !== null;
    return `phone-${isNumber ? digits : digits.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`;
  });
  // One memory for all addresses: those of a visit are in several fields.
  const judgePage = remembered((sent) => judged(pageAddress(sent)));
  const hidden = all.filter((spec) => spec.mask !== undefined && agentsSee(spec, reveal) !== 'shown');
  const readers = all
    .filter((spec) => spec.type !== 'null')
    .map((spec) => [spec.name, readerOf(spec, reveal, pseudonym, judgePage)] as const);
  return (call) => {
    const sent = call as unknown as Readonly<Record<string, unknown>>;
    let own: Own | undefined;
    const isOwn = (looked: Looked): boolean => {
      own ??= ownOf(hidden, sent);
      return contains(looked, own);
    };
    const shown: Record<string, unknown> = {};
    for (const [name, read] of readers) {
      const value = sent[name];
      // A field that was not sent stays away: it tells versions of the API apart.
      if (value === undefined) continue;
      const isValue = (typeof value === 'string' && value !== '') || typeof value === 'number';
      // null and '' are both left out: assistants see one form of no value.
      shown[name] = isValue ? read(value, sent, isOwn) : null;
    }
    return shown as unknown as MaskedCall;
  };
}

type Read = (
  value: string | number,
  call: Readonly<Record<string, unknown>>,
  isOwn: (looked: Looked) => boolean,
) => unknown;

/** What stands for a text in any record, and what is looked at in it; null where nothing is. */
interface Judged {
  readonly text: string;
  readonly safe: string;
  readonly looked: Looked | null;
}

/** As it is shown, so that it can be asked for. */
const judged = (text: string, isToken = false): Judged => ({
  text,
  safe: isToken ? text : scrub(text).replace(/[«»]/g, '"'),
  looked: look(plainOf(text)),
});

/** Makes what reads one field. */
function readerOf(
  spec: FieldSpec,
  reveal: ReadonlySet<Reveal>,
  pseudonym: (number: string) => string,
  judgePage: (sent: string) => Judged,
): Read {
  const see = agentsSee(spec, reveal);
  if (see === 'hidden') return () => hiddenMark;
  if (see === 'pseudonym') return (value) => pseudonym(String(value).slice(0, 200));
  const isRevealed = spec.agents !== 'shown' || reveal.has('all') || reveal.has('text');
  if (isRevealed) return (value) => value;
  if (spec.type.startsWith('datetime'))
    return (value) => (Number.isNaN(parseNaive(String(value))) ? null : value);
  if (spec.type === 'integer' || spec.type.endsWith('-string'))
    return (value, _, isOwn) => {
      const text = String(value);
      const isNumber = numberForm.test(text) && !(text.length >= 7 && isOwn(look(plainOf(text))));
      return isNumber ? value : null;
    };
  if (neededAsTheyAre.has(spec.name))
    return (value) => {
      const text = cleanText(String(value).slice(0, longest));
      return token.test(text) || /^[\d\s()+.-]+$/.test(text) ? value : scrub(text);
    };
  const isCode = codes.test(spec.name);
  const known = new Set(spec.values?.map(String));
  const judgeText = (sent: string): Judged => {
    const text = cleanText(sent);
    if (known.has(text)) return { text, safe: text, looked: null };
    return judged(text, isCode && /^[A-Za-z0-9_.]{1,100}$/.test(text));
  };
  const judge = pages.test(spec.name) ? judgePage : remembered(judgeText);
  return (value, { dnis }, isOwn) => {
    const sent = String(value).slice(0, longest);
    // Ids are many, and mostly different.
    if (spec.isId && token.test(sent) && !idGroups.test(sent)) return value;
    const { text, safe, looked } = judge(sent);
    if (looked === null) return safe;
    if (isOwn(looked)) return hiddenMark;
    if (safe === text || typeof dnis !== 'string') return safe;
    // The account's own number may stand in its labels.
    return scrub(text, dnis.replace(/\D+/g, '')).replace(/[«»]/g, '"');
  };
}

function ownOf(hidden: readonly FieldSpec[], call: Readonly<Record<string, unknown>>): Own {
  const numbers: string[] = [];
  const words: string[] = [];
  const parts: string[] = [];
  const names: string[][] = [];
  for (const { name, mask } of hidden) {
    const value = call[name];
    if (value === null || value === undefined || value === '') continue;
    const text = String(value).slice(0, 300);
    const plain = plainOf(text);
    if (mask?.kind === 'phone') {
      const digits = phoneKey(plain).replace(/\D+/g, '');
      if (digits.length >= 7) numbers.push(digits.slice(-9));
    } else if (mask?.kind === 'name') {
      // Who cannot write ü writes u or ue.
      const other = plainOf(text.toLowerCase().replace(/[äöüåøñ]/g, (letter) => umlauts[letter] ?? letter));
      const spellings = (other === plain ? [plain] : [plain, other]).map(spaced);
      for (const each of spellings) words.push(...each.trim().split(' '));
      names.push(spellings.map((each) => each.replaceAll(' ', '')));
    } else if (mask?.kind === 'zip') words.push(spaced(plain).trim());
    else if (mask?.kind === 'street') {
      const [number = '', street = ''] = plain.split(/\s+/);
      // People leave out the kind of a street.
      const short = spaced(number + street).replaceAll(' ', '');
      parts.push(spaced(plain).replaceAll(' ', ''));
      if (/\d/.test(short) && short.length >= 5) parts.push(short);
    } else if (mask?.kind === 'recording') parts.push(spaced(plain).replaceAll(' ', ''));
  }
  const [firsts = [], lasts = []] = names;
  for (const first of firsts) for (const last of lasts) parts.push(first + last, last + first);
  const long = [...words, ...names.flat()].filter((word) => word.length >= 6);
  return {
    numbers,
    words: words.filter((word) => word.length > 1).map((word) => ` ${word} `),
    parts: [...parts, ...long].filter((part) => part.length >= 4),
  };
}

const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe', ñ: 'ny' };

interface Looked {
  readonly digits: string;
  readonly spaced: string;
  readonly letters: string;
}

function look(plain: string): Looked {
  const words = spaced(plain);
  return { digits: plain.replace(/\D+/g, ''), spaced: words, letters: words.replaceAll(' ', '') };
}

const contains = (looked: Looked, { numbers, words, parts }: Own): boolean =>
  numbers.some((number) => looked.digits.includes(number)) ||
  words.some((word) => looked.spaced.includes(word)) ||
  parts.some((part) => looked.letters.includes(part));

/** A function that remembers its results: the same addresses and names come again and again. */
function remembered<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= 5000) known.clear();
    const value = make(text);
    known.set(text, value);
    return value;
  };
}

/** Makes the key of an account's pseudonyms from its secret. */
export const pseudonymKeyFrom = (credential: string): string => `call-attribution pseudonyms\n${credential}`;
