import type { PagedSource, SourcePage } from '../src/operators/index.ts';

/** The end of a page in a list of items, with what is known there. */
export class After {
  readonly to: string | null;
  readonly checkpoint: unknown;

  constructor({ to = null, checkpoint = null }: { to?: string | null; checkpoint?: unknown } = {}) {
    this.to = to;
    this.checkpoint = checkpoint;
  }
}

/** A source that is read by pages, as a stream of calls is: `After` ends a page. */
export function paged<T>(items: Iterable<T | After>): PagedSource<T> & AsyncIterable<T> {
  async function* pages(): AsyncGenerator<SourcePage<T>> {
    let page: T[] = [];
    try {
      for (const item of items) {
        if (!(item instanceof After)) {
          page.push(item);
          continue;
        }
        const { to, checkpoint } = item;
        yield { items: page, checkpoint, slice: { to }, isLast: true };
        page = [];
      }
    } catch (error) {
      if (page.length > 0) yield { items: page, checkpoint: null };
      throw error;
    }
    if (page.length > 0) yield { items: page, checkpoint: null };
  }
  return {
    hasTime: true,
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items: some = [] } of pages()) yield* some;
    },
  };
}
