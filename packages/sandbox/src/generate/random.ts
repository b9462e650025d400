import { itemAt } from '@call-attribution/core/errors';

/**
 * A small seeded stream of numbers (sfc32, seeded through splitmix32). Integer arithmetic only, so
 * that the same seed gives the same numbers on every machine and in every engine.
 */
export class Random {
  private a = 0;
  private b = 0;
  private c = 0;
  private d = 1;

  constructor(seed: number) {
    this.reseed(seed);
  }

  /** Restarts the stream from another seed, so that one object serves all records. */
  reseed(seed: number): this {
    this.a = mix(seed + 0x9e3779b9);
    this.b = mix(seed + 0x3c6ef372);
    this.c = mix(seed + 0xdaa66d2b);
    this.d = 1;
    for (let i = 0; i < 6; i++) this.bits();
    return this;
  }

  /** 32 random bits as an unsigned integer. */
  bits(): number {
    const t = (((this.a + this.b) | 0) + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + t) | 0;
    return t >>> 0;
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    return this.bits() / 4294967296;
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** True with this probability. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /**
   * One entry of a list. The higher `lean` is, the more likely are the first ones (0: all equally
   * likely).
   */
  pick<T>(list: readonly T[], lean = 0): T {
    let at = this.next();
    for (let i = 0; i < lean; i++) at *= this.next();
    return itemAt(list, Math.floor(at * list.length));
  }

  /** This many random decimal digits, the first of them not 0. */
  digits(count: number): string {
    let text = String(1 + this.below(9));
    while (text.length < count) {
      const left = count - text.length;
      text += pad(this.below(left >= 6 ? 1e6 : 10 ** left), Math.min(6, left));
    }
    return text;
  }
}

/** Spreads a seed over 32 bits. Also derives the seed of a part from the seed of the whole. */
export function mix(seed: number): number {
  let t = seed >>> 0;
  t = Math.imul(t ^ (t >>> 16), 0x21f0aaad);
  t = Math.imul(t ^ (t >>> 15), 0x735a2d97);
  return (t ^ (t >>> 15)) >>> 0;
}

/** A whole number with leading zeros. */
export function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
const pairs = Array.from(
  { length: 4096 },
  (_, i) => `${alphabet.charAt(i >> 6)}${alphabet.charAt(i & 63)}`,
);
const pairOf = (bits: number): string => pairs[bits & 4095] ?? '';

/** A random string of the URL-safe Base64 alphabet, `quads` groups of four characters long. */
export function token(random: Random, quads: number): string {
  let text = '';
  for (let i = 0; i < quads; i++) {
    const bits = random.bits();
    text += pairOf(bits) + pairOf(bits >>> 12);
  }
  return text;
}
