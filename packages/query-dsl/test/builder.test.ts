import { describe, expect, it } from 'vitest';
import {
  allOf,
  type FilterBuilder,
  FilterSyntaxError,
  matcher,
  parse,
  printFilter,
  toFilter,
  where,
} from '../src/index.ts';

// What a caller without types may pass.
const unbounded = where('talk_minutes') as unknown as FilterBuilder;

describe('where', () => {
  it.each([
    [
      where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00'),
      'date_added:[2024-01-01 00:00:00 TO 2024-02-01 00:00:00}',
    ],
    [where('talk_minutes').atLeast(2), 'talk_minutes:[2 TO *]'],
    [where('talk_minutes').above(2).atMost(5), 'talk_minutes:{2 TO 5]'],
    [where('talk_minutes').below(5).above(2), 'talk_minutes:{2 TO 5}'],
    [where('talk_minutes').from('02.50'), 'talk_minutes:[2.5 TO *]'],
    [where('talk_minutes').atLeast(1e21), 'talk_minutes:[1000000000000000000000 TO *]'],
    [where('talk_minutes').atLeast(-1.5e-7), 'talk_minutes:[-0.00000015 TO *]'],
    [where('talk_minutes').atLeast(-0), 'talk_minutes:[0 TO *]'],
    [allOf(), ''],
    [
      allOf(where('talk_minutes').atLeast(2), parse('inc_gce:1')),
      'talk_minutes:[2 TO *],inc_gce:1',
    ],
    [
      allOf('inc_gce:1', allOf(where('talk_minutes').atLeast(2))),
      'inc_gce:1,talk_minutes:[2 TO *]',
    ],
  ])('%# builds %2$s', (builder, text) => {
    expect(String(builder)).toBe(text);
    expect(printFilter(builder)).toBe(text);
    expect(printFilter(builder.toFilter())).toBe(text);
    expect(printFilter(toFilter(builder))).toBe(text);
  });

  it('does not change the builder it is called on', () => {
    const some = where('talk_minutes').atLeast(2);
    some.below(5);
    expect(String(some)).toBe('talk_minutes:[2 TO *]');
  });

  it.each([
    ['toFilter', () => toFilter(unbounded)],
    ['allOf', () => allOf(unbounded)],
    ['printFilter', () => printFilter(unbounded)],
    ['matcher', () => matcher(unbounded)],
    ['String', () => String(unbounded)],
  ])('is no filter for %s before it has a bound', (_, run) => {
    expect(run).toThrow(
      "where('talk_minutes') has no bound yet. Add one, such as where('talk_minutes').atLeast(2); the filter for any value is 'talk_minutes:[* TO *]'.",
    );
  });

  it.each([
    ['2023-02-30 00:00:00', 'Expected a date that exists'],
    ['2024-01-01', 'YYYY-MM-DD HH:MM:SS'],
    ['5', 'YYYY-MM-DD HH:MM:SS'],
    ['*', 'YYYY-MM-DD HH:MM:SS'],
    ['', 'YYYY-MM-DD HH:MM:SS'],
    ['2024-01-01 00:00:00 TO *],inc_gce:1,date_added:[2024-01-01 00:00:00', 'Expected a date'],
  ])('refuses the date %j', (text, words) => {
    expect(() => where('date_added').from(text)).toThrow(words);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '1e3', '', '2 TO 5', '*'])(
    'refuses the number %j',
    (value) => {
      expect(() => where('talk_minutes').atLeast(value as number)).toThrow();
    },
  );

  it('refuses a lower bound above the upper one, and a bound set twice', () => {
    expect(() => where('talk_minutes').atLeast(9).below(2)).toThrow(FilterSyntaxError);
    const twice = where('talk_minutes').atLeast(2) as unknown as { above(value: number): unknown };
    expect(() => twice.above(1)).toThrow('The lower bound of talk_minutes is already set.');
  });

  it.each([
    'tlk_minutes',
    'inc_gce',
    'constructor',
    '',
    'inc_gce:1,talk_minutes',
    'talk_minutes:[1 TO 2],date_added',
  ])('refuses the field %j', (field) => {
    expect(() => where(field as 'talk_minutes')).toThrow(FilterSyntaxError);
  });
});

describe('toFilter', () => {
  it('takes a string, a tree or a builder', () => {
    const filter = where('talk_minutes').atLeast(2);
    for (const input of ['talk_minutes:[2 TO *]', filter, filter.toFilter()])
      expect(printFilter(toFilter(input))).toBe('talk_minutes:[2 TO *]');
  });

  it('is not needed to print a text', () => {
    expect(printFilter('talk_minutes:{* TO 05.0]')).toBe('talk_minutes:[* TO 5]');
    expect(() => printFilter('talk_minuts:[1 TO *]')).toThrow(FilterSyntaxError);
  });

  it.each([undefined, null, 2, {}, { clauses: 'talk_minutes' }, []])('refuses %j', (input) => {
    expect(() => toFilter(input as unknown as string)).toThrow('A filter is a string such as');
  });
});

describe('print', () => {
  it.each(['5],inc_gce:1,x:[1', '1,2', '2024-01-01T00:00:00', '\n'])(
    'never writes more than a bound: %j',
    (text) => {
      const lower = { text, inclusive: true };
      expect(() =>
        printFilter({ clauses: [{ kind: 'range', field: 'talk_minutes', lower, upper: null }] }),
      ).toThrow(TypeError);
    },
  );
});
