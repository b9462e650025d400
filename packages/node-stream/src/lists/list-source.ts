import { crc32 } from 'node:zlib';
import type { PageView } from '../reader/page-view.ts';
import type { Source } from '../reader/source.ts';
import { ListError, listErrorOf } from './errors.ts';
import type { List, ListFacts, ListPage, ListReaderSettings } from './list.ts';

const [second, hour] = [1000, 3_600_000];

/** A list as the reader uses it. */
export function listSource<T>(
  list: List<T>,
  { bounds, step, hasRanges }: ListFacts,
  { from, to }: Pick<ListReaderSettings, 'from' | 'to'>,
): Source<ListPage<T>> {
  const shut = (end: number | null): number | null =>
    end === null || bounds === 'half-open' ? end : end - step;
  return {
    axis: {
      step,
      first: Date.UTC(1000, 0, 1),
      last: Date.UTC(9999, 11, 31),
      near: (hour / second) * step,
      far: 366 * 24 * (hour / second) * step,
      // Where times are read on another clock, they are off by up to a day, and by an hour twice a year.
      slack: 26 * hour,
    },
    print: String,
    parse: (text) => (text.trim() === '' ? Number.NaN : Number(text)),
    async fetch({ span, rows: size, page, after, signal }) {
      const range = hasRanges
        ? { from: span.from ?? from, to: shut(span.to ?? to) }
        : { from: null, to: null };
      return checked(await list.fetch({ ...range, page, size, after, signal }));
    },
    view: (page) => viewOf(list, page),
    retriesOf: () => 0,
    failureOf: () => 'failed',
    errorOf: listErrorOf,
  };
}

function checked<T>(page: ListPage<T>): ListPage<T> {
  const problem = problemOf(page);
  if (problem === null) return page;
  throw new ListError('unexpected_page', `fetch of the list gave ${problem}.`, null);
}

function problemOf(page: unknown): string | null {
  if (typeof page !== 'object' || page === null) return 'no page: return { items, total, next }';
  const { items, total, next }: { items?: unknown; total?: unknown; next?: unknown } = page;
  if (!Array.isArray(items)) return 'a page without items: return { items: [...] }';
  if (total != null && !(Number.isSafeInteger(total) && Number(total) >= 0))
    return 'a total that is no count: give a whole number, or null when the API does not say';
  if (next != null && typeof next !== 'string' && typeof next !== 'number')
    return 'a next that is neither text nor number: give what the API says to go on with, or null at the end';
  return null;
}

function viewOf<T>(list: List<T>, { items, total = null, next }: ListPage<T>): PageView {
  return {
    count: items.length,
    first: null,
    total,
    next,
    bytes: 0,
    ids: () => items.map((item) => String(list.id(item))),
    positionOf(index) {
      const item = items[index];
      return item === undefined ? Number.NaN : list.position(item);
    },
    checksumOf: (index) => crc32(JSON.stringify(items[index]) ?? ''),
  };
}
