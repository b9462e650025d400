import { describe, expect, it } from 'vitest';
import { parse, print, safeParse } from '../src/index.ts';

describe('what the grammar leaves open: accepted', () => {
  it.each([
    ['', ''],
    ['   ', ''],
    ['  talk_minutes:[2 TO 5]  ', 'talk_minutes:[2 TO 5]'],
    ['talk_minutes:[2 TO 5]  ,   inc_gce:1', 'talk_minutes:[2 TO 5],inc_gce:1'],
    ['talk_minutes:{* TO 5]', 'talk_minutes:[* TO 5]'],
    ['talk_minutes:[5 TO *}', 'talk_minutes:[5 TO *]'],
    ['talk_minutes:{1 TO 5}', 'talk_minutes:{1 TO 5}'],
    ['talk_minutes:[5 TO *],talk_minutes:[* TO 9]', 'talk_minutes:[5 TO *],talk_minutes:[* TO 9]'],
    ['talk_minutes:[007.50 TO 8.0]', 'talk_minutes:[7.5 TO 8]'],
    ['talk_minutes:[-0.50 TO 0.0]', 'talk_minutes:[-0.5 TO 0]'],
    ['date_added:[2024-02-29 23:59:59 TO *]', 'date_added:[2024-02-29 23:59:59 TO *]'],
    [
      'date_added:[0000-02-29 00:00:00 TO 0004-02-29 00:00:00]',
      'date_added:[0000-02-29 00:00:00 TO 0004-02-29 00:00:00]',
    ],
  ])('%j prints as %j', (text, canonical) => {
    expect(print(parse(text))).toBe(canonical);
  });

  it('keeps offsets that point at what was written', () => {
    const text = ' talk_minutes:[02.50 TO 5} , inc_gce:1';
    const [range, flag] = parse(text).clauses;
    if (range?.kind !== 'range') throw new Error('a range was expected');
    const slice = (part: { start?: number; end?: number }) => text.slice(part.start, part.end);
    expect(slice(range)).toBe('talk_minutes:[02.50 TO 5}');
    expect(range.lower).toMatchObject({ text: '2.5', inclusive: true });
    expect(slice(range.lower ?? {})).toBe('02.50');
    expect(range.upper).toMatchObject({ text: '5', inclusive: false });
    expect(slice(range.upper ?? {})).toBe('5');
    expect(slice(flag ?? {})).toBe('inc_gce:1');
  });

  it.each([
    ['talk_minutes:[* TO *]', {}, 'any_value', 13, 21],
    ['talk_minutes:{5 TO 5]', {}, 'empty_range', 13, 21],
    ['talk_minutes:[5 TO 5}', {}, 'empty_range', 13, 21],
    ['talk_minutes:{5.0 TO 5}', {}, 'empty_range', 13, 23],
    ['talk_minutes:{5 TO 6]', { version: 'v3' }, 'undocumented', 13, 21],
    ['talk_minutes:[* TO 6}', { version: 'v3' }, 'undocumented', 13, 21],
  ] as const)('%j %j is accepted with the warning %s', (text, options, code, start, end) => {
    expect(safeParse(text, options)).toMatchObject({ ok: true, warnings: [{ code, start, end }] });
  });

  it.each([
    ['talk_minutes:[5 TO 5]', {}],
    ['talk_minutes:{5 TO 6}', { version: 'v2' }],
    ['talk_minutes:{5 TO 6}', {}],
    ['inc_gce:1', { version: 'v3' }],
  ] as const)('%j %j has no warning', (text, options) => {
    expect(safeParse(text, options)).toMatchObject({ ok: true, warnings: [] });
  });
});

