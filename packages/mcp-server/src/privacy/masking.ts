import { createHmac, randomBytes } from 'node:crypto';
import { type FieldSpec, phoneKey, type revealChoices } from '@call-attribution/core';
import { callerKey } from '@call-attribution/questions';
import { rememberByKind } from './remember.ts';

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

/** Are the values of a field shown as masks? */
export const isMasked = (spec: FieldSpec, reveal: ReadonlySet<Reveal>): boolean =>
  spec.personal && !isRevealed(reveal, maskingOf(spec).revealedBy);

/** The part of a value that decides whether two values are the same person's: phone numbers have many spellings. */
function canonical(kind: string, value: string): string {
  if (kind === 'phone') return phoneKey(value);
  return value.trim().toLowerCase();
}

/** Makes the masks of one server. */
export interface Masks {
  /** The mask of a personal field: equal for equal values of the same kind, so that callers can be told apart. */
  ofField(kind: string, value: string): string;
  /**
   * The mask of a personal value inside other text. Visitors choose that text, so its masks have a key of their own:
   * nobody finds out who called by writing a guess into an address and comparing masks.
   */
  ofText(kind: string, value: string): string;
}

const textKinds = /^(?:phone|name|street|zip|ip|recording|masked|email|card|number|value)$/;

const letterOf = (digit: string): string => 'abcdefghij'.charAt(Number(digit));

const modulus = 10n ** 12n;

/**
 * Makes a key for pseudonyms from a credential of the API, so that an account keeps its pseudonyms after a restart.
 *
 * @example
 * createServer(client, { pseudonymKey: pseudonymKeyFrom(process.env.CALLS_SECRET_KEY) });
 */
export function pseudonymKeyFrom(credential: string): string {
  return `call-attribution pseudonyms\n${credential}`;
}

/**
 * Makes masks with a key, by default a random one. Without the key nobody can find a value by trying all phone numbers. With a million
 * distinct callers the chance that any two share a mask is under a half.
 */
export function createMasks(key: string | Uint8Array = randomBytes(32)): Masks {
  const pseudonym = (kind: string, value: string): string => {
    const digest = createHmac('sha256', key).update(`${kind}\n${value}`).digest('hex');
    const digits = (BigInt(`0x${digest.slice(0, 16)}`) % modulus).toString().padStart(12, '0');
    // Digits, since they cost a model the fewest tokens.
    return `${kind}-${digits}`;
  };
  const ofField = rememberByKind((kind, value) => {
    const mask = pseudonym(kind, canonical(kind, value));
    // Who calls without a number is no caller that can be counted: such a mask is no number either.
    return kind === 'phone' && callerKey(value) === null ? mask.replace(/\d/g, letterOf) : mask;
  });
  const ofText = rememberByKind((kind, value) => pseudonym(`${kind}-in-text`, canonical(kind, value)));
  return { ofField, ofText: (kind, value) => ofText(textKinds.test(kind) ? kind : 'value', value) };
}

/** What a mask of a field looks like. Of a caller without a number it has letters. */
const fieldMask = /^([a-z]{2,12})-(?:\d{12}|[a-j]{12})$/;

/** The kind of a mask that stands for a field, or undefined when the text is not a mask. */
export function kindOfMask(text: string): string | undefined {
  return fieldMask.exec(text.trim())?.[1];
}
