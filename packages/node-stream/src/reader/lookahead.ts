/** How far pages may be fetched ahead of the consumer. */
export interface LookaheadLimits {
  readonly pages: number;
  readonly bytes: number;
  /**
   * It goes on where a run was cut, and may be cut again: no more is fetched ahead than one page, or a
   * twentieth of those that have come. Default false.
   */
  readonly isCareful?: boolean;
}

/**
 * How many pages may be held at once. It begins at half and doubles each time the consumer had to wait, so that a consumer
 * slower than the network is never read far ahead for; it shrinks when all that was asked for is ready.
 */
export interface Lookahead {
  readonly limits: LookaheadLimits;
  readonly depth: number;
  /** Pages that came, and their bytes: the mean is the guess for one on its way. */
  readonly pages: number;
  readonly bytes: number;
}

/** The lookahead before anything was read. */
export function lookaheadOf(limits: LookaheadLimits): Lookahead {
  const depth = limits.isCareful ? 1 : Math.max(Math.min(2, limits.pages), limits.pages >> 1);
  return { limits, depth, pages: 0, bytes: 0 };
}

/** Learns from how the consumer, when it wanted more, found the pages: their sizes, null for those on their way. */
export function lookaheadAfter(lookahead: Lookahead, held: readonly (number | null)[]): Lookahead {
  const { depth, limits, pages } = lookahead;
  const most = limits.isCareful ? Math.min(limits.pages, Math.max(1, Math.floor(pages / 20))) : limits.pages;
  if (held[0] === null) return { ...lookahead, depth: Math.min(most, depth * 2) };
  if (held.every((size) => size !== null)) return { ...lookahead, depth: Math.max(1, depth - 1) };
  return lookahead;
}

/** Whether another page may be requested besides those held. */
export function mayHoldMore(lookahead: Lookahead, held: readonly (number | null)[]): boolean {
  const { limits, depth, pages, bytes } = lookahead;
  const mean = pages === 0 ? 0 : bytes / pages;
  const expected = held.reduce<number>((sum, size) => sum + (size ?? mean), mean);
  return held.length < depth && expected <= limits.bytes;
}
