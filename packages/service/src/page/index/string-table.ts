/**
 * Different strings, numbered in the order in which they came. They are kept as UTF-8 in one buffer with an open hash table:
 * about 14 bytes more than its own for each, where a Map of strings takes over 100.
 */
export class StringTable {
  #bytes = Buffer.alloc(1024);
  /** Where each string ends; it begins where the one before ends. */
  #ends = new Uint32Array(64);
  /** Number of a string plus 1, by hash; 0 is free. */
  #slots = new Uint32Array(256);
  #size = 0;

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** About how many bytes it takes. */
  get byteLength(): number {
    return this.#bytes.length + this.#ends.byteLength + this.#slots.byteLength;
  }

  /** The number of a string, a new one if it has none yet. */
  add(text: string): number {
    const start = this.#end(this.#size);
    const end = this.#write(text, start);
    const slot = this.#slotOf(start, end);
    const known = this.#slots[slot] as number;
    if (known > 0) return known - 1;
    if (this.#size === this.#ends.length) this.#ends = grown(this.#ends);
    this.#ends[this.#size] = end;
    this.#size += 1;
    this.#slots[slot] = this.#size;
    if (this.#size * 2 > this.#slots.length) this.#rehash();
    return this.#size - 1;
  }

  /** The number of a string; -1 when it has none. */
  find(text: string): number {
    const start = this.#end(this.#size);
    return (this.#slots[this.#slotOf(start, this.#write(text, start))] as number) - 1;
  }

  /** The string with a number. */
  at(number: number): string {
    return this.#bytes.toString('utf8', this.#end(number), this.#end(number + 1));
  }

  /** Which of two strings comes first by its bytes, as databases sort keys: below 0 for the first one. */
  compare(a: number, b: number): number {
    return this.#bytes.compare(this.#bytes, this.#end(b), this.#end(b + 1), this.#end(a), this.#end(a + 1));
  }

  #end(number: number): number {
    return number === 0 ? 0 : (this.#ends[number - 1] as number);
  }

  /** Writes a string after the last one, where it stays if it is new. */
  #write(text: string, start: number): number {
    const most = start + text.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(most, Math.ceil(this.#bytes.length * 1.5)));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    return start + this.#bytes.write(text, start);
  }

  /** The slot of the string that is written there: the one it has, or the free one for it. */
  #slotOf(start: number, end: number): number {
    const bytes = this.#bytes;
    const mask = this.#slots.length - 1;
    let slot = hash(bytes, start, end) & mask;
    for (;;) {
      const number = this.#slots[slot] as number;
      if (number === 0 || this.#isAt(number - 1, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isAt(number: number, start: number, end: number): boolean {
    const own = this.#end(number);
    const length = end - start;
    if (this.#end(number + 1) - own !== length) return false;
    for (let i = 0; i < length; i += 1) if (this.#bytes[own + i] !== this.#bytes[start + i]) return false;
    return true;
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let number = 0; number < this.#size; number += 1) {
      let slot = hash(this.#bytes, this.#end(number), this.#end(number + 1)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number + 1;
    }
  }
}

/** FNV-1a. */
function hash(bytes: Buffer, start: number, end: number): number {
  let value = 0x811c9dc5;
  for (let i = start; i < end; i += 1) value = Math.imul(value ^ (bytes[i] as number), 0x01000193);
  return value ^ (value >>> 15);
}

/** A copy with room for half as many values again. */
export function grown<T extends Uint32Array | Int32Array | Float64Array | Uint8Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(Math.ceil(array.length * 1.5));
  larger.set(array);
  return larger;
}
