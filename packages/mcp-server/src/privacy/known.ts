import { phoneKey } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { type Folded, type Passage, plainSpellings } from './fold.ts';
import { rememberByKind } from './remember.ts';

/** A personal value that must not show up in other text of the same record. */
export interface KnownValue {
  /** `phone`, `name` and so on. Phone numbers are found by their digits, all else by its words. */
  readonly kind: string;
  /** The value as the record has it. */
  readonly value: string;
}

/** More other characters than this between two digits or letters, and they do not belong together. */
const widestGap = 24;

const zero = 48;
const nine = 57;
const isDigit = (code: number): boolean => code >= zero && code <= nine;
const isPlainLetter = (code: number): boolean => code >= 97 && code <= 122;
const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

const looksLike: Readonly<Record<string, string>> = { o: '0', l: '1', i: '1' };

/** The digit that a character stands for: letters that look like one count next to a digit. */
function digitAt(text: string, index: number, code: number): string {
  if (isDigit(code)) return text.charAt(index);
  const meant = looksLike[text.charAt(index)] ?? '';
  if (meant === '') return '';
  return isDigit(text.charCodeAt(index - 1)) && isDigit(text.charCodeAt(index + 1)) ? meant : '';
}

/** The digits of a string, with a space where they do not belong together, and into `at` where each stands. */
function digitsOf(text: string, at?: number[]): string {
  let digits = '';
  let last = -1;
  let letters = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    const digit = digitAt(text, i, code);
    if (digit !== '') {
      // One letter between two digits is a mark like any other, two are a word.
      if (last >= 0 && (i - last - 1 > widestGap || letters > 1)) {
        digits += ' ';
        at?.push(i);
      }
      digits += digit;
      at?.push(i);
      last = i;
      letters = 0;
    } else if (isPlainLetter(code)) letters += 1;
  }
  return digits;
}

/** The letters and digits of a string, with a space where they do not belong together, and into `at` where each stands. */
function lettersOf(text: string, at?: number[]): string {
  if (at === undefined && isAscii.test(text)) {
    const letters = text.replace(otherCharacters, '');
    if (text.length - letters.length <= widestGap || !hasWideGap.test(text)) return letters;
  }
  const parts: string[] = [];
  let last = -1;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (!isPlainLetter(code) && !isDigit(code) && (code < 128 || !isWordCharacter(text.charAt(i)))) continue;
    if (last >= 0 && i - last - 1 > widestGap) {
      parts.push(' ');
      at?.push(i);
    }
    parts.push(text.charAt(i));
    at?.push(i);
    last = i;
  }
  return parts.join('');
}

const isAscii = /^[\0-\x7F]*$/;
const otherCharacters = /[^a-z0-9]+/g;
const hasWideGap = new RegExp(`[^a-z0-9]{${widestGap + 1}}`);

/** One way in which a known value may be written. */
interface Form {
  readonly text: string;
  readonly kind: string;
  /** Is it looked for in ids as well? */
  readonly isTelling: boolean;
}

/** What to look for: digits in the digits of a text, letters in its letters. */
export interface Wanted {
  readonly digits: readonly Form[];
  readonly letters: readonly Form[];
}

/** The texts of forms. */
interface Spellings {
  readonly digits: readonly string[];
  readonly letters: readonly string[];
}

const digitWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const spoken = (digits: string): string => digits.replace(/\d/g, (digit) => digitWords[Number(digit)] ?? '');

/**
 * By what a phone number is recognized: all of its digits, also backwards and in words, and without the country when that is not North
 * America.
 */
function phoneForms(value: string): Spellings {
  const key = phoneKey(plainSpellings(value)[0] ?? '');
  if (!/^\d{7,}$/.test(key)) return { digits: [], letters: [] };
  const words = spoken(key);
  return {
    digits: [key, ...(key.length > 10 ? [key.slice(-9)] : []), [...key].reverse().join('')],
    letters: key.includes('0')
      ? [words, words.replaceAll('zero', 'oh'), words.replaceAll('zero', 'o')]
      : [words],
  };
}

/** The kinds of streets, as they end: people write only their beginnings, or nothing. */
const streetKinds =
  /[\s.,-]*(?:street|avenue|road|drive|lane|court|terrace|boulevard|parkway|place|plaza|square|highway|hollow|trail|circle|way|strasse|platz|weg|allee)$/;

/** The ways in which a name or an address may be written: as a whole, and the parts of a double name. */
function wordForms(kind: string, value: string): readonly string[] {
  const spellings = plainSpellings(value);
  let parts: readonly string[] = [];
  if (kind === 'name') parts = spellings.flatMap((each) => each.split(/[\s-]+/)).filter(isLong);
  if (kind === 'street') {
    const short = spellings.map((each) => each.replace(streetKinds, ''));
    parts = short.filter((each) => /\d/.test(each) && isLong(each));
  }
  return [...new Set([...spellings, ...parts].map((each) => each.replace(/[^\p{L}\p{N}]+/gu, '')))].filter(
    (form) => form.length >= 2,
  );
}

const isLong = (part: string): boolean => part.length >= 4;

/** Ids are made of random characters, in which a short name or a zip code would be found by chance. */
const isTelling = (kind: string, value: string): boolean =>
  kind === 'phone' || kind === 'ip' || (kind !== 'zip' && value.length >= 5);