describe('what the grammar leaves open: refused', () => {
  const date = (lower: string, upper = '*') => `date_added:[${lower} TO ${upper}]`;
  it.each([
    // text, code, start, end, mended text or null, part of the message
    ['talk_minutes:[ 2 TO 5]', 'syntax', 14, 15, 'talk_minutes:[2 TO 5]', 'nothing'],
    ['talk_minutes:[2 TO 5 ]', 'syntax', 20, 21, 'talk_minutes:[2 TO 5]', 'nothing'],
    ['talk_minutes: [2 TO 5]', 'syntax', 13, 14, 'talk_minutes:[2 TO 5]', 'nothing'],
    ['talk_minutes :[2 TO 5]', 'syntax', 12, 14, 'talk_minutes:[2 TO 5]', ':'],
    ['talk_minutes:[2  TO 5]', 'syntax', 16, 19, 'talk_minutes:[2 TO 5]', 'TO'],
    ['talk_minutes:[2 TO  5]', 'syntax', 19, 20, 'talk_minutes:[2 TO 5]', 'nothing'],
    ['talk_minutes:[2TO 5]', 'syntax', 15, 17, 'talk_minutes:[2 TO 5]', 'TO'],
    ['talk_minutes:[2 TO5]', 'syntax', 18, 18, 'talk_minutes:[2 TO 5]', '"5"'],
    ['talk_minutes:[2\tTO 5]', 'syntax', 15, 18, 'talk_minutes:[2 TO 5]', 'U+0009'],
    ['talk_minutes:[2\u00a0TO 5]', 'syntax', 15, 18, 'talk_minutes:[2 TO 5]', 'U+00A0'],
    ['talk_minutes:[2 TO\u00a05]', 'syntax', 18, 19, 'talk_minutes:[2 TO 5]', 'U+00A0'],
    ['\ttalk_minutes:[2 TO 5]', 'syntax', 0, 1, 'talk_minutes:[2 TO 5]', 'U+0009'],
    ['talk_minutes:[2 TO 5]\n', 'syntax', 21, 22, 'talk_minutes:[2 TO 5]', 'U+000A'],
    ['talk_minutes:[2 TO 5]\u00a0,inc_gce:1', 'syntax', 21, 22, 'talk_minutes:[2 TO 5],inc_gce:1', 'U+00A0'],
    ['t\u0430lk_minutes:[2 TO 5]', 'unknown_field', 0, 12, null, 'tU+0430lk_minutes'],
    ['talk_minutes:\uff3b2 TO 5]', 'syntax', 13, 15, null, 'U+FF3B'],
    ['talk_minutes:[2 to 5]', 'syntax', 16, 18, 'talk_minutes:[2 TO 5]', '"to"'],
    ['talk_minutes:[2 To 5]', 'syntax', 17, 18, 'talk_minutes:[2 TO 5]', '"o"'],
    ['talk_minutes:[2 5]', 'syntax', 15, 15, 'talk_minutes:[2 TO 5]', ' TO'],
    ['talk_minutes:[2]', 'syntax', 15, 15, null, ' TO'],
    ['talk_minutes:[1,5 TO 2]', 'syntax', 15, 15, null, '","'],
    ['talk_minutes:[9 TO 2]', 'inverted', 0, 21, 'talk_minutes:[2 TO 9]', '[2 TO 9]'],
    ['talk_minutes:[9 TO 2}', 'inverted', 0, 21, 'talk_minutes:{2 TO 9]', '{2 TO 9]'],
    ['talk_minutes:[10 TO 9]', 'inverted', 0, 22, 'talk_minutes:[9 TO 10]', '[9 TO 10]'],
    [
      date('2024-02-01 00:00:00', '2024-01-01 00:00:00'),
      'inverted',
      0,
      55,
      date('2024-01-01 00:00:00', '2024-02-01 00:00:00'),
      'date_added',
    ],
    ['talk_minutes:5', 'syntax', 13, 14, 'talk_minutes:[5 TO 5]', '[5 TO 5]'],
    [
      'date_added:2024-01-01 00:00:00',
      'syntax',
      11,
      30,
      date('2024-01-01 00:00:00', '2024-01-01 00:00:00'),
      'TO',
    ],
    ['talk_minutes:', 'syntax', 13, 13, null, 'nothing'],
    ['talk_minutes:>5', 'syntax', 13, 15, null, '['],
    ['inc_gce:0', 'syntax', 8, 8, null, '"1"'],
    ['inc_gce:2', 'syntax', 8, 8, null, '"1"'],
    ['inc_gce:', 'syntax', 8, 8, null, '"1"'],
    ['inc_gce:[1 TO 1]', 'syntax', 8, 8, null, '"1"'],
    ['inc_gce:10', 'syntax', 9, 9, null, '"0"'],
    ['talk_minutes:["2" TO 5]', 'syntax', 14, 15, 'talk_minutes:[2 TO 5]', 'nothing'],
    ["talk_minutes:[2 TO '5']", 'syntax', 19, 20, 'talk_minutes:[2 TO 5]', 'nothing'],
    [date('"2024-01-01 00:00:00"'), 'syntax', 12, 13, date('2024-01-01 00:00:00'), 'nothing'],
    ['talk_minutes:[+5 TO *]', 'bound', 14, 16, 'talk_minutes:[5 TO *]', 'decimal'],
    ['talk_minutes:[1e3 TO *]', 'bound', 14, 17, 'talk_minutes:[1000 TO *]', 'decimal'],
    ['talk_minutes:[0x10 TO *]', 'bound', 14, 18, 'talk_minutes:[16 TO *]', 'decimal'],
    ['talk_minutes:[.5 TO *]', 'bound', 14, 16, 'talk_minutes:[0.5 TO *]', 'decimal'],
    ['talk_minutes:[5. TO *]', 'bound', 14, 16, 'talk_minutes:[5 TO *]', 'decimal'],
    ['talk_minutes:[. TO *]', 'bound', 14, 15, null, 'decimal'],
    ['talk_minutes:[NaN TO *]', 'bound', 14, 17, null, 'decimal'],
    ['talk_minutes:[Infinity TO *]', 'bound', 14, 22, null, 'decimal'],
    ['talk_minutes:[1.2.3 TO *]', 'bound', 14, 19, null, 'decimal'],
    [`talk_minutes:[1${'0'.repeat(400)} TO *]`, 'bound', 14, 415, null, 'decimal'],
    ['talk_minutes:[2024-01-01 00:00:00 TO *]', 'bound', 14, 33, null, 'decimal'],
    [date('5'), 'bound', 12, 13, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('2023-02-30 00:00:00'), 'bound', 20, 22, null, 'February 2023 has 28 days.'],
    [date('1900-02-29 00:00:00'), 'bound', 20, 22, null, 'February 1900 has 28 days.'],
    [date('2024-04-31 00:00:00'), 'bound', 20, 22, null, 'April 2024 has 30 days.'],
    [date('2024-01-00 00:00:00'), 'bound', 20, 22, null, 'January 2024 has 31 days.'],
    [date('2024-13-01 00:00:00'), 'bound', 17, 19, null, '1 to 12'],
    [date('2024-01-01 24:00:00'), 'bound', 23, 25, null, '0 to 23'],
    [date('2024-01-01 00:60:00'), 'bound', 26, 28, null, '0 to 59'],
    [date('2024-01-01 00:00:60'), 'bound', 29, 31, null, '0 to 59'],
    [date('*', '2024-01-01 00:00:60'), 'bound', 34, 36, null, '0 to 59'],
    [date('2023-02-30'), 'bound', 20, 22, null, 'February 2023 has 28 days.'],
    [date('2024-01-01'), 'bound', 12, 22, date('2024-01-01 00:00:00'), 'YYYY-MM-DD HH:MM:SS'],
    [
      date('*', '2024-12-31'),
      'bound',
      17,
      28,
      'date_added:[* TO 2025-01-01 00:00:00}',
      'YYYY-MM-DD HH:MM:SS',
    ],
    ['date_added:[* TO 2024-12-31}', 'bound', 17, 27, 'date_added:[* TO 2024-12-31 00:00:00}', 'YYYY-MM-DD'],
    [date('*', '9999-12-31'), 'bound', 17, 28, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-01-01T00:00:00'), 'bound', 12, 31, date('2024-01-01 00:00:00'), 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-01-01\t00:00:00'), 'bound', 12, 31, date('2024-01-01 00:00:00'), 'U+0009'],
    [date('2024-01-01 00:00:00.0'), 'bound', 12, 33, date('2024-01-01 00:00:00'), 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-01-01 00:00:00.5'), 'bound', 12, 33, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-01-01T00:00:00Z'), 'bound', 12, 32, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-01-01 00:00:00-05:00'), 'bound', 12, 37, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('2024-1-1 00:00:00'), 'bound', 12, 29, null, 'YYYY-MM-DD HH:MM:SS'],
    [date('yesterday'), 'bound', 12, 21, null, 'yesterday'],
    ['talk_minutes:[2%20TO%205]', 'encoded', 14, 18, null, 'fromQueryParam'],
    ['date_added%3A%5B2024', 'encoded', 0, 20, null, 'fromQueryParam'],
    ['date_added:[2024-01-01+00:00:00+TO+*]', 'encoded', 12, 32, null, 'fromQueryParam'],
    ['talk_minutes:[2+TO+5]', 'encoded', 14, 16, null, 'fromQueryParam'],
    ['q=talk_minutes:[2 TO 5]', 'syntax', 0, 2, 'talk_minutes:[2 TO 5]', 'q='],
    ['?q=talk_minutes:[2 TO 5]', 'syntax', 0, 3, 'talk_minutes:[2 TO 5]', 'q='],
    [',talk_minutes:[2 TO 5]', 'syntax', 0, 0, null, '","'],
    ['talk_minutes:[2 TO 5],', 'syntax', 22, 22, null, 'nothing'],
    ['talk_minutes:[2 TO 5] , ', 'syntax', 24, 24, null, 'nothing'],
    ['talk_minutes:[2 TO 5],,inc_gce:1', 'syntax', 22, 22, null, '","'],
    [',', 'syntax', 0, 0, null, '","'],
    ['talk_minutes:[2 TO 5] inc_gce:1', 'syntax', 22, 22, 'talk_minutes:[2 TO 5],inc_gce:1', '"i"'],
    ['talk_minutes:[2 TO 5] AND inc_gce:1', 'syntax', 22, 26, 'talk_minutes:[2 TO 5],inc_gce:1', '","'],
    ['talk_minutes:[2 TO 5]]', 'syntax', 21, 21, null, '"]"'],
    ['talk_minutes:[2 TO 5', 'syntax', 20, 20, null, 'nothing'],
    ['talk_minutes:[2 TO ', 'syntax', 19, 19, null, 'nothing'],
    ['talk_minutes:[2 TO', 'syntax', 18, 18, null, 'nothing'],
    ['talk_minutes:[', 'syntax', 14, 14, null, 'nothing'],
    ['talk_minutes', 'syntax', 12, 12, null, 'nothing'],
    ['talk_minutes=[2 TO 5]', 'syntax', 12, 13, 'talk_minutes:[2 TO 5]', '":"'],
    ['Talk_Minutes:[2 TO 5]', 'unknown_field', 0, 12, 'talk_minutes:[2 TO 5]', 'talk_minutes'],
    ['tlk_minutes:[2 TO 5]', 'unknown_field', 0, 11, null, 'talk_minutes'],
    ['__proto__:[2 TO 5]', 'unknown_field', 0, 9, null, '__proto__'],
    ['constructor:1', 'unknown_field', 0, 11, null, 'constructor'],
    ['toString:1', 'unknown_field', 0, 8, null, 'toString'],
  ])('%j is refused: %s at %i to %i', (text, code, start, end, mended, words) => {
    const result = safeParse(text);
    if (result.ok) throw new Error(`accepted as ${print(result.filter)}`);
    const { problem } = result;
    expect({ code: problem.code, start: problem.start, end: problem.end }).toEqual({ code, start, end });
    expect(problem.message).toContain(words);
    expect(problem.message).not.toContain('\n');
    const mend = safeParse(text, { lenient: true });
    expect(mend.ok ? print(mend.filter) : null).toBe(mended);
    if (mend.ok) expect(mend.warnings[0]).toMatchObject({ code, start, end, fix: expect.anything() });
    else expect(mend.problem).toMatchObject({ code, start, end });
  });

  it.each([
    ['talk_minutes:[2 TO 5],inc_gce:1', 'v2', { code: 'version', start: 22, end: 29 }],
    ['Inc_Gce:1', 'v2', { code: 'unknown_field' }],
    ['baseuri:[1 TO 2]', 'v3', { code: 'unknown_field' }],
  ] as const)('%j is refused in %s', (text, version, problem) => {
    expect(safeParse(text, { version })).toMatchObject({ ok: false, problem });
  });

  it('suggests the fields that start alike', () => {
    expect(safeParse('tlk_minutes:[2 TO 5]')).toMatchObject({ problem: { suggestions: ['talk_minutes'] } });
    expect(safeParse('Date:[2 TO 5]')).toMatchObject({ problem: { suggestions: ['date_added'] } });
  });

  it.each([undefined, null, 42, {}, [], ['inc_gce:1']])('%j, which is no text, is refused', (value) => {
    expect(safeParse(value as unknown as string)).toMatchObject({ ok: false, problem: { start: 0 } });
    expect(() => parse(value as unknown as string)).toThrow(TypeError);
  });

  it('holds to its limits', () => {
    const two = 'inc_gce:1,inc_gce:1';
    expect(safeParse(two, { maxClauses: 2, maxLength: two.length }).ok).toBe(true);
    expect(safeParse(two, { maxClauses: 1 })).toMatchObject({ problem: { code: 'limit', start: 10 } });
    expect(safeParse(two, { maxLength: 18 })).toMatchObject({ problem: { code: 'limit' } });
    expect(safeParse(`${two},`.repeat(5001)).ok).toBe(false);
    expect(safeParse(' '.repeat(1_000_001)).ok).toBe(false);
  });
});

describe('fields of the caller', () => {
  const fields = { smart_minutes: 'decimal', last_touch_timestamp: 'date' } as const;

  it('are read like the documented ones', () => {
    const text = 'smart_minutes:[1 TO 2],last_touch_timestamp:[2024-01-01 00:00:00 TO *]';
    expect(print(parse(text, { fields }))).toBe(text);
    expect(safeParse(text).ok).toBe(false);
    expect(safeParse('smart_minutes:[2024-01-01 00:00:00 TO *]', { fields }).ok).toBe(false);
  });

  it('leave the documented ones in place', () => {
    expect(safeParse('inc_gce:1', { fields, version: 'v2' }).ok).toBe(false);
    expect(safeParse('inc_gce:1', { fields, version: 'v3' }).ok).toBe(true);
  });
});
