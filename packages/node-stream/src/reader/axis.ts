/** The order of a list: each item has a position in it, which is a number. */
export interface Axis {
  /** Positions are multiples of this: nothing finer can be asked for. */
  readonly step: number;
  /** The first and the last position to reckon with. No item lies at either of them. */
  readonly first: number;
  readonly last: number;
  /** A stretch that is short for this order, and one that is long: where to look on when nothing is known. */
  readonly near: number;
  readonly far: number;
  /** How far outside the range that was asked for an item may lie, from a source that does filter by position. */
  readonly slack: number;
}

/** The position at or before another that the order knows. */
export function onGrid({ step }: Axis, position: number): number {
  return Math.floor(position / step) * step;
}
