/** A part of a string, and what it is. */
export interface Span {
  /** `phone`, `email`, `ip`, `card`, `iban`, `number`, `value`, or the kind of a known value. */
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}
