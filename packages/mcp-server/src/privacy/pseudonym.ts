import { createHmac, randomBytes } from 'node:crypto';

/** Gives a stable stand-in for a personal value: the same value, kind and key give the same one. */
export type Pseudonymize = (kind: string, value: string) => string;

const modulus = 10n ** 12n;

/** A key of pseudonyms made from a credential of the API: the same account keeps its pseudonyms after a restart. */
export function pseudonymKeyFrom(credential: string): string {
  return `call-attribution pseudonyms\n${credential}`;
}

/**
 * Makes pseudonyms with a key, by default a random one. Without the key a value cannot be found by trying all phone numbers; with a million
 * distinct callers the chance that any two share one is under a half.
 */
export function createPseudonymizer(givenKey?: string | Uint8Array): Pseudonymize {
  let key = givenKey;
  const known = new Map<string, string>();
  return (kind, value) => {
    const name = `${kind}\n${value}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    key ??= randomBytes(32);
    const digest = createHmac('sha256', key).update(name).digest();
    const digits = (digest.readBigUInt64BE() % modulus).toString().padStart(12, '0');
    // Digits, since they cost a model the fewest tokens.
    const pseudonym = `${kind}-${digits}`;
    if (known.size >= 10_000) known.clear();
    known.set(name, pseudonym);
    return pseudonym;
  };
}
