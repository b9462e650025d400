import type { FieldSpec, revealChoices } from '@call-attribution/core';
import { phoneKey, replacePatterns } from '@call-attribution/core/privacy';

/** What a user may reveal; `all` reveals every class. */
export type Reveal = (typeof revealChoices)[number];

/** How one personal field is masked: the class that reveals it, and the kind its pseudonyms begin with. */
export interface Masking {
  readonly revealedBy: Reveal;
  readonly kind: string;
}

/** How a personal field is masked. A field that says nothing about it stays masked until everything is revealed. */
export function maskingOf({ mask }: FieldSpec): Masking {
  return mask === undefined
    ? { revealedBy: 'all', kind: 'masked' }
    : { revealedBy: mask.class, kind: mask.kind };
}

/** True when a class is revealed. */
export function isRevealed(reveal: ReadonlySet<Reveal>, revealedBy: Reveal): boolean {
  return reveal.has('all') || reveal.has(revealedBy);
}

/** The part of a value that decides whether two values are the same person's: phone numbers have many spellings. */
export function canonical(kind: string, value: string): string {
  if (kind === 'phone') return phoneKey(value);
  return value.trim().toLowerCase();
}

/** A personal value of a record, which must not show up in its other fields. */
export interface KnownValue {
  readonly kind: string;
  readonly value: string;
}

type Replace = (kind: string, value: string) => string;

const gap = (most: number): string => `[^\\p{L}\\p{N}]{0,${most}}`;

/** Matches a phone number with anything but letters and digits between its digits. */
function phonePattern(value: string, text: string): RegExp | undefined {
  const digits = phoneKey(value);
  // Building the pattern costs far more than seeing that it cannot match.
  if (digits.length < 7 || !text.replace(/\D/g, '').includes(digits)) return undefined;
  const spelled = `(?:\\+?1${gap(3)})?\\(?${[...digits].join(gap(3))}`;
  // Ten equal digits are hardly chance, so they are found inside longer numbers too.
  return new RegExp(digits.length < 10 ? `(?<!\\p{N})${spelled}(?!\\p{N})` : spelled, 'gu');
}

/** Matches the words of a name or an address, with anything but words between them. */
function wordPattern(value: string, text: string): RegExp | undefined {
  const words = value.normalize('NFKC').match(/[\p{L}\p{M}\p{N}]+/gu);
  if (words === null || words.join('').length < 2) return undefined;
  const lower = text.toLowerCase();
  if (!words.every((word) => lower.includes(word.toLowerCase()))) return undefined;
  return new RegExp(`(?<![\\p{L}\\p{N}])${words.join('[^\\p{L}\\p{N}]{1,4}')}(?![\\p{L}\\p{N}])`, 'giu');
}

/** A value as it is, and as URLs and logins spell it: without accents. */
function spellings(kind: string, value: string): readonly string[] {
  if (kind === 'phone' || /^[\0-\x7F]*$/.test(value)) return [value];
  const bare = value
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łŁøØđĐ]/g, (letter) => bareLetters[letter.toLowerCase()] ?? letter);
  return bare === value ? [value] : [value, bare];
}

const bareLetters: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', đ: 'd' };

function replaceKnown(text: string, known: readonly KnownValue[], replace: Replace): string {
  let result = text;
  for (const { kind, value } of known) {
    for (const spelled of spellings(kind, value)) {
      const pattern = kind === 'phone' ? phonePattern(spelled, result) : wordPattern(spelled, result);
      if (pattern) result = result.replace(pattern, () => replace(kind, value));
    }
  }
  return result;
}

/** Masks only the record's own phone numbers: for ids, which often look like phone numbers. */
export function scrubOwnPhones(text: string, known: readonly KnownValue[], replace: Replace): string {
  return replaceKnown(
    text,
    known.filter(({ kind }) => kind === 'phone'),
    replace,
  );
}

function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}

/**
 * Masks personal data in a URL, a title or free text. Looks through percent-encoding too, even when it was applied
 * twice; the text is shown decoded only when something in it was masked.
 */
export function scrubText(text: string, known: readonly KnownValue[], replace: Replace): string {
  const scrub = (plain: string): string => replacePatterns(replaceKnown(plain, known, replace), replace);
  let shown = scrub(text);
  let level = text;
  for (let depth = 0; depth < 4; depth += 1) {
    const decoded = decodeOnce(level.replace(/\+/g, ' ')).normalize('NFKC');
    const scrubbed = scrub(decoded);
    if (scrubbed !== decoded) shown = scrubbed;
    if (decoded === level) break;
    level = decoded;
  }
  return shown;
}
