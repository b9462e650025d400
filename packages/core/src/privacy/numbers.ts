import { isIdKey, isInClickId, keyBefore } from './parameters.ts';
import type { Span } from './span.ts';

// Numbers that belong to a person: phone numbers, cards, accounts. Works on folded strings, in time in proportion to
// their length, and leaves ids, dates, prices and versions alone.

/** Digits without anything in between. */
interface Group {
  readonly digits: string;
  readonly from: number;
  readonly to: number;
  /** What separates it from the group before; empty for the first of a run. */
  readonly gap: string;
}

/** Digits, with up to twelve marks or spaces between two of them. Marks that begin another value or item end the run. */
const runs = /\d+(?:(?:(?![,;]\s)[^\p{L}\d&=?#"'<>{}[\]\uE000]){1,12}\d+)*/gu;

const datesAndIds = new RegExp(
  [
    // A day, perhaps with a time.
    '(?<!\\d)(?:19|20)\\d\\d([-/.])(?:0?[1-9]|1[0-2])\\1(?:0?[1-9]|[12]\\d|3[01])(?:[ t_-]{1,2}\\d\\d?[:.-]\\d\\d(?:[:.-]\\d\\d)?(?:\\.\\d{1,6})?)?(?!\\d)',
    '(?<!\\d)(?:0?[1-9]|[12]\\d|3[01])([-/.])(?:0?[1-9]|[12]\\d|3[01])\\2(?:19|20)\\d\\d(?: \\d\\d?:\\d\\d(?::\\d\\d)?)?(?!\\d)',
    '(?<!\\d)[012]?\\d:[0-5]\\d(?::[0-5]\\d)?(?![:\\d])',
    // A UUID.
    '(?<![a-z0-9])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![a-z0-9])',
  ].join('|'),
  'g',
);

const contactWord =
  /(?<![a-z])(?:tel|(?:tele)?phone|telefono?|mobile?|movil|cell|handy|fax|call|sms|whatsapp|dial|ani|caller)(?:\s?(?:number|no|nr))?[\s.:=#(+-]{0,4}$/;
const currencyBefore = /(?:[$€£¥]|(?<![a-z])(?:usd|eur|gbp|cad|aud|chf))\s?$/;
const currencyAfter = /^\s?(?:[$€£¥%]|(?:usd|eur|gbp|cad|aud|chf)(?![a-z]))/;

/** Finds phone numbers, card numbers and the like in a folded string. */
export function findNumbers(text: string): Span[] {
  const spans = findIbans(text);
  if (!/\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d/.test(text)) return spans;
  const searched = text.replace(datesAndIds, (found) => '\uE000'.repeat(found.length));
  for (const run of searched.matchAll(runs)) {
    if (run[0].length < 7) continue;
    const groups = groupsOf(run[0], run.index);
    for (let i = 0; i < groups.length; ) {
      const match = matchAt(text, groups, i);
      if (match)
        spans.push({ kind: match.kind, from: startOf(text, groups, i), to: endOf(groups, i + match.groups) });
      i += match?.groups ?? 1;
    }
  }
  return spans;
}

function groupsOf(run: string, offset: number): Group[] {
  const groups: Group[] = [];
  let end = 0;
  for (const match of run.matchAll(/\d+/g)) {
    const from = match.index;
    groups.push({
      digits: match[0],
      from: offset + from,
      to: offset + from + match[0].length,
      gap: run.slice(end, from),
    });
    end = from + match[0].length;
  }
  return groups;
}

/** A plus or a bracket in front of a number is part of it. */
function startOf(text: string, groups: readonly Group[], index: number): number {
  const { from } = groups[index] as Group;
  return from - (/[+(]{0,2}$/.exec(text.slice(Math.max(0, from - 2), from))?.[0].length ?? 0);
}

function endOf(groups: readonly Group[], end: number): number {
  return (groups[end - 1] as Group).to;
}

/** What begins at a group: the kind of number, and how many groups it takes. */
interface Match {
  readonly kind: 'phone' | 'card' | 'number';
  readonly groups: number;
}

function matchAt(text: string, groups: readonly Group[], index: number): Match | undefined {
  const first = groups[index] as Group;
  const before = text.slice(Math.max(0, first.from - 24), first.from);
  const isGlued = /[a-z]$/.test(before) && !contactWord.test(before);
  if (isGlued) return undefined;
  const isId = isIdKey(keyBefore(text, first.from)) || isInClickId(text, first.from);
  const rest = groups.slice(index, index + 12);
  const card = isId ? 0 : cardLength(rest);
  if (card > 0 && !isFollowedByLetter(text, rest, card)) return { kind: 'card', groups: card };
  const hasPlus = /\+\(?$/.test(before);
  const phone = phoneLength(rest, { hasPlus, isId, isNamed: contactWord.test(before), isAlone: index === 0 });
  if (phone === 0 || isFollowedByLetter(text, rest, phone)) return undefined;
  const last = rest[phone - 1] as Group;
  const isPrice = currencyBefore.test(before) || currencyAfter.test(text.slice(last.to, last.to + 5));
  if (isPrice && !hasPlus) return undefined;
  return { kind: shapeOf(rest, phone) === '3-2-4' ? 'number' : 'phone', groups: phone };
}

/** Letters after digits make them part of a code, unless an extension follows. */
function isFollowedByLetter(text: string, groups: readonly Group[], count: number): boolean {
  const { to } = groups[count - 1] as Group;
  return /^(?!e?xt?)[a-z]/.test(text.slice(to, to + 3));
}

const shapeOf = (groups: readonly Group[], count: number): string =>
  groups
    .slice(0, count)
    .map(({ digits }) => digits.length)
    .join('-');

const digitsOf = (groups: readonly Group[], count: number): string =>
  groups
    .slice(0, count)
    .map(({ digits }) => digits)
    .join('');

/** Lengths of card numbers by their first digits. */
const cards: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720))/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65|35(?:2[89]|[3-8])|81)/, [16, 19]],
  [/^(?:30[0-5]|309|36|38|39)/, [14]],
  [/^(?:50|5[6-8]|62|67)/, [16, 17, 18, 19]],
];

/** How many groups make a card number; 0 for none. */
function cardLength(groups: readonly Group[]): number {
  let digits = '';
  for (const [i, group] of groups.entries()) {
    digits += group.digits;
    if (digits.length > 19) return 0;
    if (digits.length < 14) continue;
    const fits = cards.some(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length));
    if (fits && passesLuhn(digits)) return i + 1;
  }
  return 0;
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

interface Surroundings {
  readonly hasPlus: boolean;
  readonly isId: boolean;
  readonly isNamed: boolean;
  readonly isAlone: boolean;
}

const narrow = /^[\s().\-/]+$/;
const northAmerican = new Set(['3-3-4', '1-3-3-4', '3-7', '6-4', '1-10', '1-3-7', '3-2-4', '1-6-4']);

/** How many groups make a phone number; 0 for none. */
function phoneLength(groups: readonly Group[], { hasPlus, isId, isNamed, isAlone }: Surroundings): number {
  const first = groups[0] as Group;
  const international = hasPlus || /^(?:00|011)(?!0)/.test(first.digits);
  if (international) return international15(groups, hasPlus ? 8 : 10);
  for (const count of [4, 3, 2]) {
    if (groups.length >= count && northAmerican.has(shapeOf(groups, count)) && first.gap !== '.') {
      const digits = digitsOf(groups, count);
      if (shapeOf(groups, count) !== '1-10' || /^1[2-9]/.test(digits)) return count;
    }
  }
  if (/^0[1-9]/.test(first.digits) && first.digits.length <= 6) {
    const count = wideAs(groups, 9, 12);
    if (count > 1) return count;
  }
  const isBare = !isId && first.gap !== '.';
  if (isBare && /^(?:1?[2-9]\d{2}[2-9]\d{6}|0[1-9]\d{8,10})$/.test(first.digits)) return 1;
  if (isNamed && !isId) {
    const count = wideAs(groups, 7, 15);
    if (count > 0) return count;
  }
  if (groups.length >= 10 && /^1{10,11}$/.test(shapeOf(groups, 11).replaceAll('-', '')))
    return Math.min(groups.length, 11);
  if (
    isAlone &&
    !isId &&
    groups.length === 2 &&
    shapeOf(groups, 2) === '3-4' &&
    /^[-. ]$/.test(groups[1]?.gap ?? '')
  )
    return 2;
  return generic(groups);
}

/** As many groups as make at most fifteen digits, if they make enough of them. */
function international15(groups: readonly Group[], least: number): number {
  let digits = 0;
  let count = 0;
  for (const group of groups) {
    if (digits + group.digits.length > 17) break;
    digits += group.digits.length;
    count += 1;
  }
  return digits >= least ? count : 0;
}

function wideAs(groups: readonly Group[], least: number, most: number): number {
  let digits = 0;
  for (const [i, group] of groups.entries()) {
    if (digits + group.digits.length > most) return digits >= least ? i : 0;
    digits += group.digits.length;
  }
  return digits >= least ? groups.length : 0;
}

/** Groups of two to five digits with plain separators, which are not a list of years. */
function generic(groups: readonly Group[]): number {
  let digits = 0;
  let count = 0;
  for (const [i, group] of groups.entries()) {
    const fits =
      i === 0
        ? group.digits.length <= 4
        : group.digits.length >= 2 && group.digits.length <= 5 && narrow.test(group.gap) && group.gap !== '/';
    if (!fits || digits + group.digits.length > 15) break;
    digits += group.digits.length;
    count += 1;
  }
  if (count < 2 || digits < 9) return 0;
  const areYears = groups.slice(0, count).every((group) => /^(?:19|20)\d\d$/.test(group.digits));
  return areYears ? 0 : count;
}

const ibanLengths =
  'ad24ae23al28at20az28ba20be16bg22bh22br29by28ch21cr22cy28cz24de22dk18do28ee20eg29es24fi18fo18fr27gb22ge22gi23gl18gr27gt28hr21hu28ie22il23iq23is26it27jo30kw30kz20lb28lc32li21lt20lu20lv21ly25mc27md24me22mk19mr27mt31mu30nl18no15pk24pl28ps29pt25qa29ro24rs22sa24sc31se24si19sk24sm27st25sv28tl23tn24tr26ua29va22vg24xk20';
const ibanLength = new Map(
  [...ibanLengths.matchAll(/([a-z]{2})(\d\d)/g)].map(([, country, length]) => [
    country as string,
    Number(length),
  ]),
);

/** International bank account numbers: the length of the country, and a checksum. */
function findIbans(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index, 1: prefix = '', 2: country = '' } of text.matchAll(
    /(?<![a-z0-9])(iban)?([a-z]{2})(?=\d\d)/g,
  )) {
    const from = index + prefix.length;
    const length = ibanLength.get(country);
    if (length === undefined) continue;
    let account = '';
    let to = from;
    for (let gap = 0; account.length < length && gap <= 3 && to < text.length; to += 1) {
      const character = text[to] as string;
      if (/[a-z0-9]/.test(character)) {
        account += character;
        gap = 0;
      } else gap += 1;
    }
    if (account.length === length && !/[a-z0-9]/.test(text[to] ?? '') && isIban(account))
      spans.push({ kind: 'iban', from, to });
  }
  return spans;
}

function isIban(account: string): boolean {
  let rest = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
