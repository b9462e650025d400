// The one home of personal data in text: what it looks like, how it is removed, pseudonyms, keys of phone numbers.
export type { KnownValue } from './known.ts';
export { hasEmail, type Replace, replaceKnown, replacePatterns, replacePersonal } from './patterns.ts';
export { phoneKey, toE164 } from './phone.ts';
export { createPseudonymizer, type Pseudonymize, pseudonymKeyFrom } from './pseudonym.ts';
export { redact } from './redact.ts';
