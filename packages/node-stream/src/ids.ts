// Which ids a read has delivered, by a 64-bit hash of each: two of a million are taken for one once
// in 37 million reads.

const shards = 64;
const smallest = 16;

/** A set of ids in at most 16 bytes each. */
export class IdSet {
  readonly #shards: Shard[] = Array.from({ length: shards }, () => new Shard());

  /** Adds an id. False when it was there. */
  add(id: string): boolean {
    return this.#reach(id, true);
  }

  has(id: string): boolean {
    return !this.#reach(id, false);
  }

  #reach(id: string, adds: boolean): boolean {
    // Two multiplying hashes over the same characters, as in cyrb53.
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let i = 0; i < id.length; i += 1) {
      const code = id.charCodeAt(i);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }

    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (this.#shards[(a >>> 0) % shards] as Shard).reach(a >>> 0, b >>> 0 || 1, adds);
  }
}

/**
 * A table of pairs; an empty place has a second number of 0. It grows by half, so that it is always
 * more than half full.
 */
class Shard {
  #table = new Uint32Array(2 * smallest);
  #size = 0;

  /** Whether a pair is new. `adds`: it is put in. */
  reach(a: number, b: number, adds: boolean): boolean {
    if (!put(this.#table, a, b, adds)) return false;
    if (!adds) return true;
    this.#size += 1;
    const places = this.#table.length / 2;
    if (this.#size < places * 0.8) return true;
    const larger = new Uint32Array(2 * Math.ceil(places * 1.5));
    for (let i = 0; i < this.#table.length; i += 2) {
      const second = this.#table[i + 1] as number;
      if (second !== 0) put(larger, this.#table[i] as number, second, true);
    }

    this.#table = larger;
    return true;
  }
}

function put(table: Uint32Array, a: number, b: number, adds: boolean): boolean {
  const places = table.length / 2;
  for (let at = b % places; ; at = at + 1 === places ? 0 : at + 1) {
    const second = table[2 * at + 1];
    if (second === 0) {
      if (!adds) return true;
      table[2 * at] = a;
      table[2 * at + 1] = b;
      return true;
    }
    if (second === b && table[2 * at] === a) return false;
  }
}
