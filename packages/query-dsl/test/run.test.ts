import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bound, type Filter, matcher, parse, simplify } from '../src/index.ts';
import { dateText, decimalText, filters, runs } from './arbitrary.ts';

interface Row {
  readonly date_added: string | null;
  readonly talk_minutes: string | null;
  readonly channel: string | null;
}

// Records in wire form: every field a string or null.
const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.record({
    date_added: fc.option(dateText, { freq: 9 }),
    talk_minutes: fc.option(decimalText, { freq: 9 }),
    channel: fc.constantFrom('Tracker', 'Call Extension', null),
  }),
  { minLength: 5, maxLength: 25 },
);

// What a filter means, clause by clause and without a thought for speed.
function means({ clauses }: Filter, row: Row): boolean {
  return clauses.every((clause) => {
    if (clause.kind === 'flag') return true;
    const isDate = clause.field === 'date_added';
    const value = isDate ? row.date_added : row.talk_minutes;
    if (value === null) return false;
    const order = (bound: Bound): number =>
      isDate ? value.localeCompare(bound.text, 'en') : Number(value) - Number(bound.text);
    const { lower, upper } = clause;
    const isAbove = lower === null || order(lower) > 0 || (lower.inclusive && order(lower) === 0);
    return (
      isAbove && (upper === null || order(upper) < 0 || (upper.inclusive && order(upper) === 0))
    );
  });
}

describe('a matcher', () => {
  it('matches the records that every clause matches', () => {
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        expect(records.filter(matcher(filter))).toEqual(
          records.filter((row) => means(filter, row)),
        );
      }),
      { numRuns: runs },
    );
  });

  it('leaves out call extensions when they are not asked for', () => {
    const isExtension = (value: unknown): boolean => value === 'Call Extension';
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        const match = matcher(filter, { callExtensions: { channel: 'channel', isExtension } });
        const isFlagged = filter.clauses.some(({ kind }) => kind === 'flag');
        expect(records.filter(match)).toEqual(
          records.filter(
            (row) => means(filter, row) && (isFlagged || row.channel !== 'Call Extension'),
          ),
        );
      }),
      { numRuns: runs },
    );
  });

  it('matches the same records before and after simplify', () => {
    fc.assert(
      fc.property(filters, rows, (filter, records) => {
        expect(records.filter(matcher(simplify(filter)))).toEqual(records.filter(matcher(filter)));
      }),
      { numRuns: runs },
    );
  });

  const takes = (text: string, values: readonly unknown[]): unknown[] =>
    values.filter((talk_minutes) => matcher(parse(text))({ talk_minutes }));

  it('compares decimal strings as numbers', () => {
    expect(
      takes('talk_minutes:[2 TO 10}', ['1.9', '2', '2.0', '9.9', '10', '10.0', '-3', 5]),
    ).toEqual(['2', '2.0', '9.9', 5]);
  });

  it.each([
    [
      'talk_minutes:[* TO 5]',
      [null, undefined, '', ' ', 'many', '0x1', '1e0', {}, true, Number.NaN],
    ],
    [
      'talk_minutes:[-1 TO *]',
      [null, undefined, '', ' ', 'many', '0x1', '1e0', {}, true, Number.NaN],
    ],
  ])('%s matches nothing that is not a number', (text, values) => {
    expect(takes(text, values)).toEqual([]);
  });

  it('matches any value but null when both ends are open', () => {
    expect(takes('talk_minutes:[* TO *]', ['', '5', 'x', null, undefined])).toEqual(['', '5', 'x']);
    expect(matcher(parse('talk_minutes:[* TO *]'))({})).toBe(false);
  });

  it('compares dates as strings, even with fractions of a second', () => {
    const match = matcher(
      parse('talk_start:[2024-01-01 00:00:00 TO 2024-01-02 00:00:00}', {
        fields: { talk_start: 'date' },
      }),
    );
    const starts = [
      '2023-12-31 23:59:59.9',
      '2024-01-01 00:00:00',
      '2024-01-01 23:59:59.9',
      '2024-01-02 00:00:00',
      null,
      7,
    ];
    expect(starts.filter((talk_start) => match({ talk_start }))).toEqual([
      '2024-01-01 00:00:00',
      '2024-01-01 23:59:59.9',
    ]);
  });

  it('never looks at a field named inc_gce', () => {
    const match = matcher('inc_gce:1');
    expect(match({ inc_gce: '0' })).toBe(true);
    expect(match({})).toBe(true);
  });

  it('matches everything without a filter', () => {
    expect(matcher(parse(''))({})).toBe(true);
  });
});

describe('simplify', () => {
  it.each([
    [
      'talk_minutes:[1 TO 9],inc_gce:1,talk_minutes:{2 TO *],inc_gce:1',
      'talk_minutes:{2 TO 9],inc_gce:1',
    ],
    ['talk_minutes:[1 TO 2],talk_minutes:[3 TO 4]', 'talk_minutes:[3 TO 3}'],
    ['talk_minutes:[* TO *],date_added:[* TO *]', 'talk_minutes:[* TO *],date_added:[* TO *]'],
    ['', ''],
  ])('%j becomes %j', (text, simple) => {
    expect(simplify(parse(text))).toEqual({
      clauses: parse(simple).clauses.map(({ start, end, ...clause }) => {
        if (clause.kind === 'flag') return clause;
        const bare = (bound: typeof clause.lower) =>
          bound && { text: bound.text, inclusive: bound.inclusive };
        return { ...clause, lower: bare(clause.lower), upper: bare(clause.upper) };
      }),
    });
  });

  it('refuses a field with dates and numbers', () => {
    const bound = (text: string) => ({ text, inclusive: true });
    const clause = { kind: 'range', field: 'x', upper: null } as const;
    const mixed = {
      clauses: [
        { ...clause, lower: bound('1') },
        { ...clause, lower: bound('2024-01-01 00:00:00') },
      ],
    };
    expect(() => simplify(mixed)).toThrow('mix dates and numbers');
  });
});
