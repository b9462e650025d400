import fc from 'fast-check';
import type { Bound, Clause, Filter } from '../src/index.ts';

/** How many cases a law tries; CALLS_RUNS raises it. */
export const runs = Number(process.env.CALLS_RUNS ?? 300);

const two = (value: number): string => String(value).padStart(2, '0');

/** Dates in a narrow span of days, so that ranges meet. */
export const dateText = fc
  .tuple(
    fc.integer({ min: 1, max: 28 }),
    fc.integer({ min: 0, max: 23 }),
    fc.constantFrom(0, 30, 59),
  )
  .map(([day, hour, minute]) => `2024-02-${two(day)} ${two(hour)}:${two(minute)}:00`);

/** Decimal numbers in tenths, some below zero. */
export const decimalText = fc.integer({ min: -30, max: 120 }).map((tenths) => String(tenths / 10));

function byValue(a: string, b: string): number {
  if (a[4] !== '-') return Number(a) - Number(b);
  return a < b ? -1 : 1;
}

function range(field: string, text: fc.Arbitrary<string>): fc.Arbitrary<Clause> {
  return fc
    .tuple(text, text, fc.boolean(), fc.boolean(), fc.integer({ min: 0, max: 9 }))
    .map(([one, other, from, to, open]) => {
      const [low = '', high = ''] = [one, other].sort(byValue);
      const bound = (value: string, inclusive: boolean): Bound => ({ text: value, inclusive });
      return {
        kind: 'range',
        field,
        lower: open === 0 || open === 2 ? null : bound(low, from),
        upper: open === 1 || open === 2 ? null : bound(high, to),
      };
    });
}

const flag: Clause = { kind: 'flag', field: 'inc_gce' };

/** Built filters: no offsets, canonical bounds. */
export const filters: fc.Arbitrary<Filter> = fc
  .array(
    fc.oneof(range('date_added', dateText), range('talk_minutes', decimalText), fc.constant(flag)),
    {
      maxLength: 6,
    },
  )
  .map((clauses) => ({ clauses }));

/** The tree without offsets. */
export function bare(filter: Filter): Filter {
  const bound = (each: Bound | null) => each && { text: each.text, inclusive: each.inclusive };
  return {
    clauses: filter.clauses.map((clause) =>
      clause.kind === 'flag'
        ? { kind: 'flag', field: clause.field }
        : {
            kind: 'range',
            field: clause.field,
            lower: bound(clause.lower),
            upper: bound(clause.upper),
          },
    ),
  };
}
