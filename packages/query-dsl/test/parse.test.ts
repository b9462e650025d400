import { describe, expect, it } from 'vitest';
import {
  allOf,
  includeCallExtensions,
  matcher,
  parse,
  print,
  safeParse,
  toQueryParam,
  toSql,
  where,
} from '../src/index.ts';

describe('a filter', () => {
  const text = 'date_added:[2024-01-01 00:00:00 TO 2024-02-01 00:00:00},talk_minutes:[2 TO *],inc_gce:1';

  it('is read into clauses with offsets', () => {
    expect(parse('talk_minutes:{2.50 TO *]')).toEqual({
      clauses: [
        {
          kind: 'range',
          field: 'talk_minutes',
          lower: { text: '2.5', inclusive: false, start: 14, end: 18 },
          upper: null,
          start: 0,
          end: 24,
        },
      ],
    });
  });

  it('prints as it was written', () => {
    expect(print(parse(text))).toBe(text);
  });

  it('is built from code', () => {
    const built = allOf(
      where('date_added').from('2024-01-01 00:00:00').before('2024-02-01 00:00:00'),
      where('talk_minutes').atLeast(2),
      includeCallExtensions(),
    );
    expect(String(built)).toBe(text);
    expect(toQueryParam(built)).toMatch(/^date_added%3A%5B2024-01-01%2000/);
  });

  it('matches records and becomes SQL', () => {
    const match = matcher(parse('talk_minutes:[2 TO 10}'));
    expect(
      ['1.9', '2', '9.9', '10', '10.0', '', null].filter((talk_minutes) => match({ talk_minutes })),
    ).toEqual(['2', '9.9']);
    expect(
      toSql(parse('talk_minutes:[2 TO 10}'), { columns: { talk_minutes: 't' }, placeholder: '$' }),
    ).toEqual({
      text: 't >= $1 AND t < $2',
      values: [2, 10],
    });
  });

  it('that is wrong says where', () => {
    const result = safeParse('talk_minutes:[2 to 5]');
    expect(result).toMatchObject({ ok: false, problem: { code: 'syntax', start: 16, end: 18 } });
    expect(() => parse('talk_minutes:[2 to 5]')).toThrow('Expected "TO", found "to"');
  });
});
