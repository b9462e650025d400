// What a pass over a slice has seen. The planning never changes a state it was given, and a pass may see every record of
// an account, which is too much to copy with each page. So each `Seen` is a number of pages into a table that only grows.
// Adding to the newest one extends the table in place, which older ones do not notice; adding to an older one copies.

interface Table {
  pages: number;
  /** By sid: the page it came on, and the checksum of its bytes. Packed into one number, since there may be millions. */
  readonly marks: Map<string, number>;
}

/** The sids that a pass has met, each with the checksum of its record. */
export interface Seen {
  readonly pages: number;
  readonly table: Table;
}

/** In place of a checksum: the record was met, but delivered by an earlier run. */
export const deliveredBefore = 2 ** 32;

const pageUnit = 2 ** 33;

/** A pass that has met nothing. */
export function nothingSeen(): Seen {
  return { pages: 0, table: { pages: 0, marks: new Map() } };
}

/** The checksum of a record that was met, or undefined. */
export function checksumIn({ pages, table }: Seen, sid: string): number | undefined {
  const mark = table.marks.get(sid);
  return mark === undefined || mark >= pages * pageUnit ? undefined : mark % pageUnit;
}

/** The same with one page more. None of the sids has been met before. */
export function withPage(seen: Seen, sids: readonly string[], checksums: readonly number[]): Seen {
  const { pages } = seen;
  const table = seen.table.pages === pages ? seen.table : copyOf(seen);
  for (const [i, sid] of sids.entries()) table.marks.set(sid, pages * pageUnit + (checksums[i] as number));
  table.pages = pages + 1;
  return { pages: pages + 1, table };
}

function copyOf({ pages, table }: Seen): Table {
  return { pages, marks: new Map([...table.marks].filter(([, mark]) => mark < pages * pageUnit)) };
}
