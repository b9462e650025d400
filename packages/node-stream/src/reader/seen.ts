// What a pass over a slice has seen. No state of the planning is ever changed, and a pass may see every record of an account,
// which is too much to copy with each page. So a `Seen` is a list of maps that stay as they are: a page adds a map, and maps of
// the same number of pages are joined to a larger one. A record is copied as often as the number of pages can be divided by
// `joined`, and a id is looked for in a few maps only.

interface Stretch {
  /** Pages that were joined to it. */
  readonly pages: number;
  /** Checksums of records by their ids. */
  readonly checksums: ReadonlyMap<string, number>;
}

/** The ids that a pass has met, each with the checksum of its record. The stretches get shorter from the first to the last. */
export type Seen = readonly Stretch[];

/** In place of a checksum: the record was met, but delivered by an earlier run. */
export const deliveredBefore = 2 ** 32;

/** So many maps of the same number of pages become one. */
const joined = 4;

/** The checksum of a record that was met, or undefined. */
export function checksumIn(seen: Seen, id: string): number | undefined {
  for (const { checksums } of seen) {
    const checksum = checksums.get(id);
    if (checksum !== undefined) return checksum;
  }
  return undefined;
}

/** The same with one page more, of ids and the checksums of their records. None of the ids has been met before. */
export function withPage(seen: Seen, records: Iterable<readonly [id: string, checksum: number]>): Seen {
  const next: Stretch[] = [...seen, { pages: 1, checksums: new Map(records) }];
  for (;;) {
    const [first, ...others] = next.slice(-joined);
    if (first === undefined || others.length < joined - 1 || first.pages !== others.at(-1)?.pages)
      return next;
    const checksums = new Map(first.checksums);
    for (const other of others) for (const [id, checksum] of other.checksums) checksums.set(id, checksum);
    next.splice(-joined, joined, { pages: first.pages * joined, checksums });
  }
}
