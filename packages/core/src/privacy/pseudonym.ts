import { createHmac, randomBytes } from 'node:crypto';

/** Replaces a personal value by a stable pseudonym: the same value, kind and key give the same one. */
export type Pseudonymize = (kind: string, value: string) => string;

const modulus = 10n ** 12n;
const mostRemembered = 10_000;

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
 * Makes pseudonyms with a key, by default a random one. Without the key nobody can find a value by trying all phone
 * numbers. With a million distinct callers the chance that any two share a pseudonym is under a half.
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
    if (known.size >= mostRemembered) known.clear();
    known.set(name, pseudonym);
    return pseudonym;
  };
}
