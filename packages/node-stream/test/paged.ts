import { checkCheckpoint, checkpointOf } from '../src/checkpoint.ts';
import type { Checkpoint, Page, ReadFacts, Source } from '../src/page.ts';

/** Pages in memory as a source that can be resumed, as a stream of calls is. */
export class Paged<T> implements Source<T> {
  of: string | null = 'pages';
  calls: 'v2' | 'v3' | null = null;
  hasTime = true;
  startsAt: Checkpoint | null = null;
  facts: ReadFacts | null = null;
  signal: AbortSignal | null = null;
  verdict: Source<T>['verdict'] = () => null;
  /** Pages that were given, and whether the source was left or ended. */
  given = 0;
  isOver = false;
  readonly #pages: (at: number) => { items: readonly T[]; to?: string } | null;

  /**
   * A list of pages; or a function of the number of items before it. `to`: how far time has come.
   */
  constructor(
    pages:
      | readonly { items: readonly T[]; to?: string }[]
      | ((at: number) => { items: readonly T[]; to?: string } | null),
  ) {
    if (typeof pages === 'function') this.#pages = pages;
    else {
      const begins = pages.map((_, i) =>
        pages.slice(0, i).reduce((sum, { items }) => sum + items.length, 0),
      );
      let last = -1;
      this.#pages = (at) => {
        // Pages without items come once.
        const next = begins.findIndex((begin, i) => begin === at && i > last);
        last = next;
        return pages[next] ?? null;
      };
    }
  }

  async *pages(from: Checkpoint | null = null): AsyncGenerator<Page<T>, void, void> {
    let at = from === null ? 0 : (checkCheckpoint(from, this.of ?? '').read as { at: number }).at;
    try {
      for (let page = this.#pages(at); page !== null; page = this.#pages(at)) {
        at += page.items.length;
        this.given += 1;
        await new Promise((resolve) => setImmediate(resolve));
        yield {
          items: page.items,
          range: { from: null, to: page.to ?? null },
          checkpoint: checkpointOf(this.of ?? '', { at }),
        };
      }
    } finally {
      this.isOver = true;
    }
  }
}

/** Items in pages of one size. */
export function pagesOf<T>(items: readonly T[], size: number): Paged<T> {
  return new Paged((at) => (at < items.length ? { items: items.slice(at, at + size) } : null));
}
