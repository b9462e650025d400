const leastSlots = 256;
/** Stands for a free slot: no number that is kept. */
const free = -1;

/** How often each of many whole numbers occurs: an open hash table in two arrays, 24 to 48 bytes a number. */
export class NumberTable {
  #keys = new Float64Array(leastSlots).fill(free);
  #times = new Float64Array(leastSlots);
  #size = 0;

  /** How many different numbers there are. */
  get size(): number {
    return this.#size;
  }

  /** Can the table hold it? */
  static fits(value: unknown): value is number {
    return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) && !Object.is(value, -0);
  }

  /** How often a number occurs. */
  get(value: number): number {
    return this.#times[this.#slotOf(value)] ?? 0;
  }

  /** Adds to how often a number occurs. Says whether it is new. */
  put(value: number, times: number): boolean {
    const slot = this.#slotOf(value);
    this.#times[slot] = (this.#times[slot] ?? 0) + times;
    if (this.#keys[slot] === value) return false;
    this.#keys[slot] = value;
    this.#size += 1;
    if (this.#size * 2 > this.#keys.length) this.#grow();
    return true;
  }

  /** How many numbers occur at least so often. */
  atLeast(times: number): number {
    let found = 0;
    this.each((_, each) => {
      if (each >= times) found += 1;
    });
    return found;
  }

  /** Goes through all numbers. */
  each(take: (value: number, times: number) => void): void {
    for (let slot = 0; slot < this.#keys.length; slot += 1) {
      const value = this.#keys[slot] ?? free;
      if (value !== free) take(value, this.#times[slot] ?? 0);
    }
  }

  /** All numbers, and how often each occurs. */
  *entries(): IterableIterator<[number, number]> {
    for (const [slot, value] of this.#keys.entries())
      if (value !== free) yield [value, this.#times[slot] ?? 0];
  }

  /** The slot that has a number, or the one where it belongs. */
  #slotOf(value: number): number {
    const keys = this.#keys;
    const last = keys.length - 1;
    const high = Math.floor(value / 4_294_967_296);
    let hash = Math.imul(value ^ Math.imul(high, 0x27d4eb2f), 0x9e3779b1);
    hash ^= hash >>> 15;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const found = keys[slot];
      if (found === value || found === free) return slot;
    }
  }

  #grow(): void {
    const [keys, times] = [this.#keys, this.#times];
    this.#keys = new Float64Array(keys.length * 2).fill(free);
    this.#times = new Float64Array(keys.length * 2);
    for (let i = 0; i < keys.length; i += 1) {
      const value = keys[i] ?? free;
      if (value === free) continue;
      const slot = this.#slotOf(value);
      this.#keys[slot] = value;
      this.#times[slot] = times[i] ?? 0;
    }
  }
}
