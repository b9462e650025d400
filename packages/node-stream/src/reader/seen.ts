import { IdSet } from '../ids.ts';
import type { Range } from '../proof.ts';
import type { Item, SliceOptions } from './list.ts';

/** The items of a slice, sorted. */
export interface Sorted<I extends Item> {
  /** Those that nobody has delivered. */
  readonly fresh: readonly I[];
  /** How many were delivered with the slice before. */
  readonly shared: number;
  /** Ids of those that were delivered and have no reason to come again. */
  readonly doubled: readonly string[];
}

/** Which items were delivered, and which of them may come again with what follows. */
export class Seen<I extends Item> {
  readonly #options: SliceOptions;
  readonly #asked: Range;
  readonly #seen = new IdSet();
  /** Those of an earlier run, of which only the id is known. */
  readonly #restored: ReadonlySet<string>;
  /** Ids that may come again, with where they lie. */
  #border: ReadonlyMap<string, number>;

  constructor(asked: Range, options: SliceOptions) {
    const ids = options.from?.border ?? [];
    const at = (asked.from ?? Number.NEGATIVE_INFINITY) + options.stray;
    this.#options = options;
    this.#asked = asked;
    this.#restored = new Set(ids);
    this.#border = new Map(ids.map((id) => [id, at]));
    for (const id of ids) this.#seen.add(id);
  }

  has(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Ids that come again with what follows. */
  get border(): readonly string[] {
    return [...this.#border.keys()];
  }

  /** The same with where they lie. */
  get borders(): ReadonlyMap<string, number> {
    return this.#border;
  }

  setBorder(border: ReadonlyMap<string, number>): void {
    this.#border = border;
  }

  /** Adds an item that is delivered. False when it was delivered before. */
  add({ id }: I): boolean {
    return this.#seen.add(id);
  }

  /** Sorts the items of a slice, which are delivered then. */
  sort(items: readonly I[], range: Range): Sorted<I> {
    const fresh: I[] = [];
    const doubled: string[] = [];
    let shared = 0;
    for (const item of items) {
      if (this.add(item) && !this.#isElsewhere(item)) fresh.push(item);
      else if (this.mayComeAgain(item, range)) shared += 1;
      else doubled.push(item.id);
    }

    return { fresh, shared, doubled };
  }

  /** Keeps the ids of a slice that may come with what follows. */
  keepBorder(items: readonly I[], { to }: Range): void {
    const least = to === null ? Number.POSITIVE_INFINITY : to - this.#options.step;
    const border = new Map([...this.#border].filter(([, at]) => at >= least));
    for (const { id, at } of items) if (at >= least) border.set(id, at);
    this.#border = border;
  }

  /**
   * Whether an item that was delivered may come with this range, too: at a border, or where the
   * clock of the server was changed.
   */
  mayComeAgain({ id, at }: I, { from, to }: Range): boolean {
    return (
      this.#border.get(id) === at ||
      this.#restored.has(id) ||
      (from !== null && at < from) ||
      (to !== null && at > to)
    );
  }

  /**
   * Whether another range has brought an item, too, although it lies at none of the ends that they
   * may share.
   */
  #isElsewhere({ id, at }: I): boolean {
    const { others, stray } = this.#options;
    if (others === null || others.add(id)) return false;
    const { from, to } = this.#asked;
    return (from === null || at > from + stray) && (to === null || at < to - stray);
  }
}
