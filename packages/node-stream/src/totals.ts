// Some servers give no total with the last page of a list, and some proxies drop it now and then.
// Then one row of the list is asked for: its page has a total, unless that row is all of the list.

/** The rows of a page, and the total of its list; null when it does not say. */
export interface PageTotal {
  readonly rows: number;
  readonly total: number | null;
}

/** Pages of one row that can be asked for. */
export interface Rows {
  /** The first or second row of the list. */
  ofList(page: 0 | 1): Promise<PageTotal>;
  /** The first row of a list that is as long as any. */
  ofAll(): Promise<PageTotal>;
}

/** What is known of the totals of a server. */
export class Totals {
  /** Whether it gives any; null while nobody knows. */
  #areGiven: boolean | null = null;

  /** The total of the list that a page is of; null when the server gives none. */
  async of(page: PageTotal, rows: Rows): Promise<number | null> {
    const total = this.#told(page);
    if (total !== null || page.rows === 0 || this.#areGiven === false) return total;
    const first = await rows.ofList(0);
    if (this.#told(first) !== null) return first.total;
    if (page.rows === 1) return this.#ofOne(rows);
    this.#areGiven ??= false;
    return null;
  }

  /** How many rows a list has; null when the server does not say. */
  async count(rows: Rows): Promise<number | null> {
    const first = await rows.ofList(0);
    const total = this.#told(first);
    if (total !== null || first.rows === 0) return total ?? 0;
    return this.#areGiven === false ? null : this.#ofOne(rows);
  }

  /** The total of a list whose first row is its last page. */
  async #ofOne(rows: Rows): Promise<number | null> {
    const second = await rows.ofList(1);
    if (this.#told(second) !== null || second.rows > 0) return second.total;
    this.#areGiven ??= this.#told(await rows.ofAll()) !== null;
    return this.#areGiven ? 1 : null;
  }

  #told({ total }: PageTotal): number | null {
    if (total !== null) this.#areGiven = true;
    return total;
  }
}
