/**
 * Numbers different whole numbers from 0, in the order in which they come. A `Map` of a million of
 * them takes ten times the memory, and several times as long.
 */
export class Numbering {
  #keys = new Float64Array(32);
  /**
   * The place of a key in `#keys`, counted from 1; 0 where there is none. At most half of the slots
   * are taken.
   */
  #slots = new Int32Array(64);
  #size = 0;

  /** All of them, in their order. */
  get keys(): Float64Array {
    return this.#keys.subarray(0, this.#size);
  }

  /** The number of a key. */
  of(key: number): number {
    const at = this.#slotOf(key);
    const found = this.#slots[at] as number;
    if (found !== 0) return found - 1;
    this.#keys[this.#size] = key;
    this.#size += 1;
    this.#slots[at] = this.#size;
    if (this.#size === this.#keys.length) this.#grow();
    return this.#size - 1;
  }

  #slotOf(key: number): number {
    const slots = this.#slots;
    const keys = this.#keys;
    const last = slots.length - 1;
    const hash = Math.imul(key | 0, 0x9e3779b1) ^ Math.imul(Math.floor(key / 2 ** 32), 0x85ebca6b);
    let at = (hash ^ (hash >>> 15)) & last;
    while (slots[at] !== 0 && keys[(slots[at] as number) - 1] !== key) at = (at + 1) & last;
    return at;
  }

  #grow(): void {
    const keys = this.#keys;
    this.#keys = new Float64Array(keys.length * 2);
    this.#keys.set(keys);
    this.#slots = new Int32Array(this.#keys.length * 2);
    for (let i = 0; i < keys.length; i += 1) this.#slots[this.#slotOf(keys[i] as number)] = i + 1;
  }
}
