import { StreamError } from '../errors.ts';
import type { Range, ReadState, Stretch } from '../proof.ts';
import { judge, mostTries } from './allowed.ts';
import { type Answer, type Item, Misplaced, type SliceOptions } from './list.ts';
import type { Requests } from './requests.ts';
import type { Seen } from './seen.ts';

/** A page of a range that is read page by page. */
export interface Part<I extends Item> {
  readonly items: readonly I[];
  /** Ids that come again with what follows. */
  readonly border: readonly string[];
  /** How many the server counts in the range. */
  readonly total: number | null;
  /** What was read with it; null while the range goes on. */
  readonly stretch: Stretch | null;
  /** How far it is; null at its end. */
  readonly pages: ReadState['pages'];
}

/**
 * Reads a range that cannot be cut, or has no totals, page by page, and proves it where all of its
 * totals agree.
 *
 * @param given its first page, where that came.
 * @param begun how far an earlier run has read it.
 */
export async function* byPages<I extends Item>(
  range: Range,
  given: Answer<I> | null,
  begun: ReadState['pages'],
  requests: Requests<I>,
  seen: Seen<I>,
  options: SliceOptions,
): AsyncGenerator<Part<I>, void, void> {
  // A server that gives fewer rows than it was asked for counts its pages by what it gives.
  const isNumbered = given !== null && given.items.length > 0 && given.next === undefined;
  const most = isNumbered ? given.items.length : options.rows;
  const rows = begun?.rows ?? Math.min(most, options.rows);
  const cursors = new Set<string | number>();
  const shared = new Set<string>();
  const atEnd = new Map<string, number>(begun === null ? [] : seen.borders);
  const least = range.to === null ? Number.POSITIVE_INFINITY : range.to - options.step;
  let total: number | null | undefined;
  let answer = given;
  let got = 0;
  let calls = begun?.calls ?? 0;
  let after = begun?.after ?? null;
  let isProvable = begun === null;
  for (let page = begun?.done ?? 0; ; page += 1) {
    let next = answer ?? (await requests.ask(range, { page, rows, after }));
    for (let tries = 1; next instanceof Misplaced && tries < mostTries; tries += 1)
      next = await requests.ask(range, { page, rows, after });
    answer = null;
    if (next instanceof Misplaced) throw next.cause;
    if (judge(next, range, options) === 'outside') throw new StreamError('range_ignored');
    total = total === undefined ? next.total : total;
    isProvable &&=
      total !== null &&
      (next.total === total || next.items.length === 0) &&
      next.next === undefined;
    const fresh: I[] = [];
    const before = shared.size;
    for (const item of next.items) {
      if (seen.add(item)) fresh.push(item);
      else if (seen.mayComeAgain(item, range)) shared.add(item.id);
      if (item.at >= least) atEnd.set(item.id, item.at);
    }
    got += next.items.length;
    calls += fresh.length;
    if (fresh.length > 0) requests.brought();
    const cursor = next.next;
    const isCursor = typeof cursor === 'string' || typeof cursor === 'number';
    if (isCursor) {
      if (cursors.has(cursor))
        throw new StreamError(
          'too_many_requests',
          'The list gave a cursor twice: it would go on without end.',
        );
      cursors.add(cursor);
      after = cursor;
    }

    // A full page that ends with the total may come from a server that counts no further.
    const isDone = total !== null && got >= total && next.items.length < rows;
    const isSame = fresh.length === 0 && shared.size === before;
    if (isCursor || !(cursors.size > 0 || next.next === null || isSame || isDone)) {
      const pages = { done: page + 1, rows, after, calls, left: 0 };
      const ids = next.items.map(({ id }) => id);
      const border = [...new Set([...seen.border, ...atEnd.keys(), ...ids])];
      yield { items: fresh, border, total, stretch: null, pages };
      continue;
    }
    seen.setBorder(atEnd);
    const missing = total === null ? 0 : total - calls - shared.size;
    let judged: Pick<Stretch, 'is' | 'why' | 'missing'> = { is: 'unproven', why: 'unsteady' };
    if (total === null) judged = { is: 'unproven', why: 'no_total' };
    else if (isProvable && missing > 0) judged = { is: 'short', why: 'fewer', missing };
    else if (isProvable && missing === 0 && got === total) judged = { is: 'proved' };
    const { from, to } = range;
    const counts = { counted: total, shared: shared.size, calls, at: null };
    const stretch = { ...judged, from, to, ...counts };
    yield { items: fresh, border: seen.border, total, stretch, pages: null };
    return;
  }
}
