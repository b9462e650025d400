import type { FieldSpec, revealChoices } from '@call-attribution/core';
import { createPseudonymizer, phoneKey } from '@call-attribution/core/privacy';

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

const textKinds = /^(?:phone|name|street|zip|ip|recording|masked|email|card|iban|number|value)$/;

/** Makes masks with a key, by default a random one. */
export function createMasks(key?: string | Uint8Array): Masks {
  const pseudonymize = createPseudonymizer(key);
  return {
    ofField: (kind, value) => pseudonymize(kind, canonical(kind, value)),
    ofText(kind, value) {
      const known = textKinds.test(kind) ? kind : 'value';
      return pseudonymize(`${known}-in-text`, canonical(known, value));
    },
  };
}

/** What a mask of a field looks like. */
const fieldMask = /^([a-z]{2,12})-(\d{12})$/;

/** The kind of a mask that stands for a field, or undefined when the text is not a mask. */
export function kindOfMask(text: string): string | undefined {
  return fieldMask.exec(text.trim())?.[1];
}
