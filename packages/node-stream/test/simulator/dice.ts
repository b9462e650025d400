/** Chance that can be repeated: the same seed gives the same numbers. */
export interface Dice {
  /** From 0 up to, not including, 1. */
  roll(): number;
  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number;
  /** True as often as `part` of all times. */
  chance(part: number): boolean;
  /** One of the items. */
  pick<T>(items: readonly T[]): T;
}

/** Makes dice from a seed. */
export function diceOf(seed: number): Dice {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0;

  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const below = (count: number): number => Math.floor(roll() * count);
  return {
    roll,
    below,
    chance: (part) => roll() < part,
    pick: (items) => items[below(items.length)] as never,
  };
}
