import { hash } from 'node:crypto';

/** How many rows there are, and a number that depends on all of them, but not on their order. */
export interface RowCount {
  /** How many rows. */
  readonly count: number;
  /** 64 hexadecimal digits. */
  readonly digest: string;
}

const mask = (1n << 256n) - 1n;

/**
 * Adds up rows: the sum, modulo 2^256, of the SHA-256 of the text of each. The order does not matter, a row that is there twice
 * does, and the sums of two parts add up to that of the whole.
 *
 * @example
 * const rows = new RowDigest();
 * for (const text of texts) rows.add(text);
 * console.log(rows.result()); // { count: 3, digest: 'a0b1…' }
 */
export class RowDigest {
  #count: number;
  #sum: bigint;

  /** `from`: a sum to continue. */
  constructor(from: RowCount = { count: 0, digest: '0' }) {
    this.#count = from.count;
    this.#sum = BigInt(`0x${from.digest}`);
  }

  /** Adds a row. */
  add(text: string): void {
    this.#count += 1;
    this.#sum = (this.#sum + BigInt(`0x${hash('sha256', text, 'hex')}`)) & mask;
  }

  /** Adds the rows of another part. */
  merge({ count, digest }: RowCount): void {
    this.#count += count;
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) & mask;
  }

  /** The rows so far. */
  result(): RowCount {
    return { count: this.#count, digest: this.#sum.toString(16).padStart(64, '0') };
  }
}
