/** How many records lie before a time. */
export interface KnownCount {
  /** Naive milliseconds. */
  readonly at: number;
  readonly count: number;
}

/**
 * The same counts with one more, in order of time. Counts never fall with time: where the list moved between two requests,
 * earlier counts stand and later ones are raised.
 */
export function withCount(known: readonly KnownCount[], { at, count }: KnownCount): KnownCount[] {
  const before = known.filter((one) => one.at < at);
  const least = Math.max(count, before.at(-1)?.count ?? 0);
  const after = known.filter((one) => one.at > at);
  return [
    ...before,
    { at, count: least },
    ...after.map((one) => (one.count < least ? { ...one, count: least } : one)),
  ];
}

/** The count at a time, also where the counts around it leave only one; undefined when the server has to be asked. */
export function countAt(known: readonly KnownCount[], at: number): number | undefined {
  const next = known.findIndex((one) => one.at >= at);
  const [left, right] = [known[next - 1], known[next]];
  if (right?.at === at || right?.count === left?.count) return right?.count;
  return undefined;
}
