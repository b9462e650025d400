import { createHmac, randomBytes } from 'node:crypto';
import type { Call, FieldSpec } from '@call-attribution/core';
import type { revealChoices } from '@call-attribution/core/fields';
import {
  callerOf,
  isAscii,
  longestScrubbed,
  phoneKey,
  plainOf,
  scrub,
} from '@call-attribution/core/record';
import { parseNaive } from '@call-attribution/core/time';
import { cleanText, pageAddress } from './text.ts';

// The one place where a record is masked. Everything else, the copy and the questions included,
// gets records that went through here.

/** What a user may reveal; `all` reveals everything. */
export type Reveal = (typeof revealChoices)[number];

declare const masked: unique symbol;

/** A record of which only that is left which assistants may see. */
export interface MaskedCall extends Call {
  readonly [masked]: true;
}

/** Masks calls that were read together. */
export type MaskCalls = (calls: readonly Call[]) => readonly MaskedCall[];

/** Stands for a value that is there and is not shown. */
export const hiddenMark = '(hidden)';

/** How assistants see a field, with what was revealed. */
export function agentsSee(
  spec: FieldSpec,
  reveal: ReadonlySet<Reveal>,
): 'shown' | 'pseudonym' | 'hidden' {
  if (spec.agents === 'shown' || reveal.has('all') || reveal.has(spec.mask?.class ?? 'text'))
    return 'shown';
  return spec.agents === 'pseudonym' ? 'pseudonym' : 'hidden';
}

/** Do assistants see the addresses of pages, and texts of visitors, as they are? */
export const seesText = (reveal: ReadonlySet<Reveal>): boolean =>
  reveal.has('all') || reveal.has('text');

/** What a pseudonym looks like. That of a caller without a number has letters. */
export const isPseudonym = (text: string): boolean =>
  /^phone-(?:\d{12}|[a-j]{12})$/.test(text.trim());

/** The account's own ids and numbers, which are needed as they are. */
export const neededAsTheyAre: ReadonlySet<string> = new Set(['sid', 'acct_id', 'dnis']);

const pages = /^(?:(?:first|last)_touch(?:_domain)?|landing_page|conversion_page|referrer)$/;
/** Parameters of ads and versions of programs: ids in all but name. */
const codes =
  /^(?:vt_(?:creative|target|random|aceid|ads_producttargetid)|(?:os|browser)_version)$/;
/** An IP address has the form of a version, but in a parameter of an ad it is none. */
const addressForm = /^\d{1,3}(?:\.\d{1,3}){3}$/;

const token = /^[A-Za-z0-9_.:~+=-]{1,200}$/;
/** An id, but no groups of digits, which may be a phone number. */
const id = /^(?!\d+(?:[.:_-]\d+)+$)[A-Za-z0-9_.:~+=-]{1,200}$/;
/** A number as records have it. */
export const numberForm: RegExp = /^-?\d{1,15}(?:\.\d{1,3})?$/;

/**
 * Makes the mask. The key comes from the account's secret: equal callers have equal pseudonyms,
 * also after a restart, and nobody without it finds a number by trying all of them.
 */
export function createMask(
  all: readonly FieldSpec[],
  reveal: ReadonlySet<Reveal>,
  key: string | Uint8Array = randomBytes(32),
): (call: Call) => MaskedCall {
  const pseudonym = remembered((number) => {
    const digest = createHmac('sha256', key)
      .update(`phone\n${phoneKey(number)}`)
      .digest('hex');

    // Digits cost a model the fewest tokens. Of a million callers no two have the same, with a
    // chance of more than a half.
    const digits = (BigInt(`0x${digest.slice(0, 16)}`) % 10n ** 12n).toString().padStart(12, '0');

    // Who calls without a number is no caller that can be counted: such a pseudonym is no number
    // either.
    const isNumber = callerOf({ ani: number }) !== null;
    return `phone-${isNumber ? digits : digits.replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))}`;
  });

  // One memory for all addresses: those of a visit are in several fields.
  const judgePage = remembered((sent) => judged(pageAddress(sent)));

  /** Makes what reads a field. */
  function readerOf(spec: FieldSpec): Read {
    const see = agentsSee(spec, reveal);
    if (see === 'hidden') return () => hiddenMark;
    if (spec.type === 'null') return () => null;
    if (see === 'pseudonym') return (value) => pseudonym(String(value).slice(0, 200));
    if (spec.agents !== 'shown' || seesText(reveal)) return (value) => value;
    if (spec.type.startsWith('datetime'))
      return (value) => (Number.isNaN(parseNaive(String(value))) ? null : value);
    if (spec.type === 'integer' || spec.type.endsWith('-string'))
      return (value, own) => {
        const text = String(value);
        return numberForm.test(text) && !(text.length >= 7 && contains(formOf(text), own.all))
          ? value
          : null;
      };

    if (neededAsTheyAre.has(spec.name))
      return (value) => {
        const text = cleanText(String(value).slice(0, longestScrubbed));
        return token.test(text) || /^[\d\s()+.-]+$/.test(text) ? value : scrub(text);
      };

    const known = new Set(spec.values?.map(String));
    const isCode = codes.test(spec.name);
    const judgeText = remembered((sent) => {
      const text = cleanText(sent);
      const isAddress = spec.name.startsWith('vt_') && addressForm.test(text);
      return judged(text, isCode && !isAddress && /^[A-Za-z0-9_.]{1,100}$/.test(text));
    });
    const judge = pages.test(spec.name) ? judgePage : judgeText;
    return (value, own, { dnis }) => {
      const sent = String(value).slice(0, longestScrubbed);

      // Ids are many, and mostly different.
      if (known.has(sent) || (spec.isId && id.test(sent))) return value;
      const { text, safe, form } = judge(sent);
      if (contains(form, spec.visitorText ? own.all : own.numbers)) return hiddenMark;

      // The account's own number may stand in its labels.
      return safe === text || typeof dnis !== 'string'
        ? safe
        : safeText(text, dnis.replace(/\D+/g, ''));
    };
  }

  const readers = new Map(all.map((spec) => [spec.name, readerOf(spec)]));
  const hidden = all.filter(
    (spec) => spec.mask !== undefined && agentsSee(spec, reveal) !== 'shown',
  );
  return (call) => {
    const sent = call as unknown as Readonly<Record<string, unknown>>;
    const own = ownOf(hidden, sent);

    // A field that was not sent stays away: it tells versions of the API apart. To change a copy
    // costs less than to fill an object.
    const shown: Record<string, unknown> = { ...sent };
    for (const name in sent) {
      const value = sent[name];
      const read = readers.get(name);
      if (read === undefined || value === undefined) {
        delete shown[name];
        continue;
      }
      // null and '' are both left out: assistants see one form of no value.
      const isValue = (typeof value === 'string' && value !== '') || typeof value === 'number';
      const seen = isValue ? read(value, own, sent) : null;
      if (seen !== value) shown[name] = seen;
    }

    return shown as unknown as MaskedCall;
  };
}

