/** A half-open range of positions: `from` is included, `to` is not. A null end is the end of the whole read, or open. */
export interface Span {
  /** The first position of it. */
  readonly from: number | null;
  /** The first position after it. */
  readonly to: number | null;
}

/**
 * How the upper end of a range is asked for. `half-open` leaves it out, as in `[a TO b}`; `closed` names the last position
 * before it, as in `[a TO b - 1 s]`.
 */
export type BoundStyle = 'half-open' | 'closed';
