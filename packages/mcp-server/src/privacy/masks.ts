import type { FieldSpec, revealChoices } from '@call-attribution/core';
import { phoneKey } from '@call-attribution/core/privacy';

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
