// One plain spelling for all the ways in which the same characters can be written: percent-encoding, HTML entities and
// unicode escapes, several layers of them; digits of any script; wide, styled and accented letters; invisible characters.

import { plainDigits } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import { remember } from './remember.ts';

/** A string in its plain spelling, and where each of its characters came from. */
export interface Folded {
  /** Lower-case letters without accents, ASCII digits, and all else as it was. */
  readonly text: string;
  /** Where the source of a character of `text` begins. */
  startOf(index: number): number;
  /** Where the source of a character of `text` ends. */
  endOf(index: number): number;
  /** Was the character encoded in the source, so that it is part of a value and does not end one? */
  wasEncoded(index: number): boolean;
  /** Its digits and its letters, once somebody has asked for them. */
  readonly extracts: { digits?: string; letters?: string };
}

/** A part of a folded string, and what it is. */
export interface Passage {
  /** `phone`, `email`, `ip`, `card`, `number`, `value`, or the kind of a known value. */
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** Decoded characters, with the start and the end of each in the source when that was wanted. */
interface Trail {
  readonly text: string;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Layers of encoding that are looked through. */
const mostLayers = 5;

const isAscii = /^[\0-\x7F]*$/;

const isPlain = (text: string): boolean => isAscii.test(text) && !escaped.test(text);

const sameStart = (index: number): number => index;
const sameEnd = (index: number): number => index + 1;
const neverEncoded = (): boolean => false;

/** A string that is in its plain spelling but for capital letters, without them. */
const foldedInPlace = (text: string): Folded => ({
  text,
  startOf: sameStart,
  endOf: sameEnd,
  wasEncoded: neverEncoded,
  extracts: {},
});

/** Brings a string into its plain spelling. Takes time in proportion to its length. */
export function fold(text: string): Folded {
  if (isPlain(text)) return foldedInPlace(text.toLowerCase());
  // Most strings hold nothing personal, and then nobody needs to know where their characters came from.
  let trail: Trail | undefined;
  const trailOf = (): Trail => {
    trail ??= unfold(text, true);
    return trail;
  };
  const startOf = (index: number): number => trailOf().from[index] ?? text.length;
  const endOf = (index: number): number => trailOf().to[index] ?? text.length;
  return {
    text: unfold(text, false).text,
    startOf,
    endOf,
    wasEncoded: (index) => endOf(index) - startOf(index) > 1 && /[%&\\]/.test(text.charAt(startOf(index))),
    extracts: {},
  };
}

function unfold(text: string, isTracked: boolean): Trail {
  let trail = decodeLayer(text, isTracked);
  for (let layer = 1; layer < mostLayers && escaped.test(trail.text); layer += 1) {
    const next = decodeLayer(trail.text, isTracked);
    if (next.text === trail.text) break;
    trail = compose(next, trail);
  }
  return compose(plainCharacters(trail.text, isTracked), trail);
}

function compose(next: Trail, before: Trail): Trail {
  return {
    text: next.text,
    from: next.from.map((index) => itemAt(before.from, index)),
    to: next.to.map((index) => itemAt(before.to, index - 1)),
  };
}

/** Collects characters, and where they came from. */
function collector(text: string) {
  const parts: string[] = [];
  const from: number[] = [];
  const to: number[] = [];
  return {
    /** Characters that all come from one stretch of the source. */
    put(plain: string, start: number, end: number): void {
      parts.push(plain);
      for (let i = 0; i < plain.length; i += 1) {
        from.push(start);
        to.push(end);
      }
    },
    /** Characters as they are. */
    copy(start: number, end: number): void {
      parts.push(text.slice(start, end));
      for (let index = start; index < end; index += 1) {
        from.push(index);
        to.push(index + 1);
      }
    },
    trail: (): Trail => ({ text: parts.join(''), from, to }),
  };
}

const escaped =
  /(?:%[0-9a-f]{2})+|%u[0-9a-f]{4}|&#x0{0,8}[0-9a-f]{1,6};?|&#0{0,8}\d{1,7};?|&[a-z]{2,10};|\\u\{[0-9a-f]{1,6}\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}/i;
const escapes = new RegExp(escaped, 'gi');

// biome-ignore format: a table
const entities: ReadonlyMap<string, string> = new Map(Object.entries({
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", commat: '@', period: '.', plus: '+', lpar: '(', rpar: ')', num: '#', sol: '/',
  colon: ':', comma: ',', equals: '=', lowbar: '_', percnt: '%', hyphen: '-', dash: '-', ndash: '-', mdash: '-', minus: '-',
  oslash: 'ø', aring: 'å', aelig: 'æ', szlig: 'ß', eth: 'ð', thorn: 'þ', oelig: 'œ', lstrok: 'ł', dstrok: 'đ', inodot: 'ı',
  nbsp: ' ', tab: ' ', newline: ' ', shy: '', zwnj: '', zwj: '',
}));

/** Letters with a mark, such as `&eacute;`: the letter is what counts. */
const accented = /^([a-z])(?:acute|grave|circ|tilde|uml|cedil|caron|ring|breve|macr|ogon|dot)$/i;

/** Removes one layer of encoding. */
function decodeLayer(text: string, isTracked: boolean): Trail {
  if (!isTracked) return { text: text.replace(escapes, decodeRun), from: [], to: [] };
  const { put, copy, trail } = collector(text);
  let done = 0;
  for (const { 0: run, index } of text.matchAll(escapes)) {
    copy(done, index);
    done = index + run.length;
    if (/^%[0-9a-f]/i.test(run)) putBytes(run, index, put);
    else {
      const plain = decodeOne(run);
      if (plain === undefined) copy(index, done);
      else put(plain, index, done);
    }
  }
  copy(done, text.length);
  return trail();
}

function decodeRun(run: string): string {
  if (!/^%[0-9a-f]/i.test(run)) return decodeOne(run) ?? run;
  let plain = '';
  putBytes(run, 0, (part) => {
    plain += part;
  });
  return plain;
}

/** Decodes `%C3%A9` and the like. Bytes that are not UTF-8 are read as Latin-1, which old forms send. */
function putBytes(run: string, index: number, put: (plain: string, from: number, to: number) => void): void {
  if (run.length === 3) {
    put(String.fromCharCode(Number.parseInt(run.slice(1), 16)), index, index + 3);
    return;
  }
  const bytes = Array.from({ length: run.length / 3 }, (_, i) =>
    Number.parseInt(run.slice(i * 3 + 1, i * 3 + 3), 16),
  );
  for (let i = 0; i < bytes.length; ) {
    const lead = itemAt(bytes, i);
    const length = lengthBy(lead);
    const rest = bytes.slice(i + 1, i + Math.max(length, 1));
    const whole = length > 0 && rest.length === length - 1 && rest.every((byte) => (byte & 0xc0) === 0x80);
    const size = whole ? length : 1;
    const first = length === 1 ? lead : lead & (0xff >> (length + 1));
    const code = whole ? rest.reduce((sum, byte) => (sum << 6) | (byte & 0x3f), first) : lead;
    put(code > 0x10ffff ? '\uFFFD' : String.fromCodePoint(code), index + i * 3, index + (i + size) * 3);
    i += size;
  }
}

/** How many bytes a character of UTF-8 has, by its first one; 0 for one that begins none. */
function lengthBy(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

function decodeOne(written: string): string | undefined {
  const named = /^&([a-z]+);$/i.exec(written)?.[1];
  if (named !== undefined) return entities.get(named.toLowerCase()) ?? accented.exec(named)?.[1];
  const digits = /([0-9a-f]+)[;}]?$/i.exec(written)?.[1] ?? '';
  const code = Number.parseInt(digits, /^&#\d/.test(written) ? 10 : 16);
  return code > 0x10ffff ? '\uFFFD' : String.fromCodePoint(code);
}

/** Folds each character for itself, so that the trail stays exact. */
function plainCharacters(text: string, isTracked: boolean): Trail {
  if (!isTracked) {
    const plain = isAscii.test(text) ? text.toLowerCase() : text.replace(notPlain, plainOf);
    return { text: plain, from: [], to: [] };
  }
  const { put, trail } = collector(text);
  let index = 0;
  for (const character of text) {
    put(plainOf(character), index, index + character.length);
    index += character.length;
  }
  return trail();
}

const notPlain = /[A-Z]+|[^\0-\x7F]/gu;

const plainOf = (characters: string): string =>
  characters <= '\x7F' ? characters.toLowerCase() : plainOther(characters);

const plainOther = remember(2500, writePlain);

const otherLetters: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  // Cyrillic and Greek letters that look like Latin ones.
  ...Object.fromEntries(
    [...'аасеорухіјѕһԁԛԝкмтвнοανρτυχικ'].map((letter, i) => [
      letter,
      'aaceopyxijshdqwkmtbhoavptuxik'.charAt(i),
    ]),
  ),
};

function writePlain(character: string): string {
  if (/[\p{Default_Ignorable_Code_Point}\p{Cf}]/u.test(character)) return '';
  if (/\p{Pd}/u.test(character)) return '-';
  if (/\p{Zs}/u.test(character)) return ' ';
  const parts = character.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  // One character can stand for a whole phrase, which would make long text much longer.
  const bare = parts.length > 4 ? character : parts;
  return plainDigits(bare)
    .replace(/[łøđðßæœþıħ\u0370-\u052F]/g, (letter) => otherLetters[letter] ?? letter)
    .replace(/\u2044/g, '/');
}

/** The ways in which a name is spelled where its letters cannot be written: without accents, and `ue` for `ü`. */
export function plainSpellings(value: string): readonly string[] {
  if (isPlain(value)) return [value.toLowerCase()];
  const letters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe', ñ: 'ny' };
  const long = value
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüåøñ]/g, (letter) => letters[letter] ?? letter);
  return [...new Set([fold(value).text, fold(long).text])];
}
