import { internationalPrefix } from '@call-attribution/core';
import { itemAt } from '@call-attribution/core/errors';
import type { Passage } from './fold.ts';
import { isIdKey, isInClickId, keyBefore } from './parameters.ts';

// Numbers that belong to a person: phone numbers and cards. Works on folded strings, in time in proportion to
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

/** What every one of these has. */
const mayHaveDate = /\d[-/.:]\d|-[0-9a-f]{4}-/;

const contactWord =
  /(?<![a-z])(?:tel|(?:tele)?phone|telefono?|mobile?|movil|cell|handy|fax|call|sms|whatsapp|dial|ani|caller)(?:\s?(?:number|no|nr))?[\s.:=#(+-]{0,4}$/;
const currencyBefore = /(?:[$€£¥]|(?<![a-z])(?:usd|eur|gbp|cad|aud|chf))\s?$/;
const currencyAfter = /^\s?(?:[$€£¥%]|(?:usd|eur|gbp|cad|aud|chf)(?![a-z]))/;

/** Finds phone numbers, card numbers and the like in a folded string. */
export function findNumbers(text: string): Passage[] {
  const spans: Passage[] = [];
  if (!/\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d\D{0,12}\d/.test(text)) return spans;
  const searched = mayHaveDate.test(text)
    ? text.replace(datesAndIds, (found) => '\uE000'.repeat(found.length))
    : text;
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
  if (/^\d+$/.test(run)) return [{ digits: run, from: offset, to: offset + run.length, gap: '' }];
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
  const { from } = itemAt(groups, index);
  return from - (/[+(]{0,2}$/.exec(text.slice(Math.max(0, from - 2), from))?.[0].length ?? 0);
}

function endOf(groups: readonly Group[], end: number): number {
  return itemAt(groups, end - 1).to;
}

/** What begins at a group: the kind of number, and how many groups it takes. */
interface Match {
  readonly kind: 'phone' | 'card' | 'number';
  readonly groups: number;
}

function matchAt(text: string, groups: readonly Group[], index: number): Match | undefined {
  const first = itemAt(groups, index);
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
  const last = itemAt(rest, phone - 1);
  const isPrice = currencyBefore.test(before) || currencyAfter.test(text.slice(last.to, last.to + 5));
  if (isPrice && !hasPlus) return undefined;
  return { kind: shapeOf(rest, phone) === '3-2-4' ? 'number' : 'phone', groups: phone };
}

/** Letters after digits make them part of a code, unless an extension follows. */
function isFollowedByLetter(text: string, groups: readonly Group[], count: number): boolean {
  const { to } = itemAt(groups, count - 1);
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

/** The beginnings and lengths of card numbers. */
const card = /^(?:3\d{13,15}|[4-6]\d{15})$/;

/** How many groups make a card number; 0 for none. */
function cardLength(groups: readonly Group[]): number {
  let digits = '';
  for (const [i, group] of groups.entries()) {
    digits += group.digits;
    if (digits.length > 16) return 0;
    if (card.test(digits) && passesLuhn(digits)) return i + 1;
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
  const first = itemAt(groups, 0);
  const international = hasPlus || internationalPrefix.test(first.digits);
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
