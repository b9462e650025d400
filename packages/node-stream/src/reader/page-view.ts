/** What the planning needs to know of a page. Everything is read from the page on demand; nothing else is kept. */
export interface PageView {
  readonly count: number;
  /** Place of the first item in the list, from 1, and the length of the list; null when the source did not say. */
  readonly first: number | null;
  readonly total: number | null;
  /** Where the list goes on; null at its end. Undefined when the source does not say. */
  readonly next?: Cursor | null | undefined;
  readonly bytes: number;
  /** The id of each item. */
  ids(): readonly string[];
  /** The position of one item; NaN when it has none. */
  positionOf(index: number): number;
  /** A checksum of one item, from 0 to 2 ** 32 - 1. */
  checksumOf(index: number): number;
}

/** What a source gives to ask for the page after one. */
export type Cursor = string | number;
