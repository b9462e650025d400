/** Kinds of personal data that can be revealed one by one. */
export const revealClasses = ['caller', 'name', 'address', 'ip', 'recording', 'text'] as const;

/** What a user may reveal; `all` reveals every class. */
export type Reveal = (typeof revealClasses)[number] | 'all';

/** How one personal field is masked: the class that reveals it, and the kind its pseudonym begins with. */
export interface Masking {
  readonly revealedBy: Reveal;
  readonly kind: string;
}

const byField = new Map<string, Masking>([
  ['ani', { revealedBy: 'caller', kind: 'phone' }],
  ['phone_number', { revealedBy: 'caller', kind: 'phone' }],
  ['first_name', { revealedBy: 'name', kind: 'name' }],
  ['last_name', { revealedBy: 'name', kind: 'name' }],
  ['street_address', { revealedBy: 'address', kind: 'street' }],
  ['zipcode', { revealedBy: 'address', kind: 'zip' }],
  ['ip_address', { revealedBy: 'ip', kind: 'ip' }],
  ['recording', { revealedBy: 'recording', kind: 'recording' }],
]);

/** How a personal field is masked. One that the table has newly marked personal is masked until all is revealed. */
export function maskingOf(field: string): Masking {
  return byField.get(field) ?? { revealedBy: 'all', kind: 'masked' };
}

/** True when a class is revealed. */
export function isRevealed(reveal: ReadonlySet<Reveal>, revealedBy: Reveal): boolean {
  return reveal.has('all') || reveal.has(revealedBy);
}

/** The part of a value that decides whether two values are the same person's: phone numbers come in many spellings. */
export function canonical(kind: string, value: string): string {
  if (kind === 'phone') {
    const digits = value.replace(/\D/g, '');
    return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
  }
  return value.trim().toLowerCase();
}
