import { phoneKey } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { type Extract, type Folded, type Passage, plainSpellings } from './fold.ts';

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

/** The digit that a character stands for: letters that look like one count next to a digit. */
function digitAt(text: string, index: number, code: number): string {
  if (isDigit(code)) return text.charAt(index);
  if (code !== 111 && code !== 108 && code !== 105) return '';
  const isNextTo = isDigit(text.charCodeAt(index - 1)) && isDigit(text.charCodeAt(index + 1));
  return isNextTo ? (code === 111 ? '0' : '1') : '';
}

/** The digits of a string, with a space where they do not belong together. */
function digitsOf(text: string): Extract {
  const at: number[] = [];
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
        at.push(i);
      }
      digits += digit;
      at.push(i);
      last = i;
      letters = 0;
    } else if (isPlainLetter(code)) letters += 1;
  }
  return { text: digits, at };
}

/** The letters and digits of a string, with a space where they do not belong together. */
function lettersOf(text: string): Extract {
  const at: number[] = [];
  const parts: string[] = [];
  let last = -1;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (!isPlainLetter(code) && !isDigit(code) && (code < 128 || !isWordCharacter(text.charAt(i)))) continue;
    if (last >= 0 && i - last - 1 > widestGap) {
      parts.push(' ');
      at.push(i);
    }
    parts.push(text.charAt(i));
    at.push(i);
    last = i;
  }
  return { text: parts.join(''), at };
}

/** What to look for: digits in the digits of a text, letters in its letters. */
interface Forms {
  readonly digits: readonly string[];
  readonly letters: readonly string[];
}

const digitWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const spoken = (digits: string): string =>
  [...digits].map((digit) => digitWords[Number(digit)] ?? '').join('');

/**
 * By what a phone number is recognized: all of its digits, also backwards and in words, and without the country when that is not North
 * America.
 */
function phoneForms(value: string): Forms {
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
  const parts =
    kind === 'name'
      ? spellings.flatMap((each) => each.split(/[\s-]+/).filter(isTelling))
      : kind === 'street'
        ? spellings
            .map((each) => each.replace(streetKinds, ''))
            .filter((each) => /\d/.test(each) && isTelling(each))
        : [];
  return [
    ...new Set([...spellings, ...parts].map((each) => (each.match(/[\p{L}\p{N}]+/gu) ?? []).join(''))),
  ].filter((form) => form.length >= 2);
}

const isTelling = (part: string): boolean => part.length >= 4;

/** What to look for, by the value: building it costs more than looking. */
const forms = new Map<string, Forms>();

function formsOf({ kind, value }: KnownValue): Forms {
  const key = `${kind}\n${value}`;
  const found = forms.get(key);
  if (found !== undefined) return found;
  if (forms.size >= 2000) forms.clear();
  const isPhone = kind === 'phone' && /\p{Nd}/u.test(value);
  const made = isPhone ? phoneForms(value) : { digits: [], letters: wordForms(kind, value.slice(0, 300)) };
  forms.set(key, made);
  return made;
}

/** Everything to look for in the texts of a record. */
interface Wanted {
  readonly digits: readonly (readonly [form: string, kind: string])[];
  readonly letters: readonly (readonly [form: string, kind: string])[];
}

/** Of the two lists that were asked for last: the many texts of a record come one after the other. */
let latest: readonly { readonly known: readonly KnownValue[]; readonly wanted: Wanted }[] = [];

function wantedOf(known: readonly KnownValue[]): Wanted {
  const found = latest.find((each) => each.known === known);
  if (found !== undefined) return found.wanted;
  const wanted: { digits: [string, string][]; letters: [string, string][] } = { digits: [], letters: [] };
  for (const each of known) {
    const { digits, letters } = formsOf(each);
    for (const form of digits) wanted.digits.push([form, each.kind]);
    for (const form of letters) wanted.letters.push([form, each.kind]);
  }
  latest = [{ known, wanted }, ...latest.slice(0, 1)];
  return wanted;
}

/** Finds values that are known, however they are spelled. Takes time in proportion to the text and the number of values. */
export function findKnown(folded: Folded, known: readonly KnownValue[]): Passage[] {
  const { text } = folded;
  const { digits, letters } = wantedOf(known);
  const spans: Passage[] = [];
  const inDigits = digits.length > 0 && text.length >= 7 ? extractOf(folded, 'digits') : null;
  if (inDigits !== null && inDigits.text.length >= 7)
    for (const [form, kind] of digits)
      if (inDigits.text.includes(form)) spans.push(...phonesIn(inDigits, form, kind, text));
  const inLetters = extractOf(folded, 'letters');
  for (const [form, kind] of letters)
    if (inLetters.text.includes(form)) spans.push(...wordsIn(inLetters, form, kind, text));
  return spans;
}

function extractOf(folded: Folded, which: 'digits' | 'letters'): Extract {
  folded.extracts[which] ??= which === 'digits' ? digitsOf(folded.text) : lettersOf(folded.text);
  return folded.extracts[which];
}

function phonesIn(digits: Extract, form: string, kind: string, text: string): Passage[] {
  const spans: Passage[] = [];
  for (let found = digits.text.indexOf(form); found >= 0; found = digits.text.indexOf(form, found + 1)) {
    const from = itemAt(digits.at, found);
    const to = itemAt(digits.at, found + form.length - 1) + 1;
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

function wordsIn(letters: Extract, wanted: string, kind: string, text: string): Passage[] {
  const spans: Passage[] = [];
  for (
    let found = letters.text.indexOf(wanted);
    found >= 0;
    found = letters.text.indexOf(wanted, found + 1)
  ) {
    const from = itemAt(letters.at, found);
    const to = itemAt(letters.at, found + wanted.length - 1) + 1;
    const begins = isBoundary(text, from);
    const ends = isBoundary(text, to);
    if ((begins && ends) || (wanted.length >= 7 && (begins || ends))) spans.push({ kind, from, to });
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
