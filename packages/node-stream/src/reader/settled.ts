import type { Settled } from './checkpoint.ts';
import type { Span } from './span.ts';

// What the counts at the end have to find. One sum for a whole read cannot tell five calls that were removed from five that
// came late behind the reader; several counts can, unless both fall into the same stretch.

// Stretches that a checkpoint keeps: more than are counted, so that these come out of about equal size.
const mostKept = 24;
/** One count for so many pages, and not more counts than these: for a read, and for a sync. */
export const pagesPerCount = 50;
/** See `pagesPerCount`. */
export const mostCounts = 16;

/**
 * Adds a slice that was read. `hasStrays`: records of it had come with an earlier slice, so the server counts them in both,
 * and no border may lie between. `cap`: so many items cannot be counted at once.
 */
export function withCounted(
  { before, stretches }: Settled,
  { span: { from, to }, count, hasStrays }: { span: Span; count: number; hasStrays: boolean },
  cap = Number.POSITIVE_INFINITY,
): Settled {
  if (from !== null && from >= before) return { before, stretches };
  const end = Math.min(to ?? before, before);
  const around = stretches.findIndex(([until]) => until >= end);
  const all =
    around < 0
      ? [...stretches, [end, count] as const]
      : stretches.map(([until, sum], i) => [until, i === around ? sum + count : sum] as const);
  const at = around < 0 ? stretches.length : around;
  const joined = hasStrays ? [...join(all.slice(0, at + 1)), ...all.slice(at + 1)] : all;
  return { before, stretches: joined.length > mostKept ? withFewer(joined, cap) : joined };
}

/** What to count at the end of a read with so many rows a page: one span for each 50 pages, of about equal size. `cap`: so many items cannot be counted at once. */
export function spansToCount(
  { stretches }: Settled,
  whole: Span,
  rows: number,
  cap?: number,
): { span: Span; read: number }[] {
  const total = stretches.reduce((sum, [, count]) => sum + count, 0);
  const counts = Math.min(mostCounts, Math.max(1, Math.ceil(total / rows / pagesPerCount)));
  const spans: { span: Span; read: number }[] = [];
  let [from, read, done] = [whole.from, 0, 0];
  // What comes after the last border belongs to the last span, as do calls that nobody expected there.
  for (const [i, [to, count]] of stretches.slice(0, -1).entries()) {
    read += count;
    if (cap !== undefined && read + (stretches[i + 1]?.[1] ?? 0) < cap) continue;
    const isFew = spans.length + 1 === counts || done + read < (total * (spans.length + 1)) / counts;
    if (cap === undefined && isFew) continue;
    spans.push({ span: { from, to }, read });
    [from, read, done] = [to, 0, done + read];
  }
  return [...spans, { span: { from, to: whole.to }, read: total - done }];
}

/** Joins the two neighbors that are smallest together, unless they can no longer be counted at once. */
function withFewer(stretches: Settled['stretches'], cap: number): Settled['stretches'] {
  const sums = stretches.slice(1).map(([, count], i) => count + (stretches[i]?.[1] ?? 0));
  const least = Math.min(...sums);
  if (least >= cap) return stretches;
  const at = sums.indexOf(least);
  return [...stretches.slice(0, at), ...join(stretches.slice(at, at + 2)), ...stretches.slice(at + 2)];
}

function join(stretches: Settled['stretches']): Settled['stretches'] {
  const last = stretches.at(-1);
  return last ? [[last[0], stretches.reduce((sum, [, count]) => sum + count, 0)]] : [];
}
