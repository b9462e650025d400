import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Settled } from '../src/reader/checkpoint.ts';
import { spansToCount, withCounted } from '../src/reader/settled.ts';

const start = Date.UTC(2026, 0, 1);
const at = (hours: number): number => start + hours * 3_600_000;
const whole = { from: null, to: null };

/** What is kept after slices of an hour each with so many records, read up to the end of the hour `before`. */
function settledOf(counts: readonly number[], before = counts.length, strays: readonly number[] = []) {
  const empty: Settled = { before: at(before), stretches: [] };
  return counts.reduce(
    (settled, count, i) =>
      withCounted(settled, {
        span: { from: i === 0 ? null : at(i), to: i === counts.length - 1 ? null : at(i + 1) },
        count,
        hasStrays: strays.includes(i),
      }),
    empty,
  );
}

describe('the counts at the end', () => {
  test.each([
    { pages: 1, counts: 1 },
    { pages: 50, counts: 1 },
    { pages: 51, counts: 2 },
    { pages: 400, counts: 8 },
    { pages: 5000, counts: 16 },
  ])('$pages pages are counted in $counts', ({ pages, counts }) => {
    const settled = settledOf(Array.from({ length: pages }, () => 100));
    expect(spansToCount(settled, whole, 100)).toHaveLength(counts);
  });

  test('together they are the whole range and all that was read, in a bounded number of stretches', () => {
    const slices = fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        slices,
        fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 50 }),
        (counts, strays, rows) => {
          const settled = settledOf(counts, counts.length, strays);
          expect(settled.stretches.length).toBeLessThanOrEqual(24);
          const spans = spansToCount(settled, { from: null, to: at(500) }, rows);
          expect(spans[0]?.span.from).toBeNull();
          expect(spans.at(-1)?.span.to).toBe(at(500));
          for (const [i, { span }] of spans.slice(1).entries()) expect(span.from).toBe(spans[i]?.span.to);
          // Each holds what the slices inside it held.
          for (const { span, read } of spans) {
            const inside = counts.filter(
              (_, i) => at(i) >= (span.from ?? 0) && at(i) < (span.to ?? Number.POSITIVE_INFINITY),
            );
            expect(read).toBe(inside.reduce((sum, count) => sum + count, 0));
          }
          // No border lies before a slice with records of an earlier one.
          const last = Math.max(-1, ...strays.filter((i) => i < counts.length));
          for (const { span } of spans.slice(1)) expect(span.from).toBeGreaterThan(at(last));
        },
      ),
    );
  });

  test('stretches are of about equal size, whatever the slices were', () => {
    const settled = settledOf(Array.from({ length: 1000 }, (_, i) => 50 + ((i * 37) % 100)));
    const sizes = spansToCount(settled, whole, 5).map(({ read }) => read);
    expect(sizes).toHaveLength(16);
    expect(Math.max(...sizes)).toBeLessThan(4 * Math.min(...sizes));
  });

  test('slices after the time up to which is counted are left out, and one across it ends there', () => {
    const { stretches } = settledOf([5, 5, 0, 0], 2);
    expect(stretches).toEqual([
      [at(1), 5],
      [at(2), 5],
    ]);
  });
});