/** What to look for, by the kind and the value: building it costs more than looking. */
const formsOf = rememberByKind((kind, value): Wanted => {
  const isPhone = kind === 'phone' && /\p{Nd}/u.test(value);
  const { digits, letters } = isPhone
    ? phoneForms(value)
    : { digits: [], letters: wordForms(kind, value.slice(0, 300)) };
  const toForm = (text: string): Form => ({ text, kind, isTelling: isTelling(kind, value) });
  return { digits: digits.map(toForm), letters: letters.map(toForm) };
});

/** How known values may be written. */
export function wantedOf(known: readonly KnownValue[]): Wanted {
  const digits: Form[] = [];
  const letters: Form[] = [];
  for (const { kind, value } of known) {
    const forms = formsOf(kind, value);
    digits.push(...forms.digits);
    letters.push(...forms.letters);
  }
  return { digits, letters };
}

/** What to look for in ids. */
export const tellingOf = ({ digits, letters }: Wanted): Wanted => ({
  digits: digits.filter((form) => form.isTelling),
  letters: letters.filter((form) => form.isTelling),
});

/** What of it is in any of the texts at all: mostly nothing, and one look at all texts costs less than one at each. */
export function wantedIn(texts: Iterable<Folded>, { digits, letters }: Wanted): Wanted {
  let allDigits = '';
  let allLetters = '';
  for (const folded of texts) {
    if (folded.text.length >= fewestDigits) allDigits += `${digitsIn(folded)}\n`;
    allLetters += `${lettersIn(folded)}\n`;
  }
  return { digits: formsIn(allDigits, digits), letters: formsIn(allLetters, letters) };
}

function formsIn(text: string, forms: readonly Form[]): readonly Form[] {
  return forms.some((form) => text.includes(form.text))
    ? forms.filter((form) => text.includes(form.text))
    : none;
}

const none: readonly Form[] = [];

/** Finds values that are known, however they are spelled. Takes time in proportion to the text and the number of values. */
export function findKnown(folded: Folded, { digits, letters }: Wanted): Passage[] {
  const { text } = folded;
  const spans: Passage[] = [];
  for (const form of digits) if (digitsIn(folded).includes(form.text)) spans.push(...phonesIn(text, form));
  for (const form of letters) if (lettersIn(folded).includes(form.text)) spans.push(...wordsIn(text, form));
  return spans;
}

/** The digits of a text, when they can be a phone number. */
function digitsIn(folded: Folded): string {
  folded.extracts.digits ??= folded.text.length < fewestDigits ? '' : digitsOf(folded.text);
  return folded.extracts.digits;
}

/** What a phone number has at least, to be looked for. */
const fewestDigits = 7;

function lettersIn(folded: Folded): string {
  folded.extracts.letters ??= lettersOf(folded.text);
  return folded.extracts.letters;
}

/** Where a part begins in a string, again and again. */
function* placesOf(part: string, text: string): Generator<number> {
  for (let found = text.indexOf(part); found >= 0; found = text.indexOf(part, found + 1)) yield found;
}

function phonesIn(text: string, { text: form, kind }: Form): Passage[] {
  const spans: Passage[] = [];
  const at: number[] = [];
  for (const found of placesOf(form, digitsOf(text, at))) {
    const from = itemAt(at, found);
    const to = itemAt(at, found + form.length - 1) + 1;
    // Ten equal digits are hardly chance, so they are found inside longer numbers too; fewer are not.
    const isPart = /\d/.test(text[from - 1] ?? '') || /\d/.test(text[to] ?? '');
    if (form.length >= 9 || !isPart)
      spans.push({ kind, from: withPrefix(text, from, form.length === 9), to });
  }
  return spans;
}

/** A country code or the zero of an area code in front of a number is part of it. */
function withPrefix(text: string, from: number, isEnd: boolean): number {
  const before = text.slice(Math.max(0, from - 9), from);
  const prefix = isEnd
    ? /\+?\d{0,6}[\s().\-/]{0,3}$/
    : /(?:\+\d{0,3}|00\d{1,3}|\b[01]\d{0,2})?[\s().\-/]{0,3}$/;
  return from - (prefix.exec(before)?.[0].trimStart().length ?? 0);
}

function wordsIn(text: string, { text: form, kind }: Form): Passage[] {
  const spans: Passage[] = [];
  const at: number[] = [];
  for (const found of placesOf(form, lettersOf(text, at))) {
    const from = itemAt(at, found);
    const to = itemAt(at, found + form.length - 1) + 1;
    const begins = isBoundary(text, from);
    const ends = isBoundary(text, to);
    if ((begins && ends) || (form.length >= 7 && (begins || ends))) spans.push({ kind, from, to });
  }
  return spans;
}

/** Does a word begin or end here? Letters and digits are different words: `ana77`. */
function isBoundary(text: string, index: number): boolean {
  const before = text[index - 1] ?? ' ';
  const after = text[index] ?? ' ';
  const isLetter = (character: string): boolean => /\p{L}/u.test(character);
  const isNumber = (character: string): boolean => /\p{N}/u.test(character);
  return !(isLetter(before) && isLetter(after)) && !(isNumber(before) && isNumber(after));
}