type Read = (
  value: string | number,
  own: OwnParts,
  call: Readonly<Record<string, unknown>>,
) => unknown;

/**
 * As it is shown, so that it can be asked for: the text, what stands for it in any record, and what
 * hidden values are looked for in.
 */
const judged = (text: string, isToken = false) => ({
  text,
  safe: isToken ? text : safeText(text),
  form: formOf(text),
});

const safeText = (text: string, own?: string): string => scrub(text, own).replace(/[«»]/g, '"');

/**
 * The parts of hidden values that a record must not show in other fields, as `formOf` writes them. All
 * are looked for in what visitors can write. In the account's own words and in places only numbers
 * are: a campaign may be called Brand or Houston, and to hide it for callers of that name would change
 * counts and tell whom it is hidden for.
 */
interface OwnParts {
  readonly all: readonly string[];
  readonly numbers: readonly string[];
}

function ownOf(hidden: readonly FieldSpec[], call: Readonly<Record<string, unknown>>): OwnParts {
  const own: string[] = [];
  const numbers: string[] = [];
  const short: string[] = [];
  for (const { name, mask } of hidden) {
    const value = call[name];
    if (value === null || value === undefined || value === '') continue;
    const text = String(value).slice(0, 300);
    if (mask?.kind === 'name')
      for (const spelling of spellingsOf(text)) {
        const words = [...wordsOfName(spelling)];
        const letters = words.join('');
        if (words.length > 1) words.push(letters);
        for (const word of words) own.push(asWord(word));
        if (letters.length >= 6) continue;
        for (const other of short) own.push(other + letters, letters + other);
        short.push(letters);
      }
    else {
      const part = partOf[mask?.kind ?? 'ip'](text);
      own.push(part);
      if (mask?.kind === 'phone') numbers.push(part);
    }
  }

  const isLong = (each: string): boolean => each.length >= 4;
  return { all: own.filter(isLong), numbers: numbers.filter(isLong) };
}

/** Short names are also parts of other words, but not two of them in a row. */
const asWord = (word: string): string => (word.length >= 6 ? word : ` ${word} `);

/**
 * What of a hidden value is looked for, by its kind. An IP address is recognized wherever it
 * stands.
 */
const partOf = {
  phone: remembered(
    (text) => /\d{7,9}$/.exec(phoneKey(plainOf(text)).replace(/\D+/g, ''))?.[0] ?? '',
  ),
  street: remembered((text) => {
    // People leave out the kind of a street.
    const plain = plainOf(text);
    const [number = '', street = ''] = plain.split(/\s+/);
    const begin = wordsOf(number + street).join('');
    return /\d/.test(begin) && begin.length >= 5 ? begin : wordsOf(plain).join('');
  }),
  zip: remembered((text) => asWord(wordsOf(plainOf(text)).join(' '))),
  recording: (text: string) => wordsOf(plainOf(text)).join(''),
  ip: () => '',
};

/** A name as it is written, and by who cannot write ü: u or ue. */
function spellingsOf(name: string): readonly string[] {
  const lower = name.toLowerCase();
  const other = lower.replace(/[äöüåøñ]/g, (letter) => umlauts[letter] ?? letter);
  return other === lower ? [name] : [name, other];
}

const umlauts: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  ø: 'oe',
  ñ: 'ny',
};

const wordsOf = (plain: string): string[] =>
  plain.match(isAscii(plain) ? /[a-z\d]+/g : /[\p{L}\p{N}]+/gu) ?? [];
const wordsOfName = remembered((name) => wordsOf(plainOf(name)));

/**
 * What is looked at in a text: its digits, its words with a space around each, and all letters in a
 * row.
 */
function formOf(text: string): string {
  const words = wordsOf(plainOf(text));
  const letters = words.join('');
  return `${letters.replace(/\D+/g, '')}\n ${words.join(' ')} ${letters}`;
}

const contains = (form: string, own: readonly string[]): boolean =>
  own.some((each) => form.includes(each));

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
export const pseudonymKeyFrom = (credential: string): string =>
  `call-attribution pseudonyms\n${credential}`;
