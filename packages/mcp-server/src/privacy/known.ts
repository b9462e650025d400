import { phoneKey } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { type Folded, type Passage, plainSpellings } from './fold.ts';

/** A personal value that must not show up in other text of the same record. */
export interface KnownValue {
  /** `phone`, `name` and so on. Phone numbers are found by their digits, all else by its words. */
  readonly kind: string;
  /** The value as the record has it. */
  readonly value: string;
}

/** Some characters of a string, and where each stands. */
interface Extract {
  readonly text: string;
  readonly at: readonly number[];
}

/** More other characters than this between two digits or letters, and they do not belong together. */
const widestGap = 24;

const zero = 48;
const nine = 57;
const isDigit = (code: number): boolean => code >= zero && code <= nine;
const isPlainLetter = (code: number): boolean => code >= 97 && code <= 122;
const isWordCharacter = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** The digits of a string, with a space where they do not belong together. */
function digitsOf(text: string): Extract {
  const at: number[] = [];
  let digits = '';
  let last = -1;
  let letters = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (isDigit(code)) {
      // One letter between two digits is a mark like any other, two are a word.
      if (last >= 0 && (i - last - 1 > widestGap || letters > 1)) {
        digits += ' ';
        at.push(i);
      }
      digits += text[i];
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

/** The digits by which a phone number is recognized: all of them, and without the country when that is not North America. */
function phoneForms(value: string): readonly string[] {
  const key = phoneKey(plainSpellings(value)[0] ?? '');
  if (!/^\d{7,}$/.test(key)) return [];
  return key.length > 10 ? [key, key.slice(-9)] : [key];
}

/** The ways in which a name or an address may be written: as a whole, and the parts of a double name. */
function wordForms(kind: string, value: string): readonly string[] {
  const spellings = plainSpellings(value);
  const parts = kind === 'name' ? spellings.flatMap((each) => each.split(/[\s-]+/).filter(isTelling)) : [];
  return [
    ...new Set([...spellings, ...parts].map((each) => (each.match(/[\p{L}\p{N}]+/gu) ?? []).join(''))),
  ].filter((form) => form.length >= 2);
}

const isTelling = (part: string): boolean => part.length >= 4;

/** What to look for, by the value: building it costs more than looking. */
const forms = new Map<string, readonly string[]>();

function formsOf(isPhone: boolean, { kind, value }: KnownValue): readonly string[] {
  const key = `${kind}\n${value}`;
  const found = forms.get(key);
  if (found !== undefined) return found;
  if (forms.size >= 2000) forms.clear();
  const made = isPhone ? phoneForms(value) : wordForms(kind, value.slice(0, 300));
  forms.set(key, made);
  return made;
}

/** Finds values that are known, however they are spelled. Takes time in proportion to the text and the number of values. */
export function findKnown({ text }: Folded, known: readonly KnownValue[]): Passage[] {
  const spans: Passage[] = [];
  let digits: Extract | undefined;
  let letters: Extract | undefined;
  for (const each of known) {
    const isPhone = each.kind === 'phone' && /\p{Nd}/u.test(each.value);
    for (const form of formsOf(isPhone, each)) {
      if (isPhone) {
        digits ??= digitsOf(text);
        spans.push(...phonesIn(digits, form, each.kind, text));
      } else {
        letters ??= lettersOf(text);
        spans.push(...wordsIn(letters, form, each.kind, text));
      }
    }
  }
  return spans;
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
